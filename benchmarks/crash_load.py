"""Robustness against bad seeds: ``python -m benchmarks.crash_load --minutes 60`` with a tenth of the seeds bad.

Compares two campaigns over as many seed files with the same configuration: in one all seeds are healthy, in the other
every tenth segfaults, hangs or exhausts its memory when it is loaded, run in eager, or compiled. They alternate, so
that both run under the same conditions. Counts compiled cells of healthy seeds while new seeds are started, without
start-up; prints both rates and their ratio. There are enough seeds for the whole time.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.programs import programs

REQUIRED = 0.8
BAD = "bad"

FAULTS = {
    "segfault": "ctypes.string_at(0)",
    "hang": "exec('while True: pass')",
    "memory": "torch.empty(100 * 2**30, dtype=torch.uint8).fill_(1)",
}
STAGES = ("load", "eager", "compiled")

AT = {
    "load": "{fault}\n",
    "eager": "def fail():\n    {fault}\n",
    # Dynamo evaluates is_compiling() to True, and leaves the call in the compiled function.
    "compiled": "@torch.compiler.disable\ndef fail():\n    {fault}\n",
}
CALLS = {"load": "", "eager": "    fail()\n", "compiled": "    if torch.compiler.is_compiling():\n        fail()\n"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash_load", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="wall minutes of each campaign")
    parser.add_argument("--turns", type=int, default=2, help="turns that each campaign's time is divided into")
    parser.add_argument("--seeds", type=int, default=2000, help="seed files of each campaign")
    parser.add_argument("--operators", type=int, default=6, help="operators of a seed")
    parser.add_argument("--variants", type=int, default=4, help="variants per seed")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="eqfuzz-crash-load-") as folder:
        clean, loaded = (
            Turns(Path(folder), name, chosen.seeds, bad, chosen)
            for name, bad in (("clean", 0), ("loaded", chosen.seeds // 10))
        )
        order = [clean, loaded, loaded, clean] * ((chosen.turns + 1) // 2)
        for campaign in order[: 2 * chosen.turns]:
            campaign.take(60 * chosen.minutes / chosen.turns)
            print(campaign.summary(), flush=True)
    ratio = loaded.rate / clean.rate
    print(f"cells of healthy seeds under load over those without: {ratio:.3f}, {REQUIRED} required")
    return 0 if ratio >= REQUIRED else 1


@dataclasses.dataclass
class Turns:
    """A campaign that runs in turns; ``seconds`` is the wall time in which it started new seeds."""

    folder: Path
    name: str
    seeds: int
    bad: int
    chosen: argparse.Namespace
    seconds: float = 0.0
    cells: int = 0
    states: Counter[str] = dataclasses.field(default_factory=Counter)

    def __post_init__(self) -> None:
        write_seeds(self.folder / self.name, self.seeds, self.bad, self.chosen.operators)

    @property
    def rate(self) -> float:
        """Compiled cells of healthy seeds per wall minute."""
        return 60 * self.cells / max(self.seconds, 1e-9)

    def summary(self) -> str:
        counts = ", ".join(f"{count} {state}" for state, count in sorted(self.states.items()))
        return f"{self.name}: {self.rate:.1f} cells a minute after {self.seconds:.0f} s; {counts or 'nothing ended'}"

    def take(self, seconds: float) -> None:
        """Run it for ``seconds``, then until the seeds in progress end, which is not counted."""
        file = self.folder / f"{self.name}.toml"
        lines = ["[sources]", f'seeds = ["{self.name}"]', "templates = []", "[rewriting]"]
        file.write_text("\n".join([*lines, f"variants = {self.chosen.variants}"]) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "eqfuzz", "campaign", "--file", str(file), "--name", self.name]
        command += ["--out", str(self.folder / "out"), "--jobs", str(self.chosen.jobs), "--format", "json"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        with (
            (self.folder / f"{self.name}.stderr").open("w+", encoding="utf-8") as errors,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment, text=True) as process,
        ):
            start: float | None = None
            counting = True
            for line in process.stdout or ():
                event = json.loads(line)
                now = time.monotonic()
                if start is None and event["event"] == "item":
                    start = now
                if counting and start is not None and now - start >= seconds:
                    self.seconds += now - start
                    counting = False
                    process.terminate()
                if counting and event["event"] == "cell" and event["config"] and BAD not in Path(event["seed"]).name:
                    self.cells += 1
                if event["event"] == "stored":
                    kind = "bad" if BAD in Path(event["seed"]).name else "healthy"
                    self.states[f"{kind} {event['state']}"] += 1
            if counting:
                errors.seek(0)
                raise SystemExit(f"{self.name}: ended by itself with status {process.wait()}: {errors.read().strip()}")


def write_seeds(folder: Path, number: int, bad: int, operators: int) -> None:
    """``number`` seed files, ``bad`` of which are bad, in all kinds alternately."""
    folder.mkdir()
    kinds = itertools.cycle([(stage, fault) for fault in FAULTS for stage in STAGES])
    sources = programs(operators, backward=False, seed=0)
    for index in range(number):
        source = next(sources).source
        if index < bad:
            stage, fault = next(kinds)
            name = f"{BAD}-{stage}-{fault}-{index}.py"
            head, body = source.split("def program(x, y):\n")
            before = f"import ctypes\n{head}\n{AT[stage].format(fault=FAULTS[fault])}\n\ndef program(x, y):\n"
            source = f"{before}{CALLS[stage]}{body}"
        else:
            name = f"seed-{index}.py"
        (folder / name).write_text(source, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
