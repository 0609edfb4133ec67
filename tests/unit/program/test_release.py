"""Which torch an interpreter has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from eqfuzz.program.release import NoTorch, Release, release_of, this_release

GIT = "d0f2af8b66b20da4baa50644c0cd3f887a2eae2e"
VERSION_FILE = """
from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']
__version__ = {version!r}
debug = False
cuda: Optional[str] = {cuda!r}
git_version = '{git}'
hip: Optional[str] = {hip!r}
xpu: Optional[str] = {xpu!r}
"""


def interpreter(folder: Path, text: str) -> str:
    """A Python whose torch has ``text`` as its version.py, and cannot be imported."""
    package = folder / "packages" / "torch"
    package.mkdir(parents=True)
    (package / "version.py").write_text(text)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    return program(folder, f'PYTHONPATH="{package.parent}" exec "{sys.executable}" "$@"')


def program(folder: Path, script: str) -> str:
    file = folder / "python"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.parametrize(
    ("version", "more", "expected"),
    [
        ("2.15.0+cu132", {"cuda": "13.2"}, Release("2.15.0", "cu132")),
        ("2.13.0+cpu", {}, Release("2.13.0", "cpu")),
        ("2.8.0+cpu.cxx11.abi", {}, Release("2.8.0", "cpu")),
        ("2.8.0+rocm6.4", {"hip": "6.4.43482-0f2d60242"}, Release("2.8.0", "rocm6.4")),
        ("2.9.0+xpu", {"xpu": "20250101"}, Release("2.9.0", "xpu")),
        ("2.13.0", {}, Release("2.13.0", "cpu")),
        ("2.13.0.post1", {"cuda": "12.6"}, Release("2.13.0.post1", "cu126")),
        ("2.13.0", {"hip": "6.4.43482-0f2d60242"}, Release("2.13.0", "rocm6.4")),
        ("2.13.0", {"xpu": "20250101"}, Release("2.13.0", "xpu")),
        ("2.16.0.dev20261120+cu132", {"cuda": "13.2"}, Release("2.16.0.dev20261120", "cu132", GIT)),
        ("2.16.0a0+gitd0f2af8", {"cuda": "13.2"}, Release("2.16.0a0", "cu132", GIT)),
        ("2.5.0a0+872d972e41.nv24.8", {"cuda": "12.6"}, Release("2.5.0a0", "cu126", GIT)),
    ],
)
def test_release_and_build_of_another_interpreter(tmp_path, version, more, expected):
    fields = {"cuda": None, "hip": None, "xpu": None, **more}
    assert release_of(interpreter(tmp_path, VERSION_FILE.format(version=version, git=GIT, **fields))) == expected


def test_this_interpreter_is_read_as_another_is():
    assert this_release() == release_of(sys.executable)
    assert this_release().release == torch.__version__.partition("+")[0]
    assert this_release().build


def test_torch_is_not_imported_for_it():
    code = "import sys; from eqfuzz.program.release import this_release; this_release(); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_a_folder_named_torch_where_one_works_is_not_the_torch_of_the_interpreter(tmp_path, monkeypatch):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    assert release_of(sys.executable) == this_release()


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (f'exec "{sys.executable}" -S "$@"', "it has no torch"),
        ("exit 0", "does not say which torch it has"),
        ("echo not Python", "does not say which torch it has"),
        ("exit 5", "ends with exit status 5"),
        ("echo first >&2; echo last >&2; exit 1", "last"),
    ],
)
def test_interpreter_without_torch_is_one_line(tmp_path, script, expected):
    with pytest.raises(NoTorch) as error:
        release_of(program(tmp_path, script))
    assert str(error.value).startswith(f"{tmp_path / 'python'}: ")
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_interpreter_that_does_not_start_is_one_line(tmp_path):
    (tmp_path / "python").write_text("no program")
    (tmp_path / "python").chmod(0o755)
    with pytest.raises(NoTorch, match="python: does not start: "):
        release_of(str(tmp_path / "python"))


def test_torch_without_readable_version_is_no_torch(tmp_path):
    (tmp_path / "packages" / "torch").mkdir(parents=True)
    with pytest.raises(NoTorch):
        release_of(program(tmp_path, f'PYTHONPATH="{tmp_path / "packages"}" exec "{sys.executable}" -S "$@"'))


@pytest.mark.parametrize(
    ("release", "specifier", "fits"),
    [
        ("2.13.0", ">=2.13,<2.15", True),
        ("2.14.1", ">=2.13,<2.15", True),
        ("2.15.0", ">=2.13,<2.15", False),
        ("2.12.1", ">=2.13,<2.15", False),
        ("2.15.0.dev20261001", ">=2.13,<2.15", False),
        ("2.13.0.dev20260901", ">=2.13,<2.15", True),
        ("2.13.0rc2", ">=2.13", True),
        ("2.13.0a0", "==2.13.*", True),
        ("2.13.0", "", True),
        ("unknown", "", False),
    ],
)
def test_a_range_contains_releases_and_what_leads_to_them(release, specifier, fits):
    assert Release(release, "cu132").fits(specifier) is fits


def test_invalid_range_is_an_error():
    with pytest.raises(ValueError, match="soon"):
        Release("2.13.0").fits("soon")


def test_old_findings_name_no_build():
    old = {"torch": "2.13.0", "python": "3.11.2"}
    assert str(Release.from_versions(old)) == "2.13.0"
    assert Release.from_versions(old).to_versions() == {"torch": "2.13.0"}
    assert str(Release.from_versions({})) == ""


def test_recorded_release_is_read_back():
    for release in (Release("2.15.0", "cu132"), Release("2.16.0.dev20261120", "cpu", GIT)):
        assert Release.from_versions(release.to_versions()) == release
    assert str(Release("2.15.0", "cu132")) == "2.15.0 cu132"
