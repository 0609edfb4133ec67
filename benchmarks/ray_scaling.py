"""Scaling of a campaign on a local Ray cluster: ``python -m benchmarks.ray_scaling --cells 200``.

Runs the same campaign with 1, 2, … ``--workers`` workers. Prints compiled cells per wall second, from the start of the
first seed to the end of the last one, and per CPU second of the processes that run them; the CPU time per cell of the
campaign's own process and of Ray's daemons; and the memory of a worker and of its fork server (proportional set size).
Run it on an idle machine: other load distorts the result.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from eqfuzz.campaign.configuration import from_tables
from eqfuzz.campaign.invocation import InvocationOptions
from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.campaign.setup import run_campaign
from eqfuzz.events.campaign import ItemEnded, ItemStarted
from eqfuzz.events.event import Event

COLUMNS = ("workers", "cells", "cells/s", "times", "cells/CPU s", "own ms/cell", "Ray ms/cell", "worker MB", "fork MB")

WORKER = "ray::RayWorker"
RAY = ("ray::", "/raylet/", "/gcs/", "/ray/_private/", "/ray/dashboard/")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    table = Table(*COLUMNS)
    first = 0.0
    for workers in range(1, arguments.workers + 1):
        with tempfile.TemporaryDirectory(prefix="eqfuzz-scaling-") as place:
            campaign = MeasuredCampaign()
            campaign.run(arguments.cells, workers, Path(place))
        first = first or campaign.per_second
        table.add_row(str(workers), *campaign.row(first))
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0


class MeasuredCampaign:
    """A campaign that is measured while it runs."""

    def __init__(self) -> None:
        self.cells = 0
        self.cpu_seconds = 0.0
        self._start = self._end = 0.0
        self._own_before = self._own_cpu = 0.0
        self._ray_cpu: dict[int, float] = {}
        self._memory: dict[str, list[float]] = {"worker": [], "fork": []}
        self._over = threading.Event()

    @property
    def per_second(self) -> float:
        return self.cells / (self._end - self._start)

    def run(self, cells: int, workers: int, out: Path) -> None:
        configuration = from_tables(
            {
                "seed": 1,
                "budget": {"cells": cells},
                "sources": {"templates": []},
                "judging": {"no_check": ["draws", "place"]},
                "feedback": {"enabled": False, "traced": 0, "cost": "cells"},
            },
            "benchmark",
        )
        options = InvocationOptions(name="scaling", out=out, jobs=workers, executor="ray")
        watching = threading.Thread(target=self._watch)
        watching.start()
        try:
            run_campaign(configuration, options, CampaignMetrics(), self._count)
        finally:
            self._over.set()
            watching.join()

    def row(self, first: float) -> list[str]:
        memory = [statistics.median(sizes) if sizes else 0.0 for sizes in self._memory.values()]
        return [
            str(self.cells),
            f"{self.per_second:.3f}",
            f"{self.per_second / first:.2f}",
            f"{self.cells / self.cpu_seconds:.3f}",
            f"{1000 * self._own_cpu / self.cells:.0f}",
            f"{1000 * sum(self._ray_cpu.values()) / self.cells:.0f}",
            *(f"{size:.0f}" for size in memory),
        ]

    def _count(self, event: Event) -> None:
        now = time.monotonic()
        match event:
            case ItemStarted():
                if not self._start:
                    self._start, self._own_before = now, time.process_time()
            case ItemEnded(cells=cells, cpu_seconds=cpu_seconds):
                self.cells += cells
                self.cpu_seconds += cpu_seconds
                self._end, self._own_cpu = now, time.process_time() - self._own_before
            case _:
                pass

    def _watch(self) -> None:
        before: dict[int, float] = {}
        while not self._over.wait(5.0):
            for process in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    line = " ".join(process.cmdline())
                    if any(word in line for word in RAY):
                        times = process.cpu_times()
                        used = times.user + times.system
                        self._ray_cpu[process.pid] = used - before.setdefault(process.pid, used)
                    if line.startswith(WORKER):
                        self._memory["worker"].append(process.memory_full_info().pss / 2**20)
                    elif " ".join(psutil.Process(process.ppid()).cmdline()).startswith(WORKER):
                        self._memory["fork"].append(process.memory_full_info().pss / 2**20)


if __name__ == "__main__":
    sys.exit(main())
