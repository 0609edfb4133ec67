"""What a check of a model has shown, for people and programs."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from eqfuzz.commands.models.check_log import AGREES, DIFFERS, KNOWN, NOT_COMPARABLE, NOT_TRIED
from eqfuzz.events.model_check import ModelCheckSummary, UseChecked
from eqfuzz.report.verbs.model_check import print_uses

_WIDTH = 100
_HTML = '<pre style="font-family:monospace;line-height:1.3;white-space:pre-wrap">{code}</pre>'


@dataclasses.dataclass(frozen=True)
class Report:
    """The outcome of each use of a model, compiled and in eager. A notebook shows it as a table, ``print`` too.

    Attributes:
        model: ``package.module:Name`` of the class or function.
        uses: What came of each use (forward and backward, a training step, …), the variants last.
        seconds: Wall seconds that the check took.
        out: Folder with the programs and findings; ``eqfuzz findings`` reads it, with ``--out``.
        is_complete: Whether every use was tried before the time ran out.
    """

    model: str
    uses: tuple[UseChecked, ...]
    seconds: float
    out: Path
    is_complete: bool

    @property
    def differs(self) -> bool:
        """Whether some use differs from eager."""
        return bool(self.differences)

    @property
    def differences(self) -> tuple[UseChecked, ...]:
        """The uses that differ; those that are known issues of PyTorch have an ``issue``."""
        return tuple(use for use in self.uses if use.outcome in (DIFFERS, KNOWN))

    @property
    def undecided(self) -> tuple[UseChecked, ...]:
        """The uses of which nothing can be said: not comparable, or not tried before the time ran out."""
        outcomes = (NOT_COMPARABLE,) if self.is_complete else (NOT_COMPARABLE, NOT_TRIED)
        return tuple(use for use in self.uses if use.outcome in outcomes)

    @property
    def agrees(self) -> bool:
        """Whether some use was compared and agrees, and none differs or is not comparable."""
        outcomes = [use.outcome for use in self.uses]
        return AGREES in outcomes and not {DIFFERS, KNOWN, NOT_COMPARABLE} & {*outcomes}

    def __str__(self) -> str:
        stream = io.StringIO()
        self._print(_console(stream))
        return stream.getvalue().rstrip()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        with console.capture() as capture:
            self._print(console)
        yield Text.from_ansi(capture.get().rstrip())

    def _repr_html_(self) -> str:
        """The report for a notebook."""
        recording = _console(io.StringIO(), record=True)
        self._print(recording)
        return recording.export_html(inline_styles=True, code_format=_HTML)

    def _print(self, console: Console) -> None:
        console.print(f"{self.model}: {_in_words(self)}\n", markup=False)
        print_uses(console, self.uses)


class NotEquivalent(AssertionError):
    """Compiled code differs from eager; ``report`` has the numbers, ``str()`` the smallest program that shows it."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(str(report))


def report_of(summary: ModelCheckSummary) -> Report:
    """The report of a check that has ended."""
    return Report(
        model=summary.model,
        uses=tuple(summary.uses),
        seconds=summary.seconds,
        out=Path(summary.out),
        is_complete=not summary.out_of_time,
    )


def _console(stream: io.StringIO, *, record: bool = False) -> Console:
    """A console that writes to ``stream``, in the kernel of a notebook too."""
    return Console(
        file=stream, width=_WIDTH, record=record, highlight=False, markup=False, emoji=False, force_jupyter=False
    )


def _in_words(report: Report) -> str:
    if report.differs:
        is_known = all(use.outcome == KNOWN for use in report.differences)
        return f"compiled code differs from eager{', as is known' if is_known else ''}"
    if not any(use.outcome == AGREES for use in report.uses):
        return "nothing was compared"
    return f"compiled code agrees with eager{', as far as it was compared' if report.undecided else ''}"
