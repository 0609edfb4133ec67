"""Seeds of real defects: their declarations, the classification of runs, and the tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eqfuzz.program.formats import read_program
from eqfuzz.program.release import Release, this_release
from tools.fault_detection.real_defects import __main__ as real_defects
from tools.fault_detection.real_defects.__main__ import DefectJournal, main, table
from tools.fault_detection.real_defects.defect import BadDefect, Defect, read_defect, read_defects
from tools.fault_detection.real_defects.outcome import Outcome, Status, classify, shared_buckets
from tools.release_columns import BEGIN, END, Column

URL = "https://github.com/pytorch/pytorch/issues/198081"
GOOD = f"""cause = "any gives bool"
url = "{URL}"
torch = ">=2.13"
kinds = ["wrong-result"]
regex = 'any'
"""
CODE = "def program(x):\n    return x\n\n\ndef inputs(rng):\n    yield (rng.normal(3),)\n"


def write_seed(folder: Path, declaration: str = GOOD, name: str = "flags") -> Path:
    lines = "".join(f"# {line}\n" for line in declaration.splitlines())
    path = folder / f"{name}.py"
    path.write_text(f'"""Flags."""\n\n# /// defect\n{lines}# ///\n\n{CODE}')
    return path


def verdict(kind: str, message: str = "out[0] differs", path: str = "out[0]", cause: str = "") -> dict:
    return {"kind": kind, "message": message, "evidence": {"path": path}, "cause": cause}


def finding(found_verdict: dict, fingerprint: str = "values · any", bucket: str = "b1") -> dict:
    return {"event": "finding", "verdict": found_verdict, "fingerprint": fingerprint, "suspects": [], "bucket": bucket}


def cell(cell_verdict: dict) -> dict:
    return {"event": "cell", "verdict": cell_verdict}


SUMMARY = {"event": "summary", "errors": []}


@pytest.fixture
def defect(tmp_path) -> Defect:
    return read_defect(write_seed(tmp_path))


def test_shipped_seeds_are_valid_and_declare_distinct_causes():
    defects = read_defects()
    assert len(defects) >= 30
    assert {read_program(defect.path).format for defect in defects} == {"eqfuzz"}


def test_declaration_is_read_from_comments(defect):
    assert (defect.name, defect.cause, defect.url) == ("flags", "any gives bool", URL)
    assert defect.is_in(Release("2.13.0"))
    assert not defect.is_in(Release("2.12.1"))


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("", "flags.py: no declaration between '# /// defect' and '# ///'"),
        ("cause = ", "flags.py: its declaration is not valid TOML: "),
        (GOOD.replace("cause", "reason"), "flags.py: cause: Field required"),
        (f"{GOOD}seed = 1", "flags.py: seed: Extra inputs are not permitted"),
        (GOOD.replace("pytorch/pytorch", "pytorch/vision"), "flags.py: url: String should match pattern"),
        (GOOD.replace(">=2.13", "2.13 on"), "flags.py: torch: Value error, '2.13 on' is no range of versions"),
        (GOOD.replace("wrong-result", "wrong"), "flags.py: kinds.0: Input should be 'agree', "),
        (GOOD.replace("'any'", "'any('"), "flags.py: regex: Value error, missing ), "),
    ],
)
def test_bad_declaration_gives_one_line(tmp_path, capsys, declaration, message):
    write_seed(tmp_path, declaration)
    with pytest.raises(BadDefect) as raised:
        read_defects(tmp_path)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)
    assert main(["--seeds", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_duplicate_cause_is_refused(tmp_path):
    write_seed(tmp_path)
    write_seed(tmp_path, name="masks")
    with pytest.raises(BadDefect, match=r"^masks\.py: flags\.py declares the same cause$"):
        read_defects(tmp_path)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (
            [cell(verdict("wrong-result")), finding(verdict("wrong-result")), SUMMARY],
            Outcome(Status.CONFIRMED, buckets={"b1": "values · any"}),
        ),
        (
            [finding(verdict("wrong-result"), "values · sum"), SUMMARY],
            Outcome(Status.OTHER, "values · sum"),
        ),
        ([finding(verdict("wrong-metadata")), SUMMARY], Outcome(Status.OTHER, "values · any")),
        (
            [cell(verdict("flaky", cause="its script shows no difference")), cell(verdict("agree")), SUMMARY],
            Outcome(Status.FLAKY, "its script shows no difference"),
        ),
        (
            [cell(verdict("inconclusive", "too few are stable")), SUMMARY],
            Outcome(Status.THROWN_AWAY, "inconclusive: too few are stable"),
        ),
        ([cell(verdict("agree")), SUMMARY], Outcome(Status.AGREED)),
        ([{"event": "invalid", "reason": "raises in eager"}, SUMMARY], Outcome(Status.INVALID, "raises in eager")),
        ([{**SUMMARY, "errors": ["it broke"]}], Outcome(Status.ERROR, "it broke")),
        ([cell(verdict("agree"))], Outcome(Status.ERROR, "the run ended before its summary")),
    ],
)
def test_run_is_classified_from_its_events(defect, events, expected):
    assert classify(defect, [{"event": "start"}, *events]) == expected


def test_known_issue_counts_as_confirmed_with_time_of_run(defect):
    known_issue = {**finding(verdict("wrong-result")), "issue": URL}
    outcome = classify(defect, [known_issue, {"event": "done", "cpu_seconds": 7.5}, SUMMARY])
    assert (outcome.status, outcome.seconds) == (Status.CONFIRMED, 7.5)


@pytest.mark.parametrize(("path", "is_shown"), [("out[0]", False), ("gradient of args[0]", True)])
def test_direction_restricts_matching_findings(tmp_path, path, is_shown):
    defect = read_defect(write_seed(tmp_path, f'{GOOD}direction = "gradient"'))
    assert defect.is_shown_by(finding(verdict("wrong-result", path=path))) == is_shown


def test_causes_that_share_a_bucket_are_reported():
    outcomes = {
        "one": Outcome(Status.CONFIRMED, buckets={"b1": "values · any", "b2": "raises"}),
        "two": Outcome(Status.CONFIRMED, buckets={"b2": "raises"}),
    }
    assert shared_buckets(outcomes) == {"raises": ["one", "two"]}


def test_table_has_a_column_for_each_release(defect):
    columns = [
        Column(Release("2.12.0", "cpu"), "2026-11-01", {}),
        Column(Release("2.15.0", "cpu"), "2026-11-25", {"flags": "found and confirmed, in `a|b`"}),
    ]
    assert table([defect], columns).splitlines() == [
        "| root cause | reported | seed | 2.12.0 cpu | 2.15.0 cpu |",
        "|---|---|---|---|---|",
        f"| any gives bool | [198081]({URL}) | [`flags`](../../tools/fault_detection/real/flags.py) | not in range | "
        "found and confirmed, in `a&#124;b` |",
        "",
        "Measured on the CPU: 2.12.0 cpu on 2026-11-01, 2.15.0 cpu on 2026-11-25.",
    ]


def test_tool_resumes_from_its_journal_and_writes_the_page(tmp_path, capsys, monkeypatch):
    seeds, journal, page = tmp_path / "seeds", tmp_path / "journal", tmp_path / "real-defects.md"
    seeds.mkdir()
    flags = write_seed(seeds)
    write_seed(seeds, GOOD.replace("any gives bool", "other").replace(">=2.13", "<2.6"), "old")
    page.write_text(f"Head.\n\n{BEGIN}{END}Foot.\n")
    confirmed = Outcome(Status.CONFIRMED, buckets={"b1": "values · any"}, seconds=3.0)
    runs = []

    def run_seed(defect, out):
        runs.append(defect.name)
        return Outcome(Status.ERROR, "cut off") if len(runs) == 1 else confirmed

    monkeypatch.setattr(real_defects, "run_seed", run_seed)
    arguments = ["--seeds", str(seeds), "--journal", str(journal), "--jobs", "1"]
    assert main(arguments, page) == 1
    assert main([*arguments, "--write"], page) == 0
    assert main(arguments, page) == 0
    assert runs == ["flags", "flags"]
    assert "flags: found and confirmed\n1 found and confirmed\n" in capsys.readouterr().out
    assert "found and confirmed, in `values · any`" in page.read_text()
    assert page.read_text().endswith(f"{END}Foot.\n")
    assert json.loads(page.with_suffix(".json").read_text())[0]["torch"] == this_release().release
    flags.write_text(f"{flags.read_text()}\n# Another program.\n")
    assert main(arguments, page) == 0
    assert runs == ["flags"] * 3


def test_outcomes_of_other_releases_are_ignored(tmp_path, monkeypatch, defect):
    journal = DefectJournal(tmp_path / "journal")
    journal.add(defect, Outcome(Status.AGREED))
    assert journal.outcomes([defect]) == {"flags": Outcome(Status.AGREED)}
    monkeypatch.setattr(real_defects, "this_release", lambda: Release("2.99.0", "cpu"))
    assert journal.outcomes([defect]) == {}


def test_unknown_seed_is_bad_usage(capsys):
    assert main(["--only", "nonesuch"]) == 2
    assert capsys.readouterr().err.startswith("no such seed: nonesuch; there are ")
