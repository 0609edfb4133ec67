"""The defects that eqfuzz found: their scripts, and the table of their outcomes by release."""

from __future__ import annotations

import ast
import json
import sys

import pytest

from eqfuzz.program.release import Release, this_release
from eqfuzz.triage.confirm.replay import ERROR, run_script
from tools.defects_table import BEGIN, END, PAGE, main, read_columns, scripts_of, table, title, with_table

SCRIPTS = scripts_of(PAGE)
FAILING, FIXED, BROKEN = "raise SystemExit(1)", "print('compiled: right')", "raise ValueError('its own')"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_imports_only_torch_and_is_on_the_page(script):
    text = script.read_text(encoding="utf-8")
    imported = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {name.name.split(".")[0] for node in imported for name in node.names} == {"torch"}
    assert len(text.splitlines()) <= 30
    assert title(script) != script.stem
    assert "Exit status: 1 while the defect is there, 0 once it is fixed." in text
    assert f"**`{script.stem}`**" in PAGE.read_text(encoding="utf-8")


def test_page_has_the_table_of_the_stored_results():
    text, columns = PAGE.read_text(encoding="utf-8"), read_columns(PAGE)
    assert with_table(text, table(SCRIPTS, columns)) == text
    assert {name for column in columns for name in column.outcomes} == {script.stem for script in SCRIPTS}
    assert {outcome for column in columns for outcome in column.outcomes.values()} <= {"fixed", "still failing"}


@pytest.mark.long
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_has_the_outcome_on_the_page(script):
    measured = {column.release: column.outcomes[script.stem] for column in read_columns(PAGE)}
    outcome = run_script(script)
    assert outcome.status != ERROR, outcome.output
    assert outcome.status.lower() == measured.get(this_release(), outcome.status.lower()), outcome.output


@pytest.fixture
def page(tmp_path):
    """A page with two scripts, and their outcomes on an older torch."""
    (tmp_path / "defects").mkdir()
    for name, ending in (("lost", FAILING), ("mended", FIXED)):
        (tmp_path / "defects" / f"{name}.py").write_text(f'"""It is {name}."""\n{ending}\n')
    old = {"torch": "2.9.0", "build": "cpu", "date": "2026-01-01", "outcomes": {"lost": "still failing"}}
    again = {**this_release().to_versions(), "date": "2026-01-01", "outcomes": {"lost": "fixed", "mended": "fixed"}}
    (tmp_path / "found.json").write_text(json.dumps([again, old]))
    (tmp_path / "found.md").write_text(f"# Before\n\n{BEGIN}old\n{END}\nAfter.\n")
    return tmp_path / "found.md"


def test_new_results_replace_their_column_only(page, capsys):
    assert main(["--python", sys.executable, "--write"], page) == 0
    old, now = read_columns(page)
    assert (old.release, old.outcomes) == (Release("2.9.0", "cpu"), {"lost": "still failing"})
    assert (now.release, now.outcomes) == (this_release(), {"lost": "still failing", "mended": "fixed"})
    assert old.date == "2026-01-01" < now.date
    text = page.read_text()
    assert text.startswith("# Before\n")
    assert text.endswith("\nAfter.\n")
    assert "old\n" not in text
    assert f"| defect | script | 2.9.0 cpu | {this_release()} |" in text.splitlines()
    assert "| It is lost | [`lost`](defects/lost.py) | still failing | still failing |" in text.splitlines()
    assert "| It is mended | [`mended`](defects/mended.py) | not run | fixed |" in text.splitlines()
    assert text.split(BEGIN)[1].split(END)[0] in capsys.readouterr().out


def test_running_one_script_keeps_outcomes_of_others(page):
    assert main(["lost", "--python", sys.executable, "--write"], page) == 0
    assert read_columns(page)[1].outcomes == {"lost": "still failing", "mended": "fixed"}


def test_nothing_is_written_without_the_option(page, capsys):
    before = page.read_text(), page.with_suffix(".json").read_text()
    assert main(["--python", sys.executable], page) == 0
    assert (page.read_text(), page.with_suffix(".json").read_text()) == before
    assert "| 2.9.0 cpu |" in capsys.readouterr().out


def test_without_an_interpreter_the_stored_results_are_written(page):
    assert main(["--write"], page) == 0
    assert "| It is lost | [`lost`](defects/lost.py) | still failing | fixed |" in page.read_text()


def test_script_that_breaks_down_is_reported(page, capsys):
    (page.parent / "defects" / "lost.py").write_text(BROKEN)
    assert main(["--python", sys.executable], page) == 3
    assert capsys.readouterr().err == f"lost with {this_release()} broke down: ValueError: its own\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--python", "/no/such/python"], "--python: /no/such/python: does not start: No such file or directory\n"),
        (["nonsense"], "no such script: nonsense; there are lost, mended\n"),
    ],
)
def test_bad_usage_is_one_line(page, capsys, arguments, line):
    assert main([*arguments, "--write"], page) == 2
    assert capsys.readouterr().err == line
    assert "old\n" in page.read_text()
