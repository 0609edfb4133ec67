"""Measure how buckets separate planted faults: ``python -m tools.fault_detection.buckets``.

Each fault is planted alone, and the shipped seeds and variants of them run until there are enough findings. Prints how
many findings of each fault are in each bucket. Exit code 1 where a bucket has findings of two faults, or where there
are more than 1.5 buckets for each fault. With ``--journal`` an interrupted run resumes with the remaining seeds.
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
from tools.fault_detection.corpus.corpus import shipped_seeds
from tools.fault_detection.detection.torch_defects import TorchDefects
from tools.fault_detection.json_lines import JsonLines

FREQUENT = Path(__file__).parent / "frequent"
"""Faults in many parts of the compiler that many seeds reach: those whose text matches ``MET_BY``.

``STEPS`` is set where only a changed call shows the fault.
"""

MOST_BUCKETS_PER_FAULT = 1.5


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fault_detection.buckets", description=__doc__)
    parser.add_argument("--faults", nargs="+", default=[], metavar="NAME", help="these (default: all in frequent/)")
    parser.add_argument("--each", type=int, default=25, help="findings of each fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="faults at once")
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="keeps results; the same command resumes from them"
    )
    chosen = parser.parse_args(arguments)
    faults = {path.stem: path for path in sorted(FREQUENT.glob("*.py"))}
    unknown = [name for name in chosen.faults if name not in faults]
    if unknown:
        print(f"no such fault: {unknown[0]}; there are {', '.join(faults)}", file=sys.stderr)
        return 2
    names = chosen.faults or list(faults)
    with tempfile.TemporaryDirectory(prefix="eqfuzz-buckets-") as runs, ThreadPoolExecutor(chosen.jobs) as threads:
        journal = BucketJournal(chosen.journal)

        def fingerprints_of(name: str) -> list[str]:
            return _fingerprints(faults[name], Path(runs) / name, chosen.each, chosen.seed, journal)

        fingerprints = dict(zip(names, threads.map(fingerprints_of, names), strict=True))
    return _report(fingerprints)


class BucketJournal:
    """The findings of each seed under each fault, in the lines of ``file``."""

    def __init__(self, file: Path | None) -> None:
        self._lines = JsonLines(file)

    def fingerprints(self, fault: str) -> dict[str, list[str]]:
        """The fingerprints of the findings of ``fault``, by seed."""
        return {entry["seed"]: entry["fingerprints"] for entry in self._lines.read() if entry["fault"] == fault}

    def add(self, fault: str, seed: str, fingerprints: Sequence[str]) -> None:
        self._lines.add({"fault": fault, "seed": seed, "fingerprints": list(fingerprints)})


def _fingerprints(fault: Path, out: Path, most: int, seed: int, journal: BucketJournal) -> list[str]:
    """The fingerprints of up to ``most`` findings of ``fault``."""
    by_seed = journal.fingerprints(fault.stem)
    collected = [fingerprint for fingerprints in by_seed.values() for fingerprint in fingerprints][:most]
    root = folder("seeds")
    names = likely_first(fault, seed)
    seeds = [str(root / name) for name in names if name not in by_seed]
    if len(collected) >= most or not seeds:
        return collected
    command = [sys.executable, "-m", "eqfuzz", "mutate", *seeds, "--strategy", "random", "--variants", "1"]
    command += ["--no-check", "audit,draws", "--preload", str(fault), "--jobs", "1", "--seed", str(seed)]
    command += ["--steps", str(_constants(fault).get("STEPS", 1))]
    torch_defects = TorchDefects()
    is_of_torch: dict[str, bool] = {}  # by bucket: only its first findings keep their folders
    with subprocess.Popen(
        [*command, "--format", "json", "--out", str(out)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        of_seed: list[str] = []
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "finding" and not event["issue"]:
                if event["kept"]:
                    before = is_of_torch.get(event["bucket"], True)
                    is_of_torch[event["bucket"]] = torch_defects.includes(Path(event["folder"])) and before
                if not is_of_torch[event["bucket"]]:
                    of_seed.append(event["fingerprint"])
                    print(f"{fault.stem}: {event['fingerprint']}  [{event['seed']}]", flush=True)
            elif event["event"] == "done":
                journal.add(fault.stem, str(Path(event["seed"]).relative_to(root)), of_seed)
                collected, of_seed = [*collected, *of_seed], []
            if len(collected) + len(of_seed) >= most:
                journal.add(fault.stem, str(Path(event["seed"]).relative_to(root)), of_seed)
                process.send_signal(signal.SIGINT)
                return [*collected, *of_seed][:most]
    return collected


def likely_first(fault: Path, seed: int) -> list[str]:
    """The shipped seeds, relative to their folder, in an order drawn by ``seed``: those that reach the fault first."""
    pattern = _constants(fault)["MET_BY"]
    paths = shipped_seeds()
    random.Random(f"{seed} {fault.stem}").shuffle(paths)
    paths.sort(key=lambda path: re.search(pattern, path.read_text(encoding="utf-8")) is None)
    return [str(path.relative_to(folder("seeds"))) for path in paths]


def _constants(fault: Path) -> dict[str, Any]:
    body = ast.parse(fault.read_text(encoding="utf-8")).body
    assigned = [node for node in body if isinstance(node, ast.Assign)]
    return {ast.unparse(node.targets[0]): ast.literal_eval(node.value) for node in assigned}


def _report(findings: dict[str, list[str]]) -> int:
    """Print the buckets of the fingerprints of each fault. Returns the exit code."""
    buckets: dict[str, Counter[str]] = defaultdict(Counter)
    for fault, fingerprints in findings.items():
        for fingerprint in fingerprints:
            buckets[fingerprint][fault] += 1
    for fingerprint, faults in sorted(buckets.items(), key=lambda item: -item[1].total()):
        mixed = "  MIXED" if len(faults) > 1 else ""
        print(f"{faults.total():4d}  {fingerprint}  ({', '.join(f'{n} {f}' for f, n in faults.items())}){mixed}")
    total = sum(map(len, findings.values()))
    mixed = sum(len(faults) > 1 for faults in buckets.values())
    print(f"{total} findings of {len(findings)} faults in {len(buckets)} buckets, {mixed} mixed")
    return int(mixed > 0 or len(buckets) > MOST_BUCKETS_PER_FAULT * len(findings))


if __name__ == "__main__":
    sys.exit(main())
