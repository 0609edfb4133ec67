"""The gallery of defects: its pages, their scripts, and the table of their outcomes by release."""

from __future__ import annotations

import ast
import json
import re
import sys

import pytest

from eqfuzz.program.release import Release, this_release
from eqfuzz.program.shipped import folder
from eqfuzz.report.issue import without_docstring
from eqfuzz.triage.confirm.replay import ERROR, run_script
from eqfuzz.triage.findings.severity import Severity
from eqfuzz.triage.upstream.boolean_function import boolean_function
from eqfuzz.triage.upstream.evidence import ProgramTraits
from tests.unit.triage.upstream.evidences import evidence_of
from tools.gallery import FOLDER, INDEX, ISSUES, NOT_REPORTED, RESULTS, Defect, InvalidPage, defects_in, main, table
from tools.release_columns import BEGIN, END, read_columns, with_table

DEFECTS = defects_in(FOLDER)
FAILING, FIXED, BROKEN = "raise SystemExit(1)", "print('compiled: right')", "raise ValueError('its own')"
UPSTREAM = re.compile(r"(near )?https://github\.com/pytorch/pytorch/(issues|pull)/\d+")
PAGE = """---
severity: {severity}
component: Inductor
upstream: {upstream}
seed: seeds/a.py
found by: a campaign
---

# It is {name}

Why.
"""


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_page_has_a_script_and_a_seed(defect):
    text = defect.script.read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    modules = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    modules += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    assert {module.split(".")[0] for module in modules} <= {"torch", "numpy", *sys.stdlib_module_names}
    assert len(text.splitlines()) <= 30
    docstring = ast.get_docstring(ast.parse(text)) or ""
    assert docstring.splitlines()[0] == f"{defect.title}."
    assert "Exit status: 1 while the defect is there, 0 once it is fixed." in docstring
    assert defect.upstream == NOT_REPORTED or UPSTREAM.fullmatch(defect.upstream)
    assert (folder("seeds").parent / defect.seed).is_file()
    assert f"[Script]({defect.script.name})" in defect.page.read_text(encoding="utf-8")


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_page_has_an_issue_with_its_script(defect):
    text = (FOLDER / ISSUES / defect.page.name).read_text(encoding="utf-8")
    script = without_docstring(defect.script.read_text(encoding="utf-8"))
    assert script in text or boolean_function(script).text.strip("\n") in text
    failing = [c.release for c in read_columns(FOLDER / RESULTS) if c.outcomes.get(defect.name) == "still failing"]
    measured = [str(release.release) for release in failing if f"PyTorch version: {release.release}" in text]
    assert measured
    assert not re.search(r"/tmp/|/site-packages/|/docs/findings/", text)
    assert f"<!-- {defect.title} -->" in text


def test_numbers_are_used_once_and_nothing_else_lies_in_the_folder():
    numbers = [defect.number for defect in DEFECTS]
    assert len(set(numbers)) == len(numbers)
    files = {path for defect in DEFECTS for path in (defect.page, defect.script)}
    assert {path.name for path in (FOLDER / ISSUES).iterdir()} == {defect.page.name for defect in DEFECTS}
    assert {path for path in FOLDER.iterdir() if path.is_file()} == {*files, FOLDER / INDEX, FOLDER / RESULTS}


def test_index_has_the_table_of_the_stored_results():
    text, columns = (FOLDER / INDEX).read_text(encoding="utf-8"), read_columns(FOLDER / RESULTS)
    assert with_table(text, table(DEFECTS, columns)) == text
    assert {name for column in columns for name in column.outcomes} == {defect.name for defect in DEFECTS}
    assert {outcome for column in columns for outcome in column.outcomes.values()} <= {"fixed", "still failing"}


@pytest.mark.long
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_script_has_the_outcome_in_the_index(defect):
    measured = {column.release: column.outcomes.get(defect.name) for column in read_columns(FOLDER / RESULTS)}
    outcome = run_script(defect.script)
    assert outcome.status != ERROR, outcome.output
    assert outcome.status.lower() == (measured.get(this_release()) or outcome.status.lower()), outcome.output


