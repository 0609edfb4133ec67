"""The console that everything for people is printed on."""

from __future__ import annotations

from rich.console import Console


class _Console(Console):
    """Raises BrokenPipeError: rich would end the process with exit code 1, which means findings."""

    def on_broken_pipe(self) -> None:
        raise  # rich calls this while it handles the error


def make_console(*, stderr: bool = False) -> Console:
    """The console on stdout or stderr; colours, width and NO_COLOR as rich detects them, and every text as it is."""
    return _Console(highlight=False, markup=False, emoji=False, stderr=stderr, force_jupyter=False)
