"""Live display: drawn at the bottom of a terminal while a verb runs; elsewhere a plain line now and then."""

from __future__ import annotations

import sys
import threading
from typing import Protocol, Self

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from eqfuzz.report.layout import print_text

LINE_SECONDS = 30.0
"""Seconds between two lines where there is no terminal."""


class ProgressSource(Protocol):
    """What a live display shows; asked from another thread than the one that changes it."""

    def display(self) -> RenderableType:
        """A few lines for the bottom of a terminal."""
        ...

    def line(self) -> str:
        """The same on one line, for logs."""
        ...


class _WithinScreen:
    """A display as the console itself lays it out, and low enough to be removed.

    A display that fills the screen scrolls, and what has left the screen cannot be removed. Rich lays a display out as
    what is printed above it: beside a line that is not to be wrapped, it would cut the display's lines off.
    """

    def __init__(self, source: ProgressSource) -> None:
        self._source = source

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        options = console.options  # not those of what is printed above
        lines = console.render_lines(self._source.display(), options, pad=False)
        for line in lines[: max(1, options.size.height - 1)]:
            yield from line
            yield Segment.line()


class LiveRenderer:
    """Shows a source while it is open as a context manager, or from ``start`` to ``stop``.

    On a terminal the display is drawn four times a second; elsewhere its line is printed every ``every`` seconds.
    """

    def __init__(self, console: Console, source: ProgressSource, every: float = LINE_SECONDS) -> None:
        self._console = console
        self._source = source
        self._every = every
        self._live: Live | None = None
        self._ticker: threading.Thread | None = None
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def start(self) -> None:
        if self._console.is_terminal:
            self._live = Live(
                console=self._console,
                get_renderable=lambda: _WithinScreen(self._source),
                refresh_per_second=4,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=sys.stderr.isatty(),  # a log file must not get lost in the display
            )
            self._live.start()
        else:
            self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)
            self._ticker.start()

    def stop(self) -> None:
        """Remove the display; may be called again."""
        self._stopped.set()
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._ticker is not None:
            self._ticker.join()
            self._ticker = None

    def _tick(self) -> None:
        while not self._stopped.wait(self._every):
            self._console.print(Text(self._source.line()), soft_wrap=True)


class LiveReport:
    """Base of reports that draw while they are open as context managers, unless they are quiet.

    A subclass sets ``_console``, ``_renderer`` and, where it can be quiet, ``_quiet``.
    """

    _console: Console
    _renderer: LiveRenderer
    _quiet = False

    def __enter__(self) -> Self:
        if not self._quiet:
            self._renderer.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._renderer.stop()

    def _print(self, text: str | Text) -> None:
        print_text(self._console, Text(text) if isinstance(text, str) else text)
