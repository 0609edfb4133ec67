"""Whether findings of several planted faults fall into as many buckets: ``python -m tools.fault_detection.buckets``.

Each fault is planted alone and hunted on the shipped seeds and variants of them, into one run folder, until it has made
enough findings. Prints how many of each fault fell into each bucket; exit code 1 where a bucket holds findings of two
faults, or where there are more than half as many buckets again as faults. With ``--journal`` what was cut off goes on
with the seeds that are left.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from eqfuzz.program.shipped import folder
from tools.fault_detection.corpus import shipped_seeds
from tools.fault_detection.hunt import OwnDefects
from tools.fault_detection.journal import Lines

FREQUENT = Path(__file__).parent / "frequent"
"""Faults that many seeds meet, in as many parts of the compiler as may be; such a seed's text matches ``MET_BY``.

``STEPS`` is for those that show only where a call changes something.
"""

MOST_PER_FAULT = 1.5


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fault_detection.buckets", description=__doc__)
    parser.add_argument("--faults", nargs="+", default=[], metavar="NAME", help="these (default: all in frequent/)")
    parser.add_argument("--each", type=int, default=25, help="findings of each fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="faults at once")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="keeps what is through, and goes on from there")
    chosen = parser.parse_args(arguments)
    faults = {path.stem: path for path in sorted(FREQUENT.glob("*.py"))}
    unknown = [name for name in chosen.faults if name not in faults]
    if unknown:
        print(f"no such fault: {unknown[0]}; there are {', '.join(faults)}", file=sys.stderr)
        return 2
    names = chosen.faults or list(faults)
    with tempfile.TemporaryDirectory(prefix="eqfuzz-buckets-") as runs, ThreadPoolExecutor(chosen.jobs) as threads:
        journal = Journal(chosen.journal)

        def of(name: str) -> list[str]:
            return _fingerprints(faults[name], Path(runs) / name, chosen.each, chosen.seed, journal)

        found = dict(zip(names, threads.map(of, names), strict=True))
    return _report(found)


class Journal:
    """What came of the seeds of each fault, in the lines of ``file``."""

    def __init__(self, file: Path | None) -> None:
        self._lines = Lines(file)

    def of(self, fault: str) -> dict[str, list[str]]:
        """The fingerprints of the findings by seed."""
        return {told["seed"]: told["fingerprints"] for told in self._lines.read() if told["fault"] == fault}

    def add(self, fault: str, seed: str, fingerprints: Sequence[str]) -> None:
        self._lines.add({"fault": fault, "seed": seed, "fingerprints": list(fingerprints)})


def _fingerprints(fault: Path, out: Path, most: int, seed: int, journal: Journal) -> list[str]:
    """The fingerprints of up to ``most`` findings of ``fault``."""
    before = journal.of(fault.stem)
    found = [fingerprint for fingerprints in before.values() for fingerprint in fingerprints][:most]
    root = folder("seeds")
    names = likely_first(fault, seed)
    seeds = [str(root / name) for name in names if name not in before]
    if len(found) >= most or not seeds:
        return found
    command = [sys.executable, "-m", "eqfuzz", "mutate", *seeds, "--strategy", "random", "--variants", "1"]
    command += ["--no-check", "audit,draws", "--preload", str(fault), "--jobs", "1", "--seed", str(seed)]
    command += ["--steps", str(_constants(fault).get("STEPS", 1))]
    own = OwnDefects()
    is_own: dict[str, bool] = {}  # by bucket: only its first findings keep their folders
    with subprocess.Popen(
        [*command, "--format", "json", "--out", str(out)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        here: list[str] = []
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "finding" and not event["issue"]:
                if event["kept"]:
                    before = is_own.get(event["bucket"], True)
                    is_own[event["bucket"]] = own.is_own(Path(event["folder"])) and before
                if not is_own[event["bucket"]]:
                    here.append(event["fingerprint"])
                    print(f"{fault.stem}: {event['fingerprint']}  [{event['seed']}]", flush=True)
            elif event["event"] == "done":
                journal.add(fault.stem, str(Path(event["seed"]).relative_to(root)), here)
                found, here = [*found, *here], []
            if len(found) + len(here) >= most:
                journal.add(fault.stem, str(Path(event["seed"]).relative_to(root)), here)
                process.send_signal(signal.SIGINT)
                return [*found, *here][:most]
    return found


def likely_first(fault: Path, seed: int) -> list[str]:
    """The shipped seeds below their folder, in an order that ``seed`` decides: those that meet the fault first."""
    met_by = _constants(fault)["MET_BY"]
    paths = shipped_seeds()
    random.Random(f"{seed} {fault.stem}").shuffle(paths)
    paths.sort(key=lambda path: re.search(met_by, path.read_text(encoding="utf-8")) is None)
    return [str(path.relative_to(folder("seeds"))) for path in paths]


def _constants(fault: Path) -> dict[str, Any]:
    body = ast.parse(fault.read_text(encoding="utf-8")).body
    assigned = [node for node in body if isinstance(node, ast.Assign)]
    return {ast.unparse(node.targets[0]): ast.literal_eval(node.value) for node in assigned}


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
