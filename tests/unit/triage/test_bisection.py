"""What is made of the bisector's words; the bisector itself is run by a slow test of the main job."""

import json
from pathlib import Path

import pytest

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.findings.stage import Blame
from eqfuzz.triage.locate.bisection import NotBlamed, bisect
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.triage.findings import finding_of

AMIN = {"backend": "inductor", "subsystem": "lowerings", "number": 1, "detail": "amin"}


def python_that(folder: Path, body: str) -> str:
    """An interpreter that runs ``body`` instead of what it is given."""
    script = folder / "python"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "findings", finding_of(), ReproducerScript("print('hello')"), None)


def test_last_line_in_json_is_the_result(folder, tmp_path):
    python = python_that(tmp_path, f"echo '{{broken'; echo '{json.dumps(AMIN)}'; echo warning >&2")
    assert bisect(folder, finding_of(), python) == Blame("inductor", "lowerings", 1, "amin")


def test_missing_fields_are_empty(folder, tmp_path):
    result = {"backend": "eager", "subsystem": None, "number": None, "detail": None}
    assert bisect(folder, finding_of(), python_that(tmp_path, f"echo '{json.dumps(result)}'")) == Blame("eager")


@pytest.mark.parametrize(("detail", "change"), [("pass_pattern_0", "pointless_view"), ("remove_noop_ops", "")])
def test_faulty_part_of_the_same_pass_is_kept(folder, tmp_path, detail, change):
    result = {"backend": "inductor", "subsystem": "joint_graph_passes", "number": 4, "detail": detail}
    previous = Blame("inductor", "joint_graph_passes", 2, "pass_pattern_0", "pointless_view")
    blame = bisect(folder, finding_of(blame=previous), python_that(tmp_path, f"echo '{json.dumps(result)}'"))
    assert blame == Blame("inductor", "joint_graph_passes", 4, detail, change)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo '{}'", "no backend"),
        ("echo boom; exit 1", "boom"),
        ("exit 0", "no output"),
        ("sleep 20", "did not end within 1 s"),
    ],
)
def test_failure_of_the_bisector_is_reported(folder, tmp_path, body, message):
    with pytest.raises(NotBlamed, match=message):
        bisect(folder, finding_of(), python_that(tmp_path, body), seconds=1)


@pytest.mark.parametrize(
    ("kind", "way", "planted"),
    [(VerdictKind.WRONG_RESULT, "inside", "given"), (VerdictKind.PROCESS_CRASH, "outside", "beside")],
)
def test_a_preload_is_executed_once(tmp_path, kind, way, planted):
    """By the bisector, once for all runs of the script; by the script where each run has its own process."""
    (tmp_path / "plant.py").write_text("")
    folder = write_folder(tmp_path / "findings", finding_of(kind), ReproducerScript(""), tmp_path / "plant.py")
    log = tmp_path / "log"
    body = f"""echo "$3 ${{4:-none}} $(ls $(dirname $2))" > {log}; echo '{json.dumps(AMIN)}'"""
    bisect(folder, finding_of(kind), python_that(tmp_path, body))
    result = log.read_text().split()
    assert result[0] == way
    assert (result[1] == str(folder / "preload.py")) == (planted == "given")
    assert ("preload.py" in result[2:]) == (planted == "beside")
