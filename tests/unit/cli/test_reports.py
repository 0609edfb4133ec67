"""``--report``: which files a verb writes, and what it refuses."""

from __future__ import annotations

import inspect
import json
from xml.etree import ElementTree

import pytest
import typer

from eqfuzz.cli.app import app
from eqfuzz.cli.options.reports import report_targets
from eqfuzz.cli.options.values import BadOption
from eqfuzz.report.machine.report_files import ReportFiles
from eqfuzz.report.machine.report_format import ReportFormat, ReportTarget
from tests.unit.cli.in_process import call

SEED = "def program(x):\n    return x + 1\n\n\ndef inputs(rng):\n    yield rng.normal(3)\n"


def test_reports_of_several_formats(tmp_path):
    texts = [f"junit={tmp_path}/j.xml", "github", f"sarif={tmp_path}/a=b.sarif"]
    assert report_targets(texts) == (
        ReportTarget(ReportFormat.JUNIT, tmp_path / "j.xml"),
        ReportTarget(ReportFormat.GITHUB),
        ReportTarget(ReportFormat.SARIF, tmp_path / "a=b.sarif"),
    )
    assert report_targets(None) == ()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["html=x"], "--report: 'html' is no format; formats are junit, sarif, markdown, github"),
        (["sarfi=x"], "--report: 'sarfi' is no format, did you mean 'sarif'?"),
        (["junit"], "--report: junit needs a file: write junit=FILE"),
        (["markdown="], "--report: markdown needs a file: write markdown=FILE"),
        (["junit=/no/such/x"], "--report: /no/such/x: no folder /no/such"),
        (["junit=/tmp/r", "sarif=/tmp/r"], "--report: /tmp/r: named for two reports"),
    ],
)
def test_bad_reports_are_refused_in_one_line(texts, message):
    with pytest.raises(BadOption) as raised:
        report_targets(texts)
    assert str(raised.value) == message


def test_file_that_cannot_be_written_ends_as_bad_usage_after_the_others(tmp_path):
    files = ReportFiles(
        [ReportTarget(ReportFormat.SARIF, tmp_path / "no" / "x"), *report_targets([f"junit={tmp_path}/j"])]
    )
    with pytest.raises(Exception, match=r"--report: sarif=.*: No such file or directory"):
        files.close()
    assert (tmp_path / "j").is_file()


def verbs(typer_app, name=""):
    for command in typer_app.registered_commands:
        yield f"{name} {command.name}".strip(), command.callback
    for group in typer_app.registered_groups:
        callback = group.typer_instance.registered_callback
        if callback is not None and callback.callback is not None:
            yield f"{name} {group.name}".strip(), callback.callback
        yield from verbs(group.typer_instance, f"{name} {group.name}".strip())


def test_one_option_for_all_formats_and_verbs():
    reporting = {name for name, callback in verbs(app) if "report" in inspect.signature(callback).parameters}
    assert {
        "mutate",
        "check",
        "campaign",
        "generate dag",
        "generate llm",
        "config tuples",
        "config random",
    } <= reporting
    assert not [name for name, callback in verbs(app) if "junit" in inspect.signature(callback).parameters]
    assert isinstance(app, typer.Typer)


def test_dry_run_writes_every_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SEED)
    (tmp_path / "bad.py").write_text("def program(:\n")
    reports = [
        argument
        for name in ("junit=j.xml", "sarif=s.json", "markdown=m.md", "github=g.md")
        for argument in ("--report", name)
    ]
    result = call("mutate", "a.py", "bad.py", "--dry-run", "--jobs", "1", "--out", "o", "--no-known-issues", *reports)
    assert result.exit_code == 0
    suite = ElementTree.parse("j.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("skipped")) == ("2", "1")
    assert json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"] == []
    text = (tmp_path / "m.md").read_text()
    assert text.startswith("## eqfuzz: nothing was compiled\n")
    assert "`a.py, bad.py`" in text
    assert (tmp_path / "g.md").read_text() == text + "\n"
    assert "::notice title=eqfuzz::nothing was compiled" in result.stderr
