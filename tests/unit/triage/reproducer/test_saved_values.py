"""Values that one process saves and another compares."""

import json

import pytest
import torch

from eqfuzz.oracle.compare.verdict import Evidence
from eqfuzz.run.sandbox.init_process import SAVED
from eqfuzz.triage.reproducer.saved_values import (
    NotSaved,
    SavedValue,
    element_differs,
    metadata_differ,
    save,
    values_differ,
)


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.setenv(SAVED, str(tmp_path / "saved"))

    def through(value) -> SavedValue:
        save(value)
        return SavedValue.read((tmp_path / "saved").read_text())

    return through


@pytest.mark.parametrize(
    "value",
    [
        torch.linspace(0, 1, 6).reshape(2, 3),
        torch.arange(6).reshape(2, 3).t(),
        torch.tensor(3, dtype=torch.bool),
        torch.tensor([1.5, float("nan")], dtype=torch.bfloat16),
        torch.tensor([1 + 2j]).conj(),
        torch.empty(0, 3),
        torch.ones(3, requires_grad=True),
    ],
)
def test_saved_tensors_are_read_back(saved, value) -> None:
    read = saved(value)
    assert read.tensor is not None
    assert torch.equal(torch.nan_to_num(read.tensor), torch.nan_to_num(value.detach()))
    assert not values_differ(read, saved(value))
    assert not metadata_differ(read, saved(value))


def test_differences_of_saved_values_are_detected(saved) -> None:
    ones = saved(torch.ones(2, 3))
    assert values_differ(ones, saved(torch.zeros(2, 3)))
    assert values_differ(ones, saved(torch.ones(3, 2)))
    assert values_differ(ones, saved(None))
    assert values_differ(saved(["a"]), saved(["b"]))
    assert not values_differ(saved(["a"]), saved(["a"]))
    assert metadata_differ(ones, saved(torch.ones(2, 3).double()))
    assert metadata_differ(ones, saved(torch.ones(3, 2).t()))
    assert metadata_differ(saved(1), saved(True))
    assert metadata_differ(saved([1, [2]]), saved([1, (2,)]))
    assert metadata_differ(saved({"a": torch.ones(2)}), saved({"a": torch.ones(2).double()}))
    assert not metadata_differ(saved((1, {"a": 2})), saved((3, {"a": 4})))


def test_an_element_is_judged_as_the_reproducer_does(saved) -> None:
    evidence = Evidence(index=(1,), reference=1.0, allowed=0.1)
    eager = saved(torch.tensor([0.0, 1.01]))
    assert element_differs(eager, saved(torch.tensor([0.0, 2.0])), evidence)
    assert not element_differs(eager, saved(torch.tensor([9.0, 1.05])), evidence)
    assert not element_differs(saved(torch.tensor([0.0, 3.0])), saved(torch.tensor([0.0, 4.0])), evidence)
    assert not element_differs(saved(torch.tensor(1.0)), saved(torch.tensor(2.0)), evidence)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "null", "{", "{}", '{"class": 1}', "[" * 100_000),
        json.dumps({"dtype": "torch.float32", "shape": [2], "strides": [1], "data": "AAAA"}),
        json.dumps({"dtype": "os.system", "shape": [], "strides": [], "data": ""}),
        json.dumps({"dtype": "torch.float32", "shape": [-1, -1], "strides": [1, 1], "data": "AAAAAA=="}),
    ],
)
def test_other_text_is_not_a_saved_value(text: str) -> None:
    with pytest.raises(NotSaved):
        SavedValue.read(text)
