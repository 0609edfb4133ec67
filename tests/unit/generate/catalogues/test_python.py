"""The catalogue of Python: expressions of different results, written alike by every process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from eqfuzz.generate.catalogues.python.calls import functions, methods
from eqfuzz.generate.catalogues.python.entries import PythonSample, entries_of_python
from tests.unit.generate.catalogues.test_modules_optimizers_numpy import listed, program, read

TEXTS = """
import torch
from eqfuzz.generate.catalogues.python.entries import entries_of_python
for entry in entries_of_python():
    if entry.name in ("set_pop", "frozenset_union", "py_set", "expression_getitem"):
        print(entry.name, [sample.text for sample in entry.samples(torch.float32)])
"""


def texts(name: str) -> list[str]:
    entry = next(entry for entry in entries_of_python() if entry.name == name)
    return [sample.text for sample in entry.samples(torch.float32) if isinstance(sample, PythonSample)]


def test_methods_functions_operators_and_statements_are_listed_for_one_dtype():
    entries = listed("python")
    for name in ("deque_rotate", "py_sorted", "py_itertools_groupby", "expression_floordiv", "update_iadd"):
        assert entries[name] == ("float32",)
    assert entries["statement_generators"] == ("float32",)


def test_what_is_not_pure_is_left_out():
    assert {"open", "exec", "exit", "id", "hash", "print"}.isdisjoint(functions())
    assert "copy" in set(methods(dict))
    assert "real" not in set(methods(bool))


def test_changes_show_their_result_and_what_they_change():
    assert all("after(" in text for text in texts("deque_rotate"))
    assert any(text.startswith("list(itertools.islice(itertools.cycle(") for text in texts("py_itertools_cycle"))


def test_what_raises_gives_the_name_of_the_exception():
    raising = [text for text in texts("list_index") if text.startswith("outcome(lambda: ")]
    assert 1 <= len(raising) <= 3


@pytest.mark.parametrize("name", ["list_insert", "py_divmod", "statement_bound_arguments", "statement_managers"])
def test_program_gives_the_results_in_eager(name):
    source, run, inputs = program(read("python", name))
    results = run(*inputs)
    assert len(results) == len(texts(name))
    assert all(isinstance(tensor, torch.Tensor) for tensor, _ in results)
    if name == "py_divmod":
        assert (3, 1) in [value for _, value in results] or "divmod(" in source
    if name == "statement_managers":
        assert "def managers(swallow, fail):" in source
        assert [value[-1] for _, value in results] == ["after", "ValueError", "KeyError", "after"]


def test_texts_are_the_same_in_every_process():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", TEXTS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert "set_pop" in outputs.pop()
