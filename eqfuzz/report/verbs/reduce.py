"""Console report of a reduction: the size curve while it runs, the smaller finding at the end."""

from __future__ import annotations

import threading
import time

from rich.console import Console, RenderableType
from rich.text import Text

from eqfuzz.events.run import FindingReported
from eqfuzz.report.formatting import count, duration
from eqfuzz.report.live_display import LiveRenderer, LiveReport
from eqfuzz.report.run.finding_panel import print_finding
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reduce.finding_reducer import ReductionTry

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 60


class ReductionCurve(LiveReport):
    """Collects attempts; draws while it is open as a context manager."""

    def __init__(self, console: Console) -> None:
        self._renderer = LiveRenderer(console, self)
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._tries = 0
        self._phase = ""
        self._sizes: list[int] = []

    def take(self, tried: ReductionTry) -> None:
        """Count an attempt. May be called from several threads."""
        with self._lock:
            if tried.phase != self._phase:
                self._phase, self._sizes = tried.phase, []
            self._tries += 1
            if tried.holds or not self._sizes:
                self._sizes.append(tried.size)

    def display(self) -> RenderableType:
        """The sizes accepted in this phase as bars, and the line."""
        with self._lock:
            sizes = self._sizes[-_WIDTH:]
        top = max(sizes, default=1) or 1
        bars = "".join(_BARS[round(size / top * (len(_BARS) - 1))] for size in sizes)
        return Text.assemble((bars, "cyan"), "  ", self.line())

    def line(self) -> str:
        """``statements of the file: 31 → 4, 57 tries, 12 s``."""
        with self._lock:
            elapsed = duration(time.monotonic() - self._began)
            sizes = f"{self._sizes[0]} → {self._sizes[-1]}, " if self._sizes else ""
            return f"{self._phase or 'calls'}: {sizes}{count(self._tries, 'try', 'tries')}, {elapsed}"


def print_reduced(console: Console, finding: Finding, folder: str, out: str, bucket: str) -> None:
    """The smaller finding as a panel, with its ``bucket`` (empty: in none), and how much smaller it is."""
    print_finding(console, FindingReported(index=0, finding=finding, folder=folder, known=False, bucket=bucket), out)
    reduced = finding.reduced
    if reduced is not None:
        changes = [
            f"{name} {before} → {after}"
            for name in ("rewrites", "statements", "characters")
            for before, after in [getattr(reduced, name)]
        ]
        changes.append(count(reduced.tries, "try", "tries"))
        console.print(Text("reduced: " + ", ".join(changes), style="bold"), soft_wrap=True)
