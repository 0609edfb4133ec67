"""Console report of a self-check: which part is measured, and how far."""

from __future__ import annotations

import io
import time

from rich.console import Console

from eqfuzz.events.self_check import SelfCheckProgress, SelfCheckStep, SelfCheckSummary
from eqfuzz.report.verbs.self_check import SelfCheckReport


def test_progress_names_the_part_and_starts_anew_with_each() -> None:
    out = io.StringIO()
    with SelfCheckReport(Console(file=out, width=100), every=0.05) as report:
        for part, done, total in (("recall", 3, 132), ("recall", 4, 132), ("program and rewrite, eager", 10, 5000)):
            report.handle(SelfCheckProgress(part=part, done=done, total=total))
            _await_line(out, f"{done:,}/{total:,} done, {part}, ")
        report.handle(SelfCheckStep(step="recall", passed=True, detail="9 faults planted", seconds=2.0))
        report.handle(SelfCheckSummary(passed=True, failed=[], seconds=3.0))
        ended = out.getvalue()
        time.sleep(0.2)
        assert out.getvalue() == ended, "nothing is drawn after the end"
    assert "✓ recall  9 faults planted, 2.0 s\n" in ended
    assert ended.endswith("self-check passed  ·  3.0 s\n")


def _await_line(out: io.StringIO, beginning: str) -> None:
    deadline = time.monotonic() + 20
    while not any(line.startswith(beginning) for line in out.getvalue().splitlines()):
        assert time.monotonic() < deadline, out.getvalue()
        time.sleep(0.01)
