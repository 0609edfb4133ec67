"""Progress of a known number of steps: a bar for terminals, a line for logs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.table import Column
from rich.text import Text

from eqfuzz.report.formatting import duration, printable

RUNNING_SHOWN = 4
"""Names of steps under way below the bar."""


class ProgressCounter:
    """Counts steps that are done; a ``ProgressSource``. May be used from several threads.

    ``noun`` names the steps in the plural. ``time_budget`` in seconds bounds the estimate of the time left. ``note`` is
    a text beside the count, to be replaced by another one.
    """

    def __init__(
        self,
        noun: str,
        total: int = 0,
        *,
        time_budget: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.note: Text | None = None
        self._time_budget = time_budget
        bar = BarColumn(bar_width=None, table_column=Column(ratio=1))
        columns = _TextOf(self._counts), bar, _TextOf(self._times)
        self._bar = Progress(*columns, auto_refresh=False, expand=True, get_time=clock)
        self._task = self._bar.add_task(noun, total=total or None)
        self._running: dict[int, str] = {}
        self._lock = threading.Lock()

    def begin(self, total: int) -> None:
        """Count ``total`` steps from 0; the clock starts anew."""
        self._bar.reset(self._task, total=total)

    def rename(self, noun: str) -> None:
        """Name the steps ``noun`` from now on."""
        self._bar.update(self._task, description=noun)

    def start(self, index: int, name: str) -> None:
        """Step ``index`` is under way; its name is shown until it is done."""
        with self._lock:
            self._running[index] = name

    def finish(self, index: int) -> None:
        """Step ``index`` is done."""
        with self._lock:
            self._running.pop(index, None)
        self.advance()

    def advance(self) -> None:
        """One more step is done."""
        self._bar.advance(self._task)

    def reach(self, done: int) -> None:
        """``done`` steps are done."""
        self._bar.update(self._task, completed=done)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._bar.tasks[0].elapsed or 0.0

    def line(self) -> str:
        """``2/3 seeds, the note, 1 min 00 s so far, about 30 s left``."""
        return self.line_with(*([self.note.plain] if self.note is not None else []))

    def display(self) -> RenderableType:
        """The bar, with the note and the steps under way below it."""
        return self.display_with(*([self.note] if self.note is not None else []))

    def line_with(self, *details: str) -> str:
        """The line with ``details`` in place of the note."""
        task = self._bar.tasks[0]
        return ", ".join([self._counts(task), *details, self._times(task)])

    def display_with(self, *details: RenderableType) -> RenderableType:
        """The display with ``details`` in place of the note."""
        with self._lock:
            names = [self._running[index] for index in sorted(self._running)]
        lines = [
            Text(f"  {printable(name)}", style="dim", no_wrap=True, overflow="ellipsis")
            for name in names[:RUNNING_SHOWN]
        ]
        if len(names) > RUNNING_SHOWN:
            lines.append(Text(f"  and {len(names) - RUNNING_SHOWN} more", style="dim"))
        return Group(Text(), self._bar.get_renderable(), *details, *lines)

    def _counts(self, task: Task) -> str:
        if task.total is None:
            return f"{task.description}: {task.completed:,.0f}"
        return f"{task.completed:,.0f}/{task.total:,.0f} {task.description}"

    def _times(self, task: Task) -> str:
        left = self._seconds_left(task)
        return f"{duration(task.elapsed or 0.0)} so far" + (f", about {duration(left)} left" if left else "")

    def _seconds_left(self, task: Task) -> float | None:
        """At the average pace so far, within the time budget; None while nothing is known."""
        elapsed, total = task.elapsed or 0.0, task.total or 0.0
        by_steps = elapsed / task.completed * (total - task.completed) if task.completed and total else None
        if self._time_budget is None:
            return by_steps
        by_clock = max(self._time_budget - elapsed, 0.0)
        return by_clock if by_steps is None else min(by_clock, by_steps)


class _TextOf(ProgressColumn):
    """A column that shows a text of the task."""

    def __init__(self, text: Callable[[Task], str]) -> None:
        super().__init__(Column(no_wrap=True))
        self._text = text

    def render(self, task: Task) -> Text:
        return Text(self._text(task))
