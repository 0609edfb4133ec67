"""Throughput of a default campaign in two checkouts of eqfuzz: ``python -m benchmarks.checkouts --folder F A B``.

Both campaigns run at the same time and as long with the same torch, each on a core of its own. Prints for each, and
as a ratio, what a CPU second of all its processes gives: different programs (seeds and their rewritten variants) and
compiled cells by tier, and the share of triage; checkouts older than tiers have one. With ``--planted`` the twelve
faults of ``planted.py`` are active, and it prints how many each campaign reached, triggered and detected. The same
command resumes both campaigns until each has run for ``--minutes``.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.planted import PLANTED, REACHED, TRIGGERED, detected, noted, write_preload

NAME = "default"
CODE = "code"


@dataclasses.dataclass
class Yield:
    """What a campaign gave; ``cells`` and ``programs`` by tier."""

    programs: Counter[str] = dataclasses.field(default_factory=Counter)
    cells: Counter[str] = dataclasses.field(default_factory=Counter)
    item_seconds: Counter[str] = dataclasses.field(default_factory=Counter)
    """CPU seconds of items by tier."""
    triage_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of all processes, start-up and planning included."""
    buckets: int = 0


@dataclasses.dataclass(frozen=True)
class Side:
    """The campaign of one checkout."""

    checkout: Path
    folder: Path
    core: int

    @property
    def journal(self) -> Path:
        """Calls that have ended: wall and CPU seconds."""
        return self.folder / "calls.jsonl"

    def calls(self) -> list[dict[str, float]]:
        lines = self.journal.read_text(encoding="utf-8").splitlines() if self.journal.exists() else []
        return [json.loads(line) for line in lines]

    def start(self, python: str, minutes: float, *, planted: bool) -> subprocess.Popen[bytes] | None:
        """Run or resume the campaign; nothing where it has run for so long."""
        left = 60 * minutes - sum(call["seconds"] for call in self.calls())
        if left < 1:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "eqfuzz.toml"
        lines = ["seed = 1"]
        if planted:
            preload = self.folder / "preload.py"
            write_preload(preload, self.folder / "marks")
            lines += ["[compiling]", f"preload = {json.dumps(str(preload))}"]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [python, "-m", "eqfuzz", "campaign", "--file", str(file), "--name", NAME, "--time", f"{left:.0f}"]
        command += ["--out", str(self.folder / "out"), "--jobs", "1", "--quiet"]
        variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(self.checkout)}
        with (self.folder / "stderr").open("a", encoding="utf-8") as errors:
            return subprocess.Popen(
                command,
                cwd=self.checkout,
                env=variables,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                preexec_fn=lambda: os.sched_setaffinity(0, {self.core}),
            )

    def end(self, process: subprocess.Popen[bytes], began: float) -> None:
        """Wait for the campaign, and note what it took. Raises SystemExit where it fails."""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"{self.checkout}: exit status {process.returncode}: see {self.folder / 'stderr'}")
        call = {"seconds": _now() - began, "cpu_seconds": usage.ru_utime + usage.ru_stime}
        with self.journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(call) + "\n")

    def result(self) -> Yield:
        result = Yield(cpu_seconds=sum(call["cpu_seconds"] for call in self.calls()))
        seeds: set[tuple[str, str]] = set()
        buckets: set[str] = set()
        for program, tier, outcome in self._cases():
            result.cells[tier] += outcome["cells"]
            result.item_seconds[tier] += outcome["cpu_seconds"]
            result.triage_seconds += outcome.get("triage_seconds", 0.0)
            result.programs[tier] += outcome["variants"] + (outcome["state"] == "done" and (program, tier) not in seeds)
            seeds.add((program, tier))
            buckets.update(outcome["buckets"])
        result.buckets = len(buckets)
        return result

    def detection(self) -> str:
        """How many planted faults were reached, triggered and detected, in words."""
        with self._database() as connection:
            rows = connection.execute("select fingerprint from findings where issue = ''").fetchall()
        reached, triggered = (len(noted(self.folder / "marks", event)) for event in (REACHED, TRIGGERED))
        named = len(detected(fingerprint for (fingerprint,) in rows))
        return f"of {len(PLANTED)} planted faults {reached} reached, {triggered} triggered, {named} detected"

    def _cases(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        with self._database() as connection:
            rows = connection.execute("select program, arms, outcome from cases where finished is not null").fetchall()
        for program, arms, outcome in rows:
            yield program, json.loads(arms).get("tier", CODE), json.loads(outcome)

    def _database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / "out" / "campaigns.db")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkouts", description=__doc__)
    parser.add_argument("checkouts", type=Path, nargs=2, help="folders: the one to compare with, then the other")
    parser.add_argument("--folder", type=Path, required=True, help="campaigns; one that has ended is not run again")
    parser.add_argument("--python", default=sys.executable, help="Python with torch and eqfuzz's dependencies")
    parser.add_argument("--minutes", type=float, default=20.0, help="wall minutes of each campaign")
    parser.add_argument("--planted", action="store_true", help="with planted faults")
    chosen = parser.parse_args(arguments)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("needs two cores")
    sides = [
        Side(checkout.resolve(), chosen.folder.resolve() / name, core)
        for checkout, name, core in zip(chosen.checkouts, ("base", "head"), cores, strict=False)
    ]
    began = _now()
    processes = [side.start(chosen.python, chosen.minutes, planted=chosen.planted) for side in sides]
    for side, process in zip(sides, processes, strict=True):
        if process is not None:
            side.end(process, began)
    Console(width=None if sys.stdout.isatty() else 120).print(table([side.result() for side in sides]))
    for side in sides if chosen.planted else ():
        print(f"{side.checkout.name}: {side.detection()}")
    return 0


def table(results: Sequence[Yield]) -> Table:
    """A row for each figure, base beside head, and their ratio."""
    printed = Table("per CPU second", "base", "head", "ratio")

    def add(name: str, values: Sequence[float]) -> None:
        ratio = f"{values[1] / values[0]:.2f}" if values[0] else "-"
        printed.add_row(name, *(f"{value:.3f}" for value in values), ratio)

    tiers = sorted({tier for result in results for tier in result.cells})
    add("programs", [sum(r.programs.values()) / r.cpu_seconds for r in results])
    for tier in tiers:
        add(f"programs, {tier}", [r.programs[tier] / max(r.item_seconds[tier], 1e-9) for r in results])
    add("cells", [sum(r.cells.values()) / r.cpu_seconds for r in results])
    for tier in tiers:
        add(f"cells, {tier}", [r.cells[tier] / max(r.item_seconds[tier], 1e-9) for r in results])
    printed.add_section()
    for name, values in (
        ("CPU s of all processes", [r.cpu_seconds for r in results]),
        ("CPU s of items", [sum(r.item_seconds.values()) for r in results]),
        ("CPU s of triage", [r.triage_seconds for r in results]),
        ("new buckets", [float(r.buckets) for r in results]),
    ):
        printed.add_row(name, *(f"{value:.0f}" for value in values), "")
    return printed


def _now() -> float:
    return os.times().elapsed


if __name__ == "__main__":
    sys.exit(main())