def add(gallery, name, ending, **fields):
    fields = {"severity": "crash", "upstream": NOT_REPORTED, "name": name[4:], **fields}
    (gallery / f"{name}.md").write_text(PAGE.format(**fields))
    (gallery / f"{name}.py").write_text(f'"""It is {name[4:]}."""\n{ending}\n')


@pytest.fixture
def gallery(tmp_path):
    """Two defects, and their outcomes on an older torch."""
    add(tmp_path, "001-mended", FIXED)
    add(
        tmp_path,
        "002-lost",
        FAILING,
        severity="wrong-values",
        upstream="near https://github.com/pytorch/pytorch/issues/7",
    )
    old = {"torch": "2.9.0", "build": "cpu", "date": "2026-01-01", "outcomes": {"002-lost": "still failing"}}
    outcomes = {"002-lost": "fixed", "001-mended": "fixed"}
    again = {**this_release().to_versions(), "date": "2026-01-01", "outcomes": outcomes}
    (tmp_path / RESULTS).write_text(json.dumps([again, old]))
    (tmp_path / INDEX).write_text(f"# Before\n\n{BEGIN}old\n{END}\nAfter.\n")
    return tmp_path


def test_page_is_read_whole_and_the_gravest_is_first(gallery):
    first, second = defects_in(gallery)
    assert first == Defect(
        page=gallery / "002-lost.md",
        title="It is lost",
        severity=Severity.WRONG_VALUES,
        component="Inductor",
        upstream="near https://github.com/pytorch/pytorch/issues/7",
        seed="seeds/a.py",
        origin="a campaign",
    )
    assert (second.number, second.severity) == ("001", Severity.CRASH)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("component: Inductor\n", "", "002-lost.md: no field 'component'\n"),
        ("wrong-values", "bad", "002-lost.md: 'bad' is not a valid Severity\n"),
    ],
)
def test_page_with_a_bad_field_is_refused(gallery, capsys, old, new, line):
    page = gallery / "002-lost.md"
    page.write_text(page.read_text().replace(old, new))
    with pytest.raises(InvalidPage):
        defects_in(gallery)
    assert main(["--write"], gallery) == 2
    assert capsys.readouterr().err == line


def test_new_results_replace_their_column_only(gallery, capsys):
    assert main(["--python", sys.executable, "--write"], gallery) == 0
    old, now = read_columns(gallery / RESULTS)
    assert (old.release, old.outcomes) == (Release("2.9.0", "cpu"), {"002-lost": "still failing"})
    assert (now.release, now.outcomes) == (this_release(), {"001-mended": "fixed", "002-lost": "still failing"})
    assert old.date == "2026-01-01" < now.date
    text = (gallery / INDEX).read_text()
    assert text.startswith("# Before\n")
    assert text.endswith("\nAfter.\n")
    assert "old\n" not in text
    rows = text.splitlines()
    assert f"|  | defect | severity | component | upstream | 2.9.0 cpu | {this_release()} |" in rows
    near = "near [#7](https://github.com/pytorch/pytorch/issues/7)"
    assert (
        f"| 002 | [It is lost](002-lost.md) | wrong-values | Inductor | {near} | still failing | still failing |"
        in rows
    )
    assert f"| 001 | [It is mended](001-mended.md) | crash | Inductor | {NOT_REPORTED} | not run | fixed |" in rows
    assert text.split(BEGIN)[1].split(END)[0] in capsys.readouterr().out


def test_running_one_script_keeps_outcomes_of_others(gallery):
    assert main(["002-lost", "--python", sys.executable, "--write"], gallery) == 0
    assert read_columns(gallery / RESULTS)[1].outcomes == {"002-lost": "still failing", "001-mended": "fixed"}


def test_nothing_is_written_without_the_option(gallery, capsys):
    files = gallery / INDEX, gallery / RESULTS
    before = [file.read_text() for file in files]
    assert main(["--python", sys.executable], gallery) == 0
    assert [file.read_text() for file in files] == before
    assert "| 2.9.0 cpu |" in capsys.readouterr().out


