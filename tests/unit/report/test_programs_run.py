"""The end of ``eqfuzz generate dag --run``: operators of valid programs, and the seeds that need a look."""

import io

import pytest
from rich.console import Console

from eqfuzz.events.generate import ProgramsRun
from eqfuzz.report.generate.dag import SHOWN, print_programs_run
from tests.unit.report import sample_events as sample

RAN = ProgramsRun(
    template="default",
    outcomes={"ok": [0, 2], "failed": [1, 7], "ignored": [3], "undecided": [5]},
    operators={f"torch.nn.functional.binary_cross_entropy_with_logits.number{n}": 100 - n for n in range(SHOWN + 5)},
    unused=["torch.add"],
)


def printed(event: ProgramsRun, *, everything: bool = False, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    print_programs_run(console, event, everything=everything)
    text = console.file.getvalue()
    assert isinstance(text, str)
    return text


def test_seeds_are_listed_by_outcome_the_failed_ones_last():
    lines = printed(RAN).splitlines()
    assert lines[-3:] == ["undecided: seed 5", "ignored: seed 3", "failed: seeds 1, 7"]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_operators_are_listed_with_their_share_and_whole_names(width):
    text = printed(RAN, width=width)
    assert f"Operators run  {SHOWN + 5} of {SHOWN + 6}, 2,905 uses" in text
    assert "torch.nn.functional.binary_cross_entropy_with_logits.number0  " in text
    assert "5 more operators" in text
    assert "number34" not in text
    assert "number34" in printed(RAN, everything=True, width=width)


def test_programs_come_after_the_totals_of_the_run():
    from eqfuzz.report.run.console import ConsoleReport

    console = Console(file=io.StringIO(), width=100, highlight=False)
    *events, summary = sample.whole_run()
    with ConsoleReport(console, verbose=True) as report:
        for event in (*events, RAN, summary):
            report.handle(event)
    text = console.file.getvalue()
    assert text.index("Operators run") > text.index("compiled cell")
    assert text.rstrip().endswith("failed: seeds 1, 7")
    assert "invalid  seed1.py" in text
    assert "failed  seed0.py" in text
