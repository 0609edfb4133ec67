"""The contract with torch: every private name is there, and what is not is said in one line."""

import dataclasses

import pytest
import torch

from eqfuzz.program.release import this_release
from eqfuzz.torch_internals import contract
from eqfuzz.torch_internals.contract import CONTRACT, MissingName, PrivateName, lacks, missing


@pytest.mark.parametrize("name", CONTRACT, ids=lambda name: name.dotted)
def test_torch_has_every_name_of_the_contract(name: PrivateName):
    what = lacks(name)
    if what and this_release().fits(name.releases):
        pytest.fail(str(MissingName(name, what)), pytrace=False)


@pytest.mark.parametrize("name", CONTRACT, ids=lambda name: name.dotted)
def test_names_that_some_release_lacks_are_optional(name: PrivateName):
    assert name.lost or name.releases == PrivateName("torch", "").releases


def test_names_are_declared_once():
    paths = [(name.path, name.attributes) for name in CONTRACT]
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize(
    ("path", "more", "what"),
    [
        ("torch._inductor.no_such_module:name", {}, "torch._inductor.no_such_module"),
        ("torch._dynamo:no_such_name", {}, "torch._dynamo.no_such_name"),
        ("torch._dynamo:reset.no_such_name", {}, "torch._dynamo.reset.no_such_name"),
        ("torch._dynamo:reset", {"parameters": ("all",)}, "the parameter all of torch._dynamo.reset"),
        ("torch.nn:Module", {"attributes": ("_wings",)}, "the attribute _wings of torch.nn.Module"),
        ("torch._dynamo:no_such_name", {"elsewhere": ("torch._dynamo:reset",)}, ""),
        ("torch._dynamo:no_such_name", {"elsewhere": ("torch._gone:reset",)}, "torch._dynamo.no_such_name"),
        ("torch.nn:Module", {"attributes": ("_forward_hooks",)}, ""),
    ],
)
def test_missing_part_of_a_name_is_reported(path: str, more: dict, what: str):
    assert lacks(dataclasses.replace(PrivateName(path, "tries"), **more)) == what


def test_one_line_says_what_is_missing_in_which_release(monkeypatch: pytest.MonkeyPatch):
    absent = PrivateName("torch._inductor.codecache:_NO_DIR", "keeps precompiled headers", lost="time")
    monkeypatch.setattr(contract, "CONTRACT", (PrivateName("torch._dynamo:reset", "starts anew"), absent))
    (lacking,) = missing()
    release = torch.__version__.partition("+")[0]
    assert str(lacking) == f"torch {release} lacks torch._inductor.codecache._NO_DIR (keeps precompiled headers)"
