"""Memory and leftovers of a long ``eqfuzz mutate``: ``python -m benchmarks.endurance --minutes 60``.

Samples every 20 s: the resident memory of eqfuzz and of its fork server, the memory of all processes together
(proportional set size, so that pages shared by forks count once), the number of processes, and bytes on disk. Exit code
1 where the median memory of the last ten minutes exceeds 1.1 times that of the second ten minutes, where a process
outlives the run by 5 s, or where a file was created in the temporary folder or the home directory, outside the run's
own folder and torch's caches.
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
"""Minutes since the start, then the values of COLUMNS."""


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
        print(process.communicate()[0])
        time.sleep(5)
        left = [p.info["name"] for p in psutil.process_iter(["name"]) if _session(p.pid) == process.pid]
        stray = sorted(_outside(Path(place)) - before)
    table, has_grown = _table(samples, arguments.minutes)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    print(f"exit status {process.returncode}; processes left: {left or 'none'}; files outside: {stray or 'none'}")
    return int(has_grown or bool(left) or bool(stray) or process.returncode not in (0, 1))


def _watch(process: subprocess.Popen[str], out: Path) -> list[Sample]:
    start, samples = time.monotonic(), list[Sample]()
    parent = psutil.Process(process.pid)
    while process.poll() is None:
        with contextlib.suppress(psutil.Error, OSError):
            samples.append(((time.monotonic() - start) / 60, *_sample(parent, out)))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(EVERY)
    return samples


def _sample(parent: psutil.Process, out: Path) -> Sample:
    children = parent.children(recursive=True)
    zygotes = parent.children()
    # Resident, not proportional: the number of forks that share the zygote's pages changes with every sample.
    sizes = [_mb(p, "rss") for p in (parent, *zygotes)]
    every = sum(_mb(p, "pss") for p in [parent, *children])
    disk = sum(_bytes(path) for path in out.rglob("*")) if out.exists() else 0
    return sizes[0], sum(sizes[1:]), every, float(len(children) + 1), disk / 2**20


def _mb(process: psutil.Process, measure: Literal["rss", "pss"]) -> float:
    """The memory of ``process`` in MiB; 0 where it has ended."""
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
    """The paths in the temporary folder, the home directory and ``~/.cache``, without ``own``."""
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
