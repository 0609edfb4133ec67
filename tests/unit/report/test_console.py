"""The console report, on a terminal and off, wide and narrow, loud and quiet."""

from __future__ import annotations

import dataclasses
import io
import re
import threading

import pytest
from rich.console import Console

from eqfuzz.events.configs import ConfigsSampled
from eqfuzz.events.event import Event
from eqfuzz.events.run import RuleTally, SeedRewritten
from eqfuzz.oracle.compare.verdict import FINDINGS, Evidence, VerdictKind
from eqfuzz.report.run.console import ConsoleReport
from eqfuzz.report.verdict_texts import MEANING

from . import sample_events as sample

ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*(3[1-6]|9[1-6]|38;)[0-9;]*m")


def report_text(events: list[Event], *, width: int = 100, terminal: bool = False, **options: object) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
        highlight=False,
    )
    with ConsoleReport(console, **options) as report:
        for event in events:
            report.handle(event)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("terminal", [False, True])
def test_panel_has_every_detail_at_every_width(width, terminal):
    text = ANSI.sub("", report_text(sample.whole_run(), width=width, terminal=terminal))
    for message in (
        "1f2e3d4c5b",
        "seeds/handwritten/arithmetic/gamma_curve.py",
        "operators/pow_half_is_sqrt",
        "inductor on cpu, torch 2.13.0 cpu",
        "ONLY THE TRANSFORMED PROGRAM SHOWS IT",
        "original P",
        "transformed P'",
        "equals P (bitwise)",
        "✗ wrong-result",
        "at [3, 11]",
        "4.250000123",
        "nan",
        "3.1e-06",
        "3 of 1,024 elements (5 unstable, left out)",
    ):
        assert message in text, message
    assert {len(line) for line in text.splitlines() if line[:1] in ("╭", "╰")} == {width}
    assert max(len(line) for line in text.splitlines() if line[:1] == "│") <= width


SAMPLED = ConfigsSampled(configs=["a=1", "b=2"], options=151, left_out={"text": 620}, cells=2, judged=0, known=[])


def test_sampled_configurations_are_counted_on_the_console_that_draws():
    assert report_text([SAMPLED]) == "2 configurations of 151 options; 620 options left out\n"
    assert report_text([SAMPLED], quiet=True) == ""


def test_run_prints_versions_first():
    assert report_text([sample.started()]).splitlines()[0] == "eqfuzz 0.1.0, torch 2.13.0 cpu, python 3.11.9"
    nightly = {"torch": "2.16.0.dev20261120", "build": "cu132", "git": "d0f2af8", "libcst": "1.8.5"}
    text = report_text([dataclasses.replace(sample.started(), versions=nightly)])
    assert text.splitlines()[0] == "torch 2.16.0.dev20261120 cu132 (git d0f2af8), libcst 1.8.5"


@pytest.mark.parametrize("width", [40, 80])
def test_lines_to_paste_are_never_wrapped(width):
    lines = report_text(sample.whole_run(), width=width).splitlines()
    assert "python eqfuzz-out/findings/1f2e3d4c5b/repro.py" in lines
    assert "eqfuzz replay 1f2e3d4c5b --out eqfuzz-out" in lines


def test_lines_to_paste_are_quoted_for_shell():
    from eqfuzz.events.run import FindingReported
    from eqfuzz.report.run.finding_panel import paste_lines

    finding = sample.finding(sample.POW)
    script, replay = paste_lines(
        FindingReported(index=0, finding=finding, folder=f"my out/findings/{finding.id}", known=False), "my out"
    )
    assert script == f"python 'my out/findings/{finding.id}/repro.py'"
    assert replay == f"eqfuzz replay {finding.id} --out 'my out'"


def test_panel_of_original_shows_its_code():
    text = report_text([sample.started(), sample.finding_event(sample.finding())])
    assert "The original shows it too, no rewrite needed." in text
    assert "def program(image, amount):" in text
    assert "ONLY THE TRANSFORMED" not in text
    assert "transformed P'" not in text