def test_issue_has_explanation_script_output_and_versions(gallery):
    log = "I1125 23:37:42.348000 19996 torch/_inductor/scheduler.py:4143] [0/1] fused\\n"
    code = f"print('its first letters\\n{log}{log}', __file__)\nprint('compiled: 2')\nraise SystemExit(1)"
    (gallery / "002-lost.py").write_text(f'"""It is lost."""\n\n{code}\n')
    page = gallery / "002-lost.md"
    page.write_text(page.read_text() + "\nSearched upstream: `lost`\n(today).\n\n[Script](002-lost.py).\n")
    assert main(["--python", sys.executable, "--issues"], gallery) == 0
    assert [file.name for file in (gallery / ISSUES).iterdir()] == ["002-lost.md"]
    text = (gallery / ISSUES / "002-lost.md").read_text()
    parts = [
        "<!-- Upstream: near https://github.com/pytorch/pytorch/issues/7 -->\n<!-- It is lost -->",
        "### 🐛 Describe the bug\n\nWhy.\n\n```python",
        "print('compiled: 2')\nraise SystemExit(1)\n```",
        "It prints\n\n```\n 002-lost.py\ncompiled: 2\n```",
        f"Exit status by release: 2.9.0 cpu: still failing; {this_release()}: still failing.",
        f"### Versions\n\n```\nPyTorch version: {this_release().release}",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "Searched" not in text
    assert "Script" not in text


def test_issue_with_evidence_has_what_was_tried_and_the_gate_is_printed(gallery, capsys, monkeypatch):
    tried = evidence_of("def test_fn() -> bool:\n    return False\n", traits=ProgramTraits(ties=("argmax",)))
    monkeypatch.setattr("tools.gallery_issue.EvidenceCollector.collect", lambda *about: tried)
    (gallery / "002-lost.py").write_text('"""It is lost."""\nprint(\'compiled: 2\')\nraise SystemExit(1)\n')
    assert main(["002-lost", "--python", sys.executable, "--issues", "--evidence"], gallery) == 0
    output = capsys.readouterr().out
    assert "002-lost: see to\n  tie: argmax chooses one of several equal values; " in output
    text = (gallery / ISSUES / "002-lost.md").read_text()
    parts = [
        "def test_fn() -> bool:\n    return False\n```",
        "It prints\n\n```\ncompiled: 1\n```",
        "It fails in 3 of 3 runs",
        "| 2.9.0 cpu | still fails |",
        f"| {this_release()} | still fails |",
        "`module: correctness (silent)`",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "Exit status by release" not in text


def test_script_that_ends_differently_each_time_is_reported(gallery, capsys):
    seen = gallery / "seen"
    second_run = f"if seen.exists():\n    {FAILING}\nseen.touch()\n"
    (gallery / "002-lost.py").write_text(f"import pathlib\n\nseen = pathlib.Path({str(seen)!r})\n{second_run}")
    assert main(["002-lost", "--python", sys.executable, "--times", "2"], gallery) == 3
    line = "it does not end the same way each time: FIXED, STILL FAILING"
    assert capsys.readouterr().err == f"002-lost with {this_release()} broke down: {line}\n"


def test_script_that_breaks_down_is_reported(gallery, capsys):
    (gallery / "002-lost.py").write_text(BROKEN)
    assert main(["--python", sys.executable], gallery) == 3
    assert capsys.readouterr().err == f"002-lost with {this_release()} broke down: ValueError: its own\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--python", "/no/such/python"], "--python: /no/such/python: does not start: No such file or directory\n"),
        (["nonsense"], "no such defect: nonsense; there are 001-mended, 002-lost\n"),
    ],
)
def test_bad_usage_is_one_line(gallery, capsys, arguments, line):
    assert main([*arguments, "--write"], gallery) == 2
    assert capsys.readouterr().err == line
    assert "old\n" in (gallery / INDEX).read_text()
