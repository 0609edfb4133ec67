"""What the C++ compiler makes once: kept by the first run that has it, given to those that come later."""

import getpass
import os
import shutil
import sys

import pytest

from eqfuzz.run.environment import Environment
from eqfuzz.run.kernels.toolchain import furnish, keep
from eqfuzz.triage.confirm.fresh_process import run_fresh


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path / "xdg" / "eqfuzz"


def headers(environment: Environment):
    return environment.temporary_dir() / f"torchinductor_{getpass.getuser()}" / "precompiled_headers"


@pytest.fixture
def started(tmp_path) -> Environment:
    """A run whose start has made everything, graphs of its own too."""
    environment = Environment(tmp_path / "first")
    headers(environment).mkdir(parents=True)
    (headers(environment) / "prefix.h.gch").write_bytes(b"header")
    for name in ("ab/probe.so", "ab/probe.cpp", "cd/graph.py"):
        file = environment.cache_dir() / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"made")
    return environment


def test_first_run_reuses_nothing_and_writes_nothing(tmp_path, cache) -> None:
    assert not furnish(Environment(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert not cache.exists()


def test_a_later_run_gets_header_and_probes_and_no_graphs(started, tmp_path) -> None:
    keep(started)
    later = Environment(tmp_path / "later")
    assert furnish(later)
    assert (headers(later) / "prefix.h.gch").read_bytes() == b"header"
    assert sorted(file.name for file in later.cache_dir().glob("*/*")) == ["probe.cpp", "probe.so"]
    assert furnish(later)  # the same run, again


def test_toolchain_is_not_stored_after_a_preload(started, tmp_path, cache) -> None:
    preload = tmp_path / "plant.py"
    preload.write_text("import torch")
    keep(Environment(started.out, preload))
    assert not cache.exists()


def test_toolchain_is_not_stored_where_nothing_was_built(tmp_path, cache) -> None:
    keep(Environment(tmp_path / "out"))
    assert not cache.exists()


def test_probes_are_stored_without_a_header(started, tmp_path) -> None:
    shutil.rmtree(headers(started))
    keep(started)
    later = Environment(tmp_path / "later")
    assert furnish(later)
    assert sorted(file.name for file in later.cache_dir().glob("*/*")) == ["probe.cpp", "probe.so"]
    assert list(headers(later).iterdir()) == []


def test_another_compiler_has_a_folder_of_its_own(started, tmp_path, monkeypatch) -> None:
    keep(started)
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    assert not furnish(Environment(tmp_path / "later"))


def test_only_the_three_most_recent_toolchains_are_kept(started, cache) -> None:
    for number in range(5):
        folder = cache / f"toolchain-{number}"
        folder.mkdir(parents=True)
        os.utime(folder, (number, number))
    keep(started)
    left = {folder.name for folder in cache.iterdir()}
    assert len(left) == 3
    assert {"toolchain-4", "toolchain-3"} < left


def test_cache_folder_that_cannot_be_written_is_no_error(started, tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    keep(started)
    assert not furnish(Environment(tmp_path / "later"))


def test_a_fresh_process_of_this_python_gets_the_probes(started, tmp_path) -> None:
    keep(started)
    listing = "import os; print(sorted(f for _, _, fs in os.walk(os.environ['TORCHINDUCTOR_CACHE_DIR']) for f in fs))"
    assert run_fresh([sys.executable, "-c", listing], 60).output == "['probe.cpp', 'probe.so']\n"
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    assert run_fresh([str(other), "-c", listing], 60).output == "[]\n"