def test_panel_claims_right_original_only_if_observed():
    finding = sample.finding(sample.POW)
    finding.cells["C(P)"] = "inconclusive"
    text = report_text([sample.started(), sample.finding_event(finding)])
    assert "ONLY THE TRANSFORMED PROGRAM SHOWS IT" in text
    assert "compiles correctly" not in text


@pytest.mark.parametrize("kind", sorted(FINDINGS))
@pytest.mark.parametrize("evidence", [None, Evidence(), Evidence(path="output", eager=True, compiled="x" * 300)])
def test_every_kind_of_finding_renders_with_any_evidence(kind, evidence):
    finding = sample.finding(sample.POW, kind=kind, evidence=evidence, message="[bold]odd[/bold] [/] message")
    text = report_text([sample.started(), sample.finding_event(finding)], width=80)
    assert kind in text
    assert "[bold]odd[/bold] [/] message" in text


def test_every_kind_has_a_meaning():
    assert set(MEANING) == set(VerdictKind)


def test_summary_counts_rules_verdicts_and_totals():
    text = report_text(sample.whole_run())
    assert re.search(r"operators/pow_half_is_sqrt +9 +8 +wrong-result 1", text)
    assert re.search(r"operators/add_function +3 +3", text)
    assert re.search(r"agree +12 ", text)
    assert re.search(r"wrong-result +2 ", text)
    assert "1 × no inputs: define `inputs(rng)` (seed1.py:3)" in text
    assert "flaky seed2.py" in text
    for message in ("3 seeds (2 valid)", "31 sites", "12 variants", "14 compiled cells", "1 min 02 s wall"):
        assert message in text
    for message in ("1 min 40 s CPU", "14 cells/min", "random seed 7", "2 findings in 1 bucket in eqfuzz-out/findings"):
        assert message in text


def test_summary_lists_every_finding():
    text = report_text(sample.whole_run())
    listed = text[text.rindex("Findings") :]
    assert re.search(r"1f2e3d4c5b +wrong-result +seeds/.*gamma_curve.py +operators/pow_half_is_sqrt", listed)
    assert re.search(r"00aa11bb22 +wrong-result +seeds/.*gamma_curve.py +the original", listed)


def test_what_shows_a_finding_stands_below_its_seed_where_the_console_is_narrow():
    text = report_text(sample.whole_run(), width=80)
    listed = text[text.rindex("Findings") :]
    assert re.search(r"1f2e3d4c5b +wrong-result +seeds/.*gamma_curve.py.*\n +operators/pow_half_is_sqrt", listed)
    assert max(len(line.rstrip()) for line in listed.splitlines() if "gamma_curve" in line) <= 80


def test_summary_lists_most_severe_findings_first():
    kinds = VerdictKind.WRONG_METADATA, VerdictKind.COMPILER_CRASH, VerdictKind.WRONG_RESULT
    finding = [dataclasses.replace(sample.finding(kind=kind), id=f"{n}a") for n, kind in enumerate(kinds)]
    severities = {"wrong-values": 1, "crash": 1, "metadata": 1}
    verdicts = dict.fromkeys(map(str, kinds), 1)
    closing = sample.summary(findings=3, buckets=3, severities=severities, verdicts=verdicts)
    text = report_text([sample.started(), *map(sample.finding_event, finding), closing], width=140)
    listed = text[text.rindex("Findings") :]
    assert listed.index("2a") < listed.index("1a") < listed.index("0a")
    verdicts = text[text.rindex("Verdicts") :]
    assert verdicts.index("wrong-result") < verdicts.index("compiler-crash") < verdicts.index("wrong-metadata")
    assert "3 findings in 3 buckets (wrong values: 1, crashes: 1, metadata: 1) in eqfuzz-out/findings" in text


def test_rules_with_other_verdicts_come_first():
    rules = {f"shape/rule_{i:02d}": RuleTally(variants=100 - i, verdicts={"agree": 100 - i}) for i in range(30)}
    rules["shape/last"] = RuleTally(variants=1, verdicts={"hang": 1})
    text = report_text([sample.started(), sample.summary(rules=rules)])
    assert text.index("shape/last") < text.index("shape/rule_00")
    assert "shape/rule_18" in text
    assert "shape/rule_19" not in text
    assert re.search(r"11 more rules +836 +836", text)


