"""Console report of seeds that a model wrote, with and without --quiet."""

import io

from rich.console import Console

from eqfuzz.events.llm import AnswerJudged, CostReported, PromptTally, SampleEnded, WritingStarted, WritingSummary
from eqfuzz.generate.llm.validation import Reason
from eqfuzz.report.generate.llm import ENDINGS, WORDS, WritingReport, dollars

GOOD = AnswerJudged(reason="", message="", input_tokens=100, output_tokens=50, dollars=0.0003, kept=False)
BAD = AnswerJudged(
    reason="syntax",
    message="not valid Python: '(' was never closed",
    input_tokens=100,
    output_tokens=50,
    dollars=0.0003,
    kept=False,
)
SUMMARY = WritingSummary(
    model="m",
    count=3,
    asked=3,
    accepted=2,
    first_valid=1,
    repaired=1,
    valid_share=0.6667,
    first={"syntax": 2},
    failed={"syntax": 1},
    prompts={"loops": PromptTally(asked=3, accepted=2)},
    parts=1,
    reached=["lowering:lowering.cat"],
    queries=6,
    kept=2,
    retries=1,
    estimated=1,
    input_tokens=600,
    output_tokens=300,
    dollars=0.0018,
    paid=0.0012,
    lost=0.0001,
    spent=0.002,
    budget=1.0,
    why="budget",
    trouble="",
    interrupted=False,
    seconds=4.0,
    out="night",
)


def report_text(*, quiet=False):
    stream = io.StringIO()
    report = WritingReport(Console(file=stream, width=160), 3, quiet=quiet)
    with report:
        report.handle(
            WritingStarted(
                model="m",
                endpoint="localhost:8000",
                prompts=["loops"],
                count=3,
                seed=0,
                budget=1.0,
                spent=0.25,
                out="night",
            )
        )
        report.handle(
            SampleEnded(
                number=0,
                prompt="loops",
                part="",
                reason="",
                message="",
                file="night/programs/a.py",
                sites=7,
                reached=None,
                rounds=[BAD, GOOD],
            )
        )
        report.handle(
            SampleEnded(
                number=1,
                prompt="white-box",
                part="lowering:lowering.cat",
                reason="",
                message="",
                file="b.py",
                sites=7,
                reached=True,
                rounds=[GOOD],
            )
        )
        report.handle(
            SampleEnded(
                number=2,
                prompt="loops",
                part="",
                reason="syntax",
                message="not valid\x1b[2J",
                file="",
                sites=0,
                reached=None,
                rounds=[BAD, BAD, BAD],
            )
        )
        report.handle(SUMMARY)
        report.handle(
            CostReported(
                queries=6,
                tokens=900,
                dollars=0.0018,
                valid_share=0.6667,
                findings=3,
                buckets=2,
                findings_per_dollar=1666.667,
            )
        )
    return stream.getvalue()


def test_report_has_every_detail():
    text = report_text()
    assert "3 seeds requested from m at localhost:8000  ·  loops  ·  budget $1.00, $0.2500 spent before" in text
    assert "night/programs/a.py, repaired 1 time  $0.0006" in text
    assert "b.py, reached  $0.0003" in text
    assert "not valid Python: not valid�[2J" in text, "no control character reaches a terminal"
    assert "2 seeds of 3 requested (67% valid, 1 repaired)  ·  6 queries, 2 of them stored  ·  900 tokens" in text
    assert (
        "$0.0018 ($0.0012 now, $0.0001 of it possibly without a response)  ·  1 response without usage figures" in text
    )
    assert "reached 1 of 1 part of the compiler" in text
    assert ENDINGS["budget"] in text
    assert "3 findings in 2 buckets, 1,666.7 per dollar" in text


def test_quiet_prints_only_totals():
    lines = report_text(quiet=True).strip().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("2 seeds of 3 requested")


def test_every_reason_has_words():
    assert set(WORDS) == {str(reason) for reason in Reason}


def test_small_amounts_of_dollars_have_four_decimals():
    assert [dollars(amount) for amount in (0, 0.23, 0.00041, 12.5)] == ["$0.00", "$0.2300", "$0.0004", "$12.50"]
