"""Annotations: parsed back as the runner of GitHub Actions parses workflow commands."""

import re

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.machine.github import SHOWN, workflow_commands
from eqfuzz.report.machine.report_files import STEP_SUMMARY, ReportFiles
from eqfuzz.report.machine.report_format import ReportFormat, ReportTarget
from tests.unit.report import sample_events as sample
from tests.unit.report.reports import BUCKET, finding_event, hostile_event, record_of

ISSUE = "https://github.com/pytorch/pytorch/issues/1"


def parsed(line):
    """Level, properties and message, decoded in the order in which the runner does it."""
    command, properties, message = re.fullmatch(r"::([a-z]+) ([^\n]*?)::([^\r\n]*)", line).groups()
    pairs = dict(pair.split("=", 1) for pair in properties.split(","))
    return command, {name: decoded(value, of_property=True) for name, value in pairs.items()}, decoded(message)


def decoded(text, *, of_property=False):
    escapes = {"%0D": "\r", "%0A": "\n"} | ({"%3A": ":", "%2C": ","} if of_property else {})
    for escape, character in escapes.items():
        text = text.replace(escape, character)
    return text.replace("%25", "%")


def test_a_new_finding_is_an_error_at_its_line():
    event = finding_event("out/findings/x", message="10% wrong: a, b::c", bucket=BUCKET)
    error, notice = (parsed(line) for line in workflow_commands(record_of(event)))
    level, properties, message = error
    assert level == "error"
    assert (properties["file"], properties["line"]) == ("seeds/some.py", "1")
    assert properties["title"] == f"wrong-result {BUCKET} [AOTAutograd]"
    assert message == "10% wrong: a, b::c; script: out/findings/x/repro.py"
    assert notice[0] == "notice"


def test_known_issues_are_no_errors_and_a_clean_run_says_what_was_run():
    record = record_of(
        sample.started(), finding_event(issue=ISSUE), sample.cell(0, 0), sample.done(0), sample.summary()
    )
    [notice] = workflow_commands(record)
    assert parsed(notice)[2] == "no new findings; programs: 1: here 1; compiled cells: 1: 1 agree"


def test_metadata_is_a_warning():
    assert workflow_commands(record_of(finding_event(kind=VerdictKind.WRONG_METADATA)))[0].startswith("::warning ")


def test_hostile_texts_end_no_command_and_begin_none(tmp_path):
    text = "\n".join(workflow_commands(record_of(sample.started(), hostile_event(tmp_path))))
    lines = re.split("\r\n|\r|\n|\u2028|\u0085", text)
    assert len(lines) == 2
    level, properties, message = parsed(lines[0])
    assert level == "error"
    assert set(properties) == {"file", "line", "title"}
    assert properties["file"].startswith("seeds/::error file=x,line=1::%0A")
    assert message.startswith("::error file=x,line=1::%0A |`a`")
    assert "\x1b" not in text


def test_buckets_beyond_the_limit_of_github_are_counted():
    events = [finding_event(bucket=f"b{n}", index=n, rules=(str(n),)) for n in range(SHOWN + 3)]
    errors = [line for line in workflow_commands(record_of(*events)) if line.startswith("::error")]
    assert len(errors) == SHOWN
    assert parsed(errors[-1])[2] == "and 4 more buckets"


def test_several_findings_of_a_bucket_are_one_annotation():
    events = [finding_event(bucket=BUCKET, index=n, rules=(str(n),)) for n in range(3)]
    [error, _] = workflow_commands(record_of(*events))
    assert "(2 more findings of this bucket)" in error


def test_summary_is_appended_and_commands_go_to_stderr(tmp_path, monkeypatch, capsys):
    summary = tmp_path / "summary.md"
    summary.write_text("an earlier step\n")
    monkeypatch.setenv(STEP_SUMMARY, str(summary))
    with ReportFiles([ReportTarget(ReportFormat.GITHUB)]) as files:
        files.handle(sample.started())
        files.handle(finding_event())
    assert summary.read_text().startswith("an earlier step\n## eqfuzz: 1 new finding")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("::error ")


def test_summary_goes_to_the_file_that_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(STEP_SUMMARY, str(tmp_path / "other"))
    with ReportFiles([ReportTarget(ReportFormat.GITHUB, tmp_path / "here.md")]) as files:
        files.handle(sample.started())
    assert (tmp_path / "here.md").read_text().startswith("## eqfuzz: ")
    assert not (tmp_path / "other").exists()
    assert "::notice " in capsys.readouterr().err
