"""Benefit of feedback: ``python -m benchmarks.feedback --cpu 600`` compares campaigns with and without it.

For each random seed there are two campaigns over the shipped seeds and all templates: one with feedback, one that
chooses uniformly. Counts the distinct lines of the compiler (torch/_dynamo, torch/_inductor, torch/_functorch, …) that
run while cells are compiled, traced for every seed, at equal CPU seconds of cells. Prints the final points of the
curves and their ratio.
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

REQUIRED = 1.15
FIGURES = ("programs", "cells", "cpu_seconds", "features", "lines")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.feedback", description=__doc__)
    parser.add_argument("--cpu", type=int, default=600, help="CPU seconds of cells for each campaign")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="random seeds")
    parser.add_argument("--epoch", type=int, default=8, help="seeds per epoch")
    parser.add_argument("--variants", type=int, default=1, help="variants per seed")
    parser.add_argument("--configs", default="all", help="compile configurations, as in `eqfuzz campaign --config`")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    chosen = parser.parse_args(arguments)
    table = Table("random seed", "choice", "programs", "cells", "CPU s", "features", "lines", "ratio")
    ratios: list[float] = []
    with tempfile.TemporaryDirectory(prefix="eqfuzz-feedback-") as folder:
        for seed in chosen.seeds:
            lines: dict[bool, int] = {}
            for guided in (False, True):
                point = _campaign(Path(folder), seed, guided, chosen)
                lines[guided] = point["lines"]
                ratio = f"{lines[True] / lines[False]:.3f}" if guided else ""
                figures = [point[figure] for figure in FIGURES]
                row = [
                    str(seed),
                    "feedback" if guided else "uniform",
                    *(f"{figure:,.0f}" for figure in figures),
                    ratio,
                ]
                print("  ".join(row), flush=True)
                table.add_row(*row)
            ratios.append(lines[True] / lines[False])
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    mean = statistics.geometric_mean(ratios)
    print(f"lines with feedback over lines without: {mean:.3f} on average, {REQUIRED} required")
    return 0 if mean >= REQUIRED else 1


def _campaign(folder: Path, seed: int, guided: bool, chosen: argparse.Namespace) -> dict[str, Any]:
    """The figures of a campaign after ``--cpu`` CPU seconds."""
    name = f"{'feedback' if guided else 'uniform'}-{seed}"
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
        f"enabled = {str(guided).lower()}",
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
        raise SystemExit(f"{name}: its last epoch ends long before {chosen.cpu} CPU seconds")
    for point in curve:
        print(f"  {name}: {point['cpu_seconds']:.0f} CPU s, {point['lines']:,} lines", file=sys.stderr, flush=True)
    return _at(curve, chosen.cpu)


def _at(curve: Sequence[dict[str, Any]], cpu: float) -> dict[str, Any]:
    """The curve at ``cpu`` CPU seconds, by linear interpolation; its last point where it ends earlier."""
    before: dict[str, Any] = dict.fromkeys(FIGURES, 0)
    for point in curve:
        if point["cpu_seconds"] >= cpu:
            share = (cpu - before["cpu_seconds"]) / (point["cpu_seconds"] - before["cpu_seconds"])
            return {figure: before[figure] + share * (point[figure] - before[figure]) for figure in FIGURES}
        before = point
    return before


if __name__ == "__main__":
    sys.exit(main())
