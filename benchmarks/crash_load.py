"""Robustness against bad seeds: ``python -m benchmarks.crash_load --folder F`` with a tenth of the seeds bad.

Compares two campaigns over as many seed files with the same configuration: in one all seeds are healthy, in the other
every tenth segfaults, hangs or exhausts its memory when it is loaded, run in eager, or compiled. They alternate, so
that both run under the same conditions. Counts compiled cells of healthy seeds while new seeds are started, without
start-up; prints both rates and their ratio. On two cores 20 minutes take about as many seeds as there are, so that
nearly all bad ones run, each kind as often as the others.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import subprocess
import sys
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
    parser.add_argument("--folder", type=Path, required=True, help="seeds, campaigns, and the turns that have ended")
    parser.add_argument("--minutes", type=float, default=20.0, help="wall minutes of each campaign")
    parser.add_argument("--turns", type=int, default=2, help="turns that each campaign's time is divided into")
    parser.add_argument("--seeds", type=int, default=270, help="seed files of each campaign")
    parser.add_argument("--operators", type=int, default=6, help="operators of a seed")
    parser.add_argument("--variants", type=int, default=4, help="variants per seed")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    chosen = parser.parse_args(arguments)
    settings = {name: value for name, value in vars(chosen).items() if name != "folder"}
    journal = chosen.folder / "turns.jsonl"
    ended = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()] if journal.exists() else []
    if any(turn["settings"] != settings for turn in ended):
        raise SystemExit(f"{journal}: its turns have other settings: choose another folder")
    clean, loaded = Side("clean"), Side("loaded")
    for side, bad in ((clean, 0), (loaded, chosen.seeds // 10)):
        write_seeds(chosen.folder / side.name, chosen.seeds, bad, chosen.operators)
    order = ([clean, loaded, loaded, clean] * ((chosen.turns + 1) // 2))[: 2 * chosen.turns]
    for number, side in enumerate(order):
        if number < len(ended):
            turn = Turn(**ended[number]["turn"])
        else:
            turn = run_turn(chosen.folder, side.name, 60 * chosen.minutes / chosen.turns, chosen.variants, chosen.jobs)
            with journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"settings": settings, "turn": dataclasses.asdict(turn)}) + "\n")
        side.turns.append(turn)
        print(side.summary(), flush=True)
    ratio = loaded.rate / clean.rate
    print(f"cells of healthy seeds under load over those without: {ratio:.3f}, {REQUIRED} required")
    return 0 if ratio >= REQUIRED else 1


@dataclasses.dataclass
class Turn:
    """A part of a campaign: ``seconds`` of wall time in which it started new seeds, its compiled ``cells`` of healthy
    seeds, and how many seeds ended in each of the ``states``.
    """

    seconds: float = 0.0
    cells: int = 0
    states: dict[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Side:
    """One of the two campaigns."""

    name: str
    turns: list[Turn] = dataclasses.field(default_factory=list)

    @property
    def rate(self) -> float:
        """Compiled cells of healthy seeds per wall minute."""
        return 60 * sum(turn.cells for turn in self.turns) / sum(turn.seconds for turn in self.turns)

    def summary(self) -> str:
        states: Counter[str] = Counter()
        for turn in self.turns:
            states.update(turn.states)
        counts = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        seconds = sum(turn.seconds for turn in self.turns)
        return f"{self.name}: {self.rate:.1f} cells a minute after {seconds:.0f} s; {counts or 'nothing ended'}"


def run_turn(folder: Path, name: str, seconds: float, variants: int, jobs: int) -> Turn:
    """Run or resume a campaign for ``seconds``, then until the seeds in progress end, which is not counted."""
    turn = Turn()
    file = folder / f"{name}.toml"
    lines = ["[sources]", f'seeds = ["{name}"]', "templates = []", "[rewriting]", f"variants = {variants}"]
    lines += ["[feedback]", "enabled = false"]  # else most programs come from the corpus, in which none is bad
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "eqfuzz", "campaign", "--file", str(file), "--name", name]
    command += ["--out", str(folder / "out"), "--jobs", str(jobs), "--format", "json"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (
        (folder / f"{name}.stderr").open("w+", encoding="utf-8") as errors,
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
                turn.seconds = now - start
                counting = False
                process.terminate()
            if counting and event["event"] == "cell" and event["config"] and BAD not in Path(event["seed"]).name:
                turn.cells += 1
            if event["event"] == "stored":
                kind = "bad" if BAD in Path(event["seed"]).name else "healthy"
                state = f"{kind} {event['state']}"
                turn.states[state] = turn.states.get(state, 0) + 1
        if counting:
            errors.seek(0)
            raise SystemExit(f"{name}: ended by itself with status {process.wait()}: {errors.read().strip()}")
    return turn


def write_seeds(folder: Path, number: int, bad: int, operators: int) -> None:
    """``number`` seed files, ``bad`` of which are bad, in all kinds alternately."""
    folder.mkdir(parents=True, exist_ok=True)
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
