"""What a run records of its versions."""

from eqfuzz.program.release import Release, this_release
from eqfuzz.triage.findings.versions import versions


def test_a_run_records_release_and_build():
    recorded = versions()
    assert Release.from_versions(recorded) == this_release()
    assert recorded["build"]
    assert list(recorded)[:3] == ["eqfuzz", "torch", "build"]
    assert "libcst" in recorded
    assert "python" in recorded


def test_a_run_with_a_nightly_records_its_revision(monkeypatch):
    nightly = Release("2.16.0.dev20261120", "rocm6.4", "d0f2af8b66b2")
    monkeypatch.setattr("eqfuzz.triage.findings.versions.this_release", lambda: nightly)
    recorded = versions()
    assert {name: recorded[name] for name in ("torch", "build", "git")} == {
        "torch": "2.16.0.dev20261120",
        "build": "rocm6.4",
        "git": "d0f2af8b66b2",
    }
