"""What changes while a run lasts: drawn at the bottom of a terminal, or a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

LINE_SECONDS = 30.0
"""How often a line is written where there is no terminal to draw on."""


class ProgressSource(Protocol):
    """How far something has come; may be asked from another thread than the one that changes it."""

    def display(self) -> RenderableType:
        """A few lines for the bottom of a terminal."""
        ...

    def line(self) -> str:
        """All of it on one line, for logs."""
        ...


class LiveDisplay:
    """A context manager that draws what is being told while it is open; ``_drawing`` is its own to set."""

    _drawing: LiveRenderer

    def __enter__(self) -> Self:
        self._drawing.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drawing.stop()


class LiveRenderer:
    """Shows ``shown`` four times a second on a terminal, else its line every ``every`` seconds, until stopped."""

    def __init__(self, console: Console, shown: ProgressSource, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._shown = shown
        self._every = every
        self._live: Live | None = None
        self._ticker: threading.Thread | None = None
        self._ended = threading.Event()

    def start(self) -> None:
        if self._console.is_terminal:
            self._live = Live(
                console=self._console,
                get_renderable=self._shown.display,
                refresh_per_second=4,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=sys.stderr.isatty(),  # a log file must not get lost in the drawing
            )
            self._live.start()
        else:
            self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)
            self._ticker.start()

    def stop(self) -> None:
        """Take the drawing away; nothing happens when there is none."""
        self._ended.set()
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._ticker is not None:
            self._ticker.join()
            self._ticker = None

    def _tick(self) -> None:
        while not self._ended.wait(self._every):
            self._console.print(Text(self._shown.line()), soft_wrap=True)
