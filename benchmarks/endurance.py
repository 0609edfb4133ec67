"""Memory of a long ``eqfuzz mutate``, and what it leaves behind: ``python -m benchmarks.endurance --minutes 60``.

Every 20 s: the resident memory of eqfuzz and of the process that forks, that of all together (proportional set size, so
that pages shared by forks count once), processes and bytes on disk. Exit code 1 where the median of the last ten
minutes is over 1.1 times that of the ten after the first ten, where a process of the run outlives it by 5 s, or where a
file appeared in the temporary folder or the home outside the run's own folder and torch's toolchain.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import psutil
from rich.console import Console
from rich.table import Table

from eqfuzz.program.shipped import folder

EVERY = 20.0
WINDOW = 10.0
"""Minutes over which medians are taken."""
GROWTH = 1.1
COLUMNS = ("eqfuzz MB", "zygote MB", "all MB", "processes", "on disk MB")

Sample = tuple[float, ...]
"""Minutes since the start, then what COLUMNS names."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="eqfuzz-endurance-") as place:
        before = _outside(Path(place))
        out = Path(place) / "out"
        command = [sys.executable, "-m", "eqfuzz", "mutate", str(folder("seeds")), "--variants", "40", "--quiet"]
        command += ["--time", f"{arguments.minutes:g}m", "--jobs", str(arguments.jobs), "--out", str(out)]
        process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, text=True)
        samples = _watch(process, out)
        told = process.communicate()[0]
        print(told)
        time.sleep(5)
        left = [p.info["name"] for p in psutil.process_iter(["name"]) if _session(p.pid) == process.pid]
        stray = sorted(_outside(Path(place)) - before)
    table, grown = _table(samples, arguments.minutes)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    print(f"exit status {process.returncode}; processes left: {left or 'none'}; files outside: {stray or 'none'}")
    return int(grown or bool(left) or bool(stray) or process.returncode not in (0, 1))


def _watch(process: subprocess.Popen[str], out: Path) -> list[Sample]:
    began, samples = time.monotonic(), list[Sample]()
    parent = psutil.Process(process.pid)
    while process.poll() is None:
        with contextlib.suppress(psutil.Error, OSError):
            samples.append(((time.monotonic() - began) / 60, *_sample(parent, out)))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(EVERY)
    return samples


def _sample(parent: psutil.Process, out: Path) -> Sample:
    children = parent.children(recursive=True)
    zygotes = parent.children()
    # Whole, not in proportion: how many forks share the pages of the zygote changes with every sample.
    sizes = [_mb(p, "rss") for p in (parent, *zygotes)]
    every = sum(_mb(p, "pss") for p in [parent, *children])
    disk = sum(_bytes(path) for path in out.rglob("*")) if out.exists() else 0
    return sizes[0], sum(sizes[1:]), every, float(len(children) + 1), disk / 2**20


def _mb(process: psutil.Process, measure: Literal["rss", "pss"]) -> float:
    """0 where it has ended meanwhile."""
    try:
        return getattr(process.memory_full_info(), measure) / 2**20
    except psutil.Error:
        return 0.0


def _bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _outside(own: Path) -> set[str]:
    """What lies in the temporary folder and in the home, but for ``own`` and what others' tools keep there."""
    places = (Path(tempfile.gettempdir()), Path.home(), Path.home() / ".cache")
    return {str(path) for place in places for path in place.iterdir() if path != own}


def _table(samples: Sequence[Sample], minutes: float) -> tuple[Table, bool]:
    """Medians of each window, and whether memory grew between the second and the last."""
    window = min(WINDOW, minutes / 3)
    table = Table("minutes", *COLUMNS, title=f"medians of {len(samples)} samples")
    rows: list[list[float]] = []
    for number in range(round(minutes / window)):
        inside = [s[1:] for s in samples if number * window <= s[0] < (number + 1) * window]
        if inside:
            rows.append([statistics.median(column) for column in zip(*inside, strict=True)])
            name = f"{number * window:.0f} to {(number + 1) * window:.0f}"
            table.add_row(name, *(f"{value:.0f}" for value in rows[-1]))
    return table, len(rows) < 2 or any(rows[-1][column] > GROWTH * rows[1][column] for column in range(3))


if __name__ == "__main__":
    sys.exit(main())
