"""What the parts of a campaign are worth: ``python -m benchmarks.arms --journal FILE`` leaves one out at a time.

Each trial is a campaign over the shipped seeds, templates and catalogues with twelve planted faults (``planted.py``),
for so many CPU seconds of its items. Arms are the default and the default without feedback, rewrites, steps of calls,
or tiers; a trial has a random seed, the same in all arms. Trials are in the journal once they end, so that the same
command resumes. Prints for each arm how many faults were reached, triggered and detected, and whether the default
detects more: the share of pairs of trials in which it does (Vargha and Delaney's A12), and how likely that is by chance
(Mann and Whitney's test, exact).
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.planted import PLANTED, REACHED, TRIGGERED, detected, noted, write_preload

ARMS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    "without feedback": {"feedback": {"enabled": "false"}},
    "without rewrites": {"rewriting": {"strategy": '"none"'}},
    "without steps": {"judging": {"steps": "0"}},
    "without tiers": {"compiling": {"tiers": '["code"]'}},
}
"""Settings of ``eqfuzz.toml`` by table, for each arm."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """One campaign, and what it gave; names of faults are in order."""

    arm: str
    seed: int
    cpu: int
    reached: list[str]
    triggered: list[str]
    detected: list[str]
    programs: int
    cells: int
    cpu_seconds: float
    triage_seconds: float
    buckets: int
    torch: str
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arms", description=__doc__)
    parser.add_argument("--journal", type=Path, required=True, help="file of trials; those in it are not run again")
    parser.add_argument("--cpu", type=int, default=480, help="CPU seconds of the items of a trial")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(6)), help="random seeds")
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=list(ARMS))
    parser.add_argument("--time", type=float, default=float("inf"), help="start no trial after so many minutes")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    chosen = parser.parse_args(arguments)
    end = time.monotonic() + 60 * chosen.time
    trials = [Trial(**json.loads(line)) for line in _lines(chosen.journal)]
    done = {(trial.arm, trial.seed, trial.cpu) for trial in trials}
    for seed, arm in itertools.product(chosen.seeds, chosen.arms):
        if (arm, seed, chosen.cpu) in done or time.monotonic() > end:
            continue
        trial = run_trial(arm, seed, chosen.cpu, chosen.jobs)
        with chosen.journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dataclasses.asdict(trial)) + "\n")
        trials.append(trial)
        print(f"{arm}, seed {seed}: {len(trial.detected)} of {len(PLANTED)} detected", file=sys.stderr, flush=True)
    of_length = [trial for trial in trials if trial.cpu == chosen.cpu]
    Console(width=None if sys.stdout.isatty() else 120).print(table(of_length))
    return 0


def run_trial(arm: str, seed: int, cpu: int, jobs: int) -> Trial:
    """Run a campaign. Raises SystemExit where it fails."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="eqfuzz-arms-") as name:
        folder = Path(name)
        marks, preload, file = folder / "marks", folder / "preload.py", folder / "eqfuzz.toml"
        write_preload(preload, marks)
        file.write_text(settings(arm, seed, preload), encoding="utf-8")
        command = [sys.executable, "-m", "eqfuzz", "campaign", "--file", str(file), "--name", "trial"]
        command += ["--cpu", str(cpu), "--out", str(folder / "out"), "--jobs", str(jobs), "--format", "json"]
        variables = {**os.environ, "OMP_NUM_THREADS": "1"}
        ended = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
        if ended.returncode not in (0, 1):
            raise SystemExit(f"{arm}, seed {seed}: exit status {ended.returncode}: {ended.stderr.strip()}")
        events = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        findings = [event for event in events if event["event"] == "finding" and not event["issue"]]
        start = next(event for event in events if event["event"] == "start")
        figures = events[-1]["figures"]
        return Trial(
            arm=arm,
            seed=seed,
            cpu=cpu,
            reached=sorted(noted(marks, REACHED)),
            triggered=sorted(noted(marks, TRIGGERED)),
            detected=sorted(detected(event["fingerprint"] for event in findings)),
            programs=figures["programs"],
            cells=figures["cells"],
            cpu_seconds=figures["cpu_seconds"],
            triage_seconds=figures["triage_seconds"],
            buckets=figures["buckets"],
            torch=start["versions"]["torch"],
            seconds=round(time.monotonic() - began, 1),
        )


def settings(arm: str, seed: int, preload: Path) -> str:
    """The text of ``eqfuzz.toml`` for a trial."""
    tables: dict[str, dict[str, Any]] = {"compiling": {"preload": json.dumps(str(preload))}}
    for name, entries in ARMS[arm].items():
        tables.setdefault(name, {}).update(entries)
    lines = [f"seed = {seed}"]
    for name, entries in tables.items():
        lines += [f"[{name}]", *(f"{entry} = {value}" for entry, value in entries.items())]
    return "\n".join(lines) + "\n"


def table(trials: Sequence[Trial]) -> Table:
    """A row for each arm."""
    events = (REACHED, TRIGGERED, "detected")
    printed = Table("arm", "trials", *events, "programs", "cells/CPU s", "triage", "ratio", "A12", "p")
    default = [len(trial.detected) for trial in trials if trial.arm == "default"]
    for arm in ARMS:
        own = [trial for trial in trials if trial.arm == arm]
        if not own:
            continue
        numbers = [len(trial.detected) for trial in own]
        seconds = sum(trial.cpu_seconds for trial in own)
        compared = ["", "", ""]
        if arm != "default" and default:
            mean = statistics.mean(numbers)
            ratio = f"{statistics.mean(default) / mean:.2f}" if mean else "-"
            compared = [ratio, f"{a12(default, numbers):.2f}", f"{p_value(default, numbers):.3f}"]
        printed.add_row(
            arm,
            str(len(own)),
            *(f"{statistics.mean(len(getattr(trial, event)) for trial in own):.1f}" for event in events),
            f"{statistics.mean(trial.programs for trial in own):.0f}",
            f"{sum(trial.cells for trial in own) / seconds:.2f}",
            f"{sum(trial.triage_seconds for trial in own) / seconds:.0%}",
            *compared,
        )
    return printed


def a12(one: Sequence[float], other: Sequence[float]) -> float:
    """How likely a value of ``one`` is larger than one of ``other``; equal ones count half."""
    wins = sum((a > b) + 0.5 * (a == b) for a, b in itertools.product(one, other))
    return wins / (len(one) * len(other))


def p_value(one: Sequence[float], other: Sequence[float]) -> float:
    """Two-sided, by all ways to divide the values in two groups of these sizes."""
    values = [*one, *other]
    seen = abs(a12(one, other) - 0.5)
    ways = list(itertools.combinations(range(len(values)), len(one)))
    extreme = 0
    for way in ways:
        first = [values[n] for n in way]
        rest = [values[n] for n in range(len(values)) if n not in way]
        extreme += abs(a12(first, rest) - 0.5) >= seen - 1e-9
    return extreme / len(ways)


def _lines(journal: Path) -> list[str]:
    return journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []


if __name__ == "__main__":
    sys.exit(main())
