"""Projects that use eqfuzz, installed from its wheel in an environment without its source."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.commandline import write
from tests.integration.test_imported_package import SHIFTED_RELU

ROOT = Path(__file__).parents[2]
PROJECTS = ROOT / "tests" / "data" / "projects"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def run(*command: object, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with eqfuzz from its wheel; what eqfuzz needs is that of this environment."""
    folder = tmp_path_factory.mktemp("installed")
    built = run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT),
        folder=folder,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("eqfuzz-*.whl")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    installed = run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel), folder=folder
    )
    assert installed.returncode == 0, installed.stderr
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    where = run(python, "-c", "import eqfuzz; print(eqfuzz.__file__)", folder=folder)
    assert Path(where.stdout.strip()).is_relative_to(packages), where.stdout
    return python


@pytest.mark.long
def test_model_is_checked_from_python(python: Path, tmp_path: Path):
    project = shutil.copytree(PROJECTS / "pictures", tmp_path / "pictures")
    done = run(python, "check.py", folder=project)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "pictures.model:Pictures: compiled code agrees with eager" in done.stdout
    assert "a training step" in done.stdout


@pytest.mark.long
def test_wrong_part_of_a_model_is_shown_as_a_short_program(python: Path, tmp_path: Path):
    project = shutil.copytree(PROJECTS / "pictures", tmp_path / "pictures")
    done = run(python, "check.py", write(project, "relu.py", SHIFTED_RELU), folder=project)
    assert done.returncode == 1, done.stderr + done.stdout
    assert "compiled code differs from eager" in done.stdout
    _, details = done.stdout.split("-- forward and backward --\n")
    submodule, *program = details.split("-- ")[0].strip().splitlines()
    assert submodule == "stem.2"
    assert "relu" in "\n".join(program)
    assert len(program) < 15


@pytest.mark.parametrize("name", ["score", pytest.param("tagger", marks=pytest.mark.long)])
def test_tests_pass(python: Path, tmp_path: Path, name: str):
    project = shutil.copytree(PROJECTS / "words", tmp_path / "words")
    done = run(python, "-m", "pytest", "-q", "-k", name, "--eqfuzz-jobs", 1, folder=project)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert (project / "eqfuzz-out" / f"tests-test_model.py-test_{name}_may_be_compiled" / "programs").is_dir()


@pytest.mark.long
def test_wrong_model_fails_with_a_short_program(python: Path, tmp_path: Path):
    project = shutil.copytree(PROJECTS / "words", tmp_path / "words")
    preload = write(project, "relu.py", SHIFTED_RELU)
    done = run(python, "-m", "pytest", "-q", "-k", "tagger", "--eqfuzz-preload", preload, folder=project)
    assert done.returncode == 1, done.stdout
    failed = [line[1:].strip() for line in done.stdout.splitlines() if line.startswith("E ")]
    assert failed[0].startswith("eqfuzz.api.report.NotEquivalent: words.model:Tagger: compiled code differs from eager")
    text = "\n".join(failed)
    assert "in mix.1, wrong-result" in text
    lines = re.search(r"these (\d+) lines differ in the same way", text)
    assert lines is not None, text
    assert int(lines[1]) < 15