@pytest.mark.parametrize("options", [{}, {"quiet": True}, {"terminal": True}])
def test_invalid_seeds_are_listed_by_reason_before_last_line(options):
    text = ANSI.sub(
        "", report_text([sample.started(22), sample.summary(**sample.invalid(1), known=1, findings=0)], **options)
    )
    assert "6 of 22 seeds are invalid (--format json names each):\n" in text
    assert f"\n  6 × {sample.AUTOGRAD} (a.py, …)\n" in text
    assert text.index("6 of 22 seeds") < text.index("No new findings.")


def test_at_most_five_reasons_are_listed():
    lines = report_text([sample.started(22), sample.summary(**sample.invalid(8))], quiet=True).splitlines()
    begin = lines.index("13 of 22 seeds are invalid (--format json names each):")
    assert lines[begin + 5] == "  1 × odd\ufffd thing 4 (s4.py:4)"
    assert lines[begin + 6] == "  and 3 more reasons (3 seeds)"


def test_summary_without_invalid_seeds_omits_them():
    assert "invalid" not in report_text([sample.started(), sample.summary(invalid=0, invalid_reasons=[], verdicts={})])


def test_internal_errors_are_printed_with_totals():
    message = "internal error: this installation is broken: 6 of 22 shipped seeds"
    summary = sample.summary(errors=["this installation is broken: 6 of 22 shipped seeds"])
    assert f"\n{message}\n" in report_text([sample.started(), summary])
    assert f"\n{message}\n" in report_text([sample.started(), summary], quiet=True)


def test_flaky_cells_are_counted_by_cause():
    causes = {"its script shows no difference": 2, "not on the stock path": 1}
    message = "\nflaky cells by cause: its script shows no difference 2, not on the stock path 1\n"
    assert message in report_text([sample.started(), sample.summary(flaky=causes)])
    assert message in report_text([sample.started(), sample.summary(flaky=causes)], quiet=True)
    assert "flaky" not in report_text([sample.started(), sample.summary()])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"interrupted": True}, "Interrupted"),
        ({"out_of_time": True}, "Out of time"),
        ({"findings": 0}, "No findings."),
        ({"findings": 0, "cells": 0}, "Nothing was compiled."),
        ({"errors": ["a.py: broke"]}, "1 internal error"),
    ],
)
def test_last_lines_state_how_run_ended(changed, message):
    assert message in report_text([sample.started(), sample.summary(**changed)])
    assert message in report_text([sample.started(), sample.summary(**changed)], quiet=True)


def test_run_that_rewrites_nothing_names_no_rules():
    assert "strategy each  ·  49 rules" in report_text([sample.started()])
    assert "rules" not in report_text([dataclasses.replace(sample.started(), strategy="none")])


def test_seeds_that_were_not_completed_are_counted_by_folder():
    left_out = ["seeds/shapes/b.py", "seeds/dtypes/a.py", "seeds/shapes/a.py", "own.py"]
    message = "\n4 seeds not completed (--format json names each): here 1, dtypes 1, shapes 2\n"
    events = [sample.started(), sample.summary(out_of_time=True, left_out=left_out)]
    assert message in report_text(events)
    assert message in report_text(events, quiet=True)
    assert "not completed" not in report_text([sample.started(), sample.summary()])


def test_next_steps_are_commands_for_the_gravest_finding():
    text = report_text(sample.whole_run())
    assert text.endswith(
        "\neqfuzz show 1f2e3d4c5b    # the report, the program and the script\n"
        "eqfuzz reduce 1f2e3d4c5b  # a smaller program with the same defect\n"
        "eqfuzz issue 1f2e3d4c5b   # a report for PyTorch's tracker\n"
    )
    elsewhere = dataclasses.replace(sample.started(), out="my results")
    events = [elsewhere, *sample.whole_run()[1:]]
    assert "\neqfuzz reduce 1f2e3d4c5b --out 'my results'  #" in report_text(events)
    assert "eqfuzz reduce" not in report_text([sample.started(), sample.summary(findings=0)])


