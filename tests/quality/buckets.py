"""Whether findings of several planted faults fall into as many buckets: ``python -m tests.quality.buckets``.

Each fault is planted alone and hunted on the shipped seeds and variants of them, into one run folder, until it has made
enough findings. Prints how many of each fault fell into each bucket; exit code 1 where a bucket holds findings of two
faults, or where there are more than half as many buckets again as faults.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.quality.corpus import shipped_seeds
from tests.quality.hunt import OwnDefects

FREQUENT = Path(__file__).parent / "frequent"
"""Faults that many seeds meet, in as many parts of the compiler as may be."""

MOST_PER_FAULT = 1.5


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.buckets", description=__doc__)
    parser.add_argument("--faults", nargs="+", default=[], metavar="NAME", help="these (default: all in frequent/)")
    parser.add_argument("--each", type=int, default=25, help="findings of each fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="faults at once")
    chosen = parser.parse_args(arguments)
    faults = {path.stem: path for path in sorted(FREQUENT.glob("*.py"))}
    unknown = [name for name in chosen.faults if name not in faults]
    if unknown:
        print(f"no such fault: {unknown[0]}; there are {', '.join(faults)}", file=sys.stderr)
        return 2
    names = chosen.faults or list(faults)
    with tempfile.TemporaryDirectory(prefix="eqfuzz-buckets-") as folder, ThreadPoolExecutor(chosen.jobs) as threads:

        def of(name: str) -> list[str]:
            return _fingerprints(faults[name], Path(folder) / name, chosen.each, chosen.seed)

        found = dict(zip(names, threads.map(of, names), strict=True))
    return _report(found)


def _fingerprints(fault: Path, out: Path, most: int, seed: int) -> list[str]:
    """The fingerprints of up to ``most`` findings of ``fault``."""
    seeds = shipped_seeds()
    random.Random(f"{seed} {fault.stem}").shuffle(seeds)
    command = [sys.executable, "-m", "eqfuzz", "mutate", *map(str, seeds), "--strategy", "random", "--variants", "2"]
    command += ["--no-check", "audit,draws", "--preload", str(fault), "--jobs", "1", "--seed", str(seed)]
    found: list[str] = []
    own = OwnDefects()
    with subprocess.Popen(
        [*command, "--format", "json", "--out", str(out)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "finding" and not event["issue"] and not own.is_own(Path(event["folder"])):
                found.append(event["fingerprint"])
                print(f"{fault.stem}: {event['fingerprint']}  [{event['seed']}]", flush=True)
                if len(found) >= most:
                    process.send_signal(2)
                    break
    return found


def _report(found: dict[str, list[str]]) -> int:
    buckets: dict[str, Counter[str]] = defaultdict(Counter)
    for fault, fingerprints in found.items():
        for fingerprint in fingerprints:
            buckets[fingerprint][fault] += 1
    for fingerprint, faults in sorted(buckets.items(), key=lambda item: -item[1].total()):
        mixed = "  MIXED" if len(faults) > 1 else ""
        print(f"{faults.total():4d}  {fingerprint}  ({', '.join(f'{n} {f}' for f, n in faults.items())}){mixed}")
    total = sum(map(len, found.values()))
    mixed = sum(len(faults) > 1 for faults in buckets.values())
    print(f"{total} findings of {len(found)} faults in {len(buckets)} buckets, {mixed} mixed")
    return int(mixed > 0 or len(buckets) > MOST_PER_FAULT * len(found))


if __name__ == "__main__":
    sys.exit(main())
