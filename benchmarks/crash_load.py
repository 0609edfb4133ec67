"""Does a campaign stand bad seeds? ``python -m benchmarks.crash_load --minutes 60``: cells with a tenth of them bad.

Two campaigns over as many seed files with the same configuration: in one all are healthy, in the other every tenth
segfaults, hangs or exhausts its memory while it is loaded, in eager, or only when it is compiled. They take turns, so
that both meet the same machine. Counted are compiled cells of healthy seeds while new ones are begun; prints their
rates and the ratio. Start-up is not counted. The seeds last for the whole time: none need be drawn twice.
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

WANTED = 0.8
BAD = "bad"

FAULTS = {
    "segfault": "ctypes.string_at(0)",
    "hang": "exec('while True: pass')",
    "memory": "torch.empty(100 * 2**30, dtype=torch.uint8).fill_(1)",
}
PLACES = ("load", "eager", "compiled")

AT = {
    "load": "{fault}\n",
    "eager": "def fail():\n    {fault}\n",
    # Dynamo knows that it compiles, and leaves the call to the compiled function.
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
            print(campaign.told(), flush=True)
    ratio = loaded.rate / clean.rate
    print(f"cells of healthy seeds under load over those without: {ratio:.3f}, {WANTED} wanted")
    return 0 if ratio >= WANTED else 1


@dataclasses.dataclass
class Turns:
    """A campaign that is gone on with turn by turn; ``seconds`` are wall seconds in which it began new seeds."""

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

    def told(self) -> str:
        counts = ", ".join(f"{count} {state}" for state, count in sorted(self.states.items()))
        return f"{self.name}: {self.rate:.1f} cells a minute after {self.seconds:.0f} s; {counts or 'nothing ended'}"

    def take(self, seconds: float) -> None:
        """Let it run for ``seconds`` and until what is in flight has ended, which is not counted."""
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
            began: float | None = None
            counting = True
            for line in process.stdout or ():
                event = json.loads(line)
                now = time.monotonic()
                if began is None and event["event"] == "item":
                    began = now
                if counting and began is not None and now - began >= seconds:
                    self.seconds += now - began
                    counting = False
                    process.terminate()
                if counting and event["event"] == "cell" and event["config"] and BAD not in Path(event["seed"]).name:
                    self.cells += 1
                if event["event"] == "stored":
                    kind = "bad" if BAD in Path(event["seed"]).name else "healthy"
                    self.states[f"{kind} {event['state']}"] += 1
            if counting:
                errors.seek(0)
                raise SystemExit(f"{self.name}: ended after {process.wait()} by itself: {errors.read().strip()}")


def write_seeds(folder: Path, number: int, bad: int, operators: int) -> None:
    """``number`` seed files, ``bad`` of them bad in all ways in turn."""
    folder.mkdir()
    ways = itertools.cycle([(place, fault) for fault in FAULTS for place in PLACES])
    sources = programs(operators, backward=False, seed=0)
    for index in range(number):
        source = next(sources).source
        if index < bad:
            place, fault = next(ways)
            name = f"{BAD}-{place}-{fault}-{index}.py"
            head, body = source.split("def program(x, y):\n")
            before = f"import ctypes\n{head}\n{AT[place].format(fault=FAULTS[fault])}\n\ndef program(x, y):\n"
            source = f"{before}{CALLS[place]}{body}"
        else:
            name = f"seed-{index}.py"
        (folder / name).write_text(source, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