def test_quiet_is_one_line_per_finding_and_the_totals():
    lines = [line for line in report_text(sample.whole_run(), quiet=True).splitlines() if line]
    assert lines[0].startswith(
        "wrong-result 1f2e3d4c5b seeds/handwritten/arithmetic/gamma_curve.py: operators/pow_half"
    )
    assert lines[1].startswith("wrong-result 00aa11bb22 seeds/handwritten/arithmetic/gamma_curve.py: the original")
    assert lines[4:] == [
        "1 of 3 seeds is invalid (--format json names each):",
        "  1 × no inputs: define `inputs(rng)` (seed1.py:3)",
        "2 findings in 1 bucket in eqfuzz-out/findings",
    ]


def test_panel_counts_other_cells():
    one, more = sample.finding(sample.POW, also=1), sample.finding(sample.POW, also=3)
    assert "1 more cell of this seed shows the same" in report_text([sample.started(), sample.finding_event(one)])
    assert "3 more cells of this seed show the same" in report_text(
        [sample.started(), sample.finding_event(more, is_known=True)]
    )
    assert "found by an earlier run in this folder too" in report_text(
        [sample.started(), sample.finding_event(more, is_known=True)]
    )


def test_dry_run_prints_one_line_per_seed():
    events = [sample.started(), SeedRewritten(index=0, seed="a.py", sites=1200, variants=1, cells=0)]
    assert "a.py  1,200 sites, 1 variant" in report_text(events, dry_run=True)
    assert "a.py" not in report_text(events)


def test_progress_is_drawn_and_removed_on_terminal():
    drawn = report_text(sample.whole_run()[:-1], terminal=True, width=80)
    assert "\x1b[?25l" in drawn  # cursor hidden while drawing …
    assert drawn.rindex("\x1b[?25h") > drawn.rindex("\x1b[?25l")  # … and given back
    assert "/3 seeds" in ANSI.sub("", drawn)


def test_nothing_is_drawn_without_terminal():
    text = report_text(sample.whole_run())
    assert "\x1b" not in text
    assert "\r" not in text


def test_progress_is_plain_line_without_terminal(monkeypatch):
    stream = io.StringIO()
    message = threading.Event()
    console = Console(file=stream, width=80, highlight=False)
    with ConsoleReport(console, every=0.01) as report:
        for event in sample.whole_run()[:-1]:
            report.handle(event)
        monkeypatch.setattr(report._progress, "line", lambda: message.set() or "the line")
        assert message.wait(20)
    assert "the line\n" in stream.getvalue()


def test_progress_line_has_counts_and_estimate():
    from eqfuzz.report.run.progress import RunProgress

    now = [0.0]
    progress = RunProgress(clock=lambda: now[0])
    for event in sample.whole_run()[:-2]:
        progress.count(event)
    now[0] = 60.0
    line = progress.line()
    assert line.startswith("2/3 seeds, ok 0, failed 2, ignored 0, ")
    assert ", 12 variants, 4 cells, 4 cells/min, 2 findings, " in line
    assert "flaky 1" in line
    assert line.endswith("1 min 00 s so far, about 30 s left")


def test_the_time_budget_bounds_the_estimate():
    from eqfuzz.report.run.progress import RunProgress

    now = [0.0]
    progress = RunProgress(time_budget=70.0, clock=lambda: now[0])
    for event in sample.whole_run()[:-2]:
        progress.count(event)
    now[0] = 60.0
    assert progress.line().endswith("about 10 s left")


def test_no_color_is_respected(monkeypatch):
    def report() -> str:
        stream = io.StringIO()
        console = Console(file=stream, width=80, force_terminal=True, color_system="standard", highlight=False)
        with ConsoleReport(console) as handler:
            for event in sample.whole_run():
                handler.handle(event)
        return stream.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert COLOUR.search(report())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(report())
