"""The README's report is what its command prints."""

from __future__ import annotations

import re

import pytest

from eqfuzz.program.release import this_release
from tools import readme_report
from tools.readme_report import README, NoReport, command_of, release_of, report_of, with_report

TEXT = README.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(release_of(TEXT) != this_release().release, reason="the report is of another release")
def test_readme_shows_what_its_command_prints() -> None:
    report = report_of(command_of(TEXT))
    assert without_machine(with_report(TEXT, report)) == without_machine(TEXT)


def without_machine(text: str) -> str:
    """The text without what vector width and build decide.

    These are the last digits of values, the name of the build, and which operators are wrong by themselves: with AVX2,
    the defect of this report shows in the whole program alone.
    """
    text = re.sub(r"\d\.\d+(e-\d+)?| cu\d+| cpu$", "#", text, flags=re.MULTILINE)
    return re.sub(r"│\n│ wrong by itself: (?:.*\n)*?(?=╰)", "", text)


def test_block_is_replaced_and_the_rest_stays() -> None:
    replaced = with_report(TEXT, "╭ another\n")
    assert "╭ another\n```\n<!-- report: end -->" in replaced
    assert "wrong-result" not in replaced[replaced.index("<!-- report: begin -->") :].partition("<!-- report: end")[0]
    assert with_report(replaced, "╭ another\n") == replaced
    assert command_of(replaced) == command_of(TEXT)


def test_command_without_a_finding_is_no_report(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(readme_report, "ROOT", tmp_path)
    with pytest.raises(NoReport, match="no such file"):
        report_of("eqfuzz mutate none.py")


def test_readme_without_the_block_is_refused() -> None:
    with pytest.raises(ValueError, match="no report between"):
        command_of("# eqfuzz\n")
