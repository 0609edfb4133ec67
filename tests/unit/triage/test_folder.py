"""A finding's folder once it is reduced: what the run saw stays beside it."""

import dataclasses
from pathlib import Path

import pytest

from eqfuzz.triage.findings.finding import ReductionResult
from eqfuzz.triage.findings.folder import preload_in, put_reduced, read_finding, write_folder
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.triage.findings import SOURCE, finding_of

REDUCED = ReductionResult((3, 1), (20, 2), (900, 60), 57)


@pytest.fixture
def folder(tmp_path):
    preload = tmp_path / "plant.py"
    preload.write_text("# a preload")
    return write_folder(tmp_path / "findings", finding_of(), ReproducerScript("first"), preload)


def smaller(body):
    return dataclasses.replace(finding_of(source=SOURCE.replace("x + 1", body)), reduced=REDUCED)


def test_reduced_finding_replaces_the_first_which_stays_in_unreduced(folder):
    names = {path.name for path in folder.iterdir()}
    for script, body in (("second", "x - 1"), ("third", "x")):
        put_reduced(folder, smaller(body), ReproducerScript(script))
        assert read_finding(folder) == smaller(body)
        assert (folder / "repro.py").read_text() == script
        assert f"return {body}\n" in (folder / "variant.py").read_text()
        unreduced = folder / "unreduced"
        assert read_finding(unreduced) == finding_of()
        assert (unreduced / "repro.py").read_text() == "first"
        assert (unreduced / "variant.py").read_text() == SOURCE
        assert {path.name for path in unreduced.iterdir()} == names
        assert {path.name for path in folder.iterdir()} == names | {"unreduced"}


def test_preload_is_copied_to_both_folders(folder):
    put_reduced(folder, smaller("x"), ReproducerScript("second"))
    assert preload_in(folder) == (folder / "preload.py").resolve()
    assert (folder / "unreduced" / "preload.py").read_text() == "# a preload"


def test_interrupted_copy_is_made_again(folder, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "rename", interrupt)
        put_reduced(folder, smaller("x"), ReproducerScript("second"))
    assert not (folder / "unreduced").exists()
    put_reduced(folder, smaller("x"), ReproducerScript("second"))
    assert read_finding(folder / "unreduced") == finding_of()


def interrupt(*_):
    raise KeyboardInterrupt
