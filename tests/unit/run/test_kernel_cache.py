"""Kernels on disk: shared by processes with the same source, never half-written."""

import pytest

from eqfuzz.run.environment import KERNELS
from eqfuzz.run.kernels.cache import KernelCache
from eqfuzz.run.kernels.deferred import Built, Kernel

ONE, TWO = Kernel(("float*",), "one"), Kernel(("float*",), "two")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(KERNELS, str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.fixture
def library(tmp_path):
    file = tmp_path / "unit.so"
    file.write_bytes(b"code")
    return str(file)


def test_kernels_that_one_case_built_are_loaded_by_another(folder, library) -> None:
    KernelCache().add([ONE, TWO], [Built(library, "kernels_0"), Built(library, "kernels_1")])
    later = KernelCache()
    assert ONE in later
    assert TWO in later
    assert later[TWO] == Built(str(folder / "unit.so"), "kernels_1")
    assert (folder / "unit.so").read_bytes() == b"code"
    assert Kernel(("double*",), "one") not in later


def test_kernel_that_the_compiler_refused_is_not_shared(folder) -> None:
    store = KernelCache()
    store.refuse(ONE)
    assert ONE in store
    assert store[ONE] is None
    assert ONE not in KernelCache()


def test_incomplete_entry_is_ignored(folder) -> None:
    folder.mkdir()
    (folder / f"{ONE.key}.json").write_text('{"library": "un')
    assert ONE not in KernelCache()


def test_cache_works_in_memory_where_its_folder_cannot_be_written(tmp_path, monkeypatch, library) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(KERNELS, str(tmp_path / "file" / "kernels"))
    store = KernelCache()
    store.add([ONE], [Built(library, "kernels_0")])
    assert store[ONE] == Built(library, "kernels_0")


def test_missing_library_is_not_stored(folder, tmp_path) -> None:
    KernelCache().add([ONE], [Built(str(tmp_path / "gone.so"), "kernels_0")])
    assert ONE not in KernelCache()
    assert list(folder.iterdir()) == []


def test_cache_without_a_folder_is_not_shared(monkeypatch, library) -> None:
    monkeypatch.delenv(KERNELS, raising=False)
    store = KernelCache()
    store.add([ONE], [Built(library, "kernels_0")])
    assert ONE in store
    assert ONE not in KernelCache()


def test_entry_whose_library_was_removed_is_ignored(folder, library) -> None:
    KernelCache().add([ONE], [Built(library, "kernels_0")])
    (folder / "unit.so").unlink()
    assert ONE not in KernelCache()
