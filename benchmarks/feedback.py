"""Does feedback pay? ``python -m benchmarks.feedback --cpu 600``: campaigns with it and without, at equal CPU time.

For each random seed two campaigns over the shipped seeds and all templates: one steered, one that chooses uniformly.
Counted are distinct lines of the compiler (torch/_dynamo, torch/_inductor, torch/_functorch …) that ran while cells
were compiled, traced for every seed of both, at equal CPU seconds of cells. Prints the curves' ends and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

WANTED = 1.15
FIGURES = ("programs", "cells", "cpu_seconds", "features", "lines")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.feedback", description=__doc__)
    parser.add_argument("--cpu", type=int, default=600, help="CPU seconds of cells for each campaign")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="random seeds")
    parser.add_argument("--epoch", type=int, default=8, help="seeds after which is learnt")
    parser.add_argument("--variants", type=int, default=1, help="variants per seed")
    parser.add_argument("--configs", default="all", help="compile configurations, as in `eqfuzz campaign --config`")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    chosen = parser.parse_args(arguments)
    table = Table("random seed", "choice", "programs", "cells", "CPU s", "features", "lines", "ratio")
    ratios: list[float] = []
    with tempfile.TemporaryDirectory(prefix="eqfuzz-feedback-") as folder:
        for seed in chosen.seeds:
            lines: dict[bool, int] = {}
            for steered in (False, True):
                point = _campaign(Path(folder), seed, steered, chosen)
                lines[steered] = point["lines"]
                ratio = f"{lines[True] / lines[False]:.3f}" if steered else ""
                figures = [point[figure] for figure in FIGURES]
                row = [
                    str(seed),
                    "feedback" if steered else "uniform",
                    *(f"{figure:,.0f}" for figure in figures),
                    ratio,
                ]
                print("  ".join(row), flush=True)
                table.add_row(*row)
            ratios.append(lines[True] / lines[False])
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    mean = statistics.geometric_mean(ratios)
    print(f"lines with feedback over lines without: {mean:.3f} on the mean, {WANTED} wanted")
    return 0 if mean >= WANTED else 1


def _campaign(folder: Path, seed: int, steered: bool, chosen: argparse.Namespace) -> dict[str, Any]:
    """The figures of the campaign at its CPU seconds."""
    name = f"{'feedback' if steered else 'uniform'}-{seed}"
    file = folder / f"{name}.toml"
    lines = [
        f"seed = {seed}",
        "[rewriting]",
        f"variants = {chosen.variants}",
        "[judging]",
        "steps = 0",
        "[feedback]",
        f"epoch = {chosen.epoch}",
        "traced = 1.0",
        f"enabled = {str(steered).lower()}",
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "eqfuzz",
        "campaign",
        "--file",
        str(file),
        "--name",
        name,
        "--cpu",
        str(chosen.cpu),
    ]
    command += ["--config", chosen.configs, "--out", str(folder / "out"), "--jobs", str(chosen.jobs), "--quiet"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{name}: exit status {done.returncode}: {done.stderr.strip()}")
    curve = json.loads((folder / "out" / name / "stats.json").read_text(encoding="utf-8"))["curve"]
    if not curve or curve[-1]["cpu_seconds"] < 0.9 * chosen.cpu:
        raise SystemExit(f"{name}: its epochs end long before {chosen.cpu} CPU seconds")
    for point in curve:
        print(f"  {name}: {point['cpu_seconds']:.0f} CPU s, {point['lines']:,} lines", file=sys.stderr, flush=True)
    return _at(curve, chosen.cpu)


def _at(curve: Sequence[dict[str, Any]], cpu: float) -> dict[str, Any]:
    """The curve at ``cpu`` CPU seconds, straight between two points; its end, where it ends before."""
    before: dict[str, Any] = dict.fromkeys(FIGURES, 0)
    for point in curve:
        if point["cpu_seconds"] >= cpu:
            share = (cpu - before["cpu_seconds"]) / (point["cpu_seconds"] - before["cpu_seconds"])
            return {figure: before[figure] + share * (point[figure] - before[figure]) for figure in FIGURES}
        before = point
    return before


if __name__ == "__main__":
    sys.exit(main())
