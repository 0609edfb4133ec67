"""Where a leaf differs, and by how much, in bounded size."""

import dataclasses
import json

import pytest
import torch

from eqfuzz.oracle.compare.error_map import MOST_COLUMNS, MOST_ROWS, RATIOS, ErrorMap, error_map
from eqfuzz.oracle.compare.leaf_comparison import against_reference
from eqfuzz.oracle.compare.observation_diff import evidence_of
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.run.messages.seed_jobs import _bounded_verdict


def mapped(wrong: torch.Tensor, error: float = 1.0, allowed: float = 0.01) -> ErrorMap:
    places = error_map(wrong, torch.where(wrong, error, 0.0).double(), torch.full(wrong.shape, allowed).double())
    assert places is not None
    return places


def test_small_leaf_has_a_digit_for_each_element():
    wrong = torch.tensor([[False, True, False], [True, True, False]])
    assert mapped(wrong).grid == ("090", "990")
    assert mapped(wrong).shape == (2, 3)


def test_leaf_of_more_dimensions_is_a_matrix_of_its_last():
    wrong = torch.zeros(2, 3, 4, dtype=torch.bool)
    wrong[1, 0, 3] = True
    assert mapped(wrong).grid == ("0000", "0000", "0000", "0009", "0000", "0000")


@pytest.mark.parametrize("shape", [(1000, 1000), (7, 1, 101), (3, 5, 49), (100_000,), (25, 2)])
def test_large_leaf_is_bounded_and_blocks_hold_their_share(shape):
    assert set("".join(mapped(torch.ones(shape, dtype=torch.bool)).grid)) == {"9"}
    none = torch.zeros(shape, dtype=torch.bool)
    assert set("".join(mapped(none).grid)) == {"0"}
    none.view(-1)[-1] = True
    places = mapped(none)
    assert places.is_bounded
    assert (len(places.grid) <= MOST_ROWS) & (len(places.grid[0]) <= MOST_COLUMNS)
    assert [digit for row in places.grid for digit in row].count("0") == len("".join(places.grid)) - 1
    assert places.grid[-1][-1] != "0"


def test_errors_are_counted_by_what_is_allowed():
    distance = torch.tensor([0.0, 0.0005, 0.005, 0.05, 5.0, 1e9, float("nan"), float("inf")], dtype=torch.float64)
    places = error_map(distance > 0.01, distance, torch.full((8,), 0.01, dtype=torch.float64))
    assert places is not None
    counts = dict(zip([*RATIOS, "more", "nan"], places.ratios, strict=True))
    assert counts == {0.01: 1, 0.1: 1, 1.0: 1, 10.0: 1, 100.0: 0, 1000.0: 1, 10000.0: 0, "more": 1, "nan": 2}


def test_leaf_that_must_be_equal_has_no_histogram():
    assert mapped(torch.tensor([True, False]), allowed=0.0).ratios == ()


@pytest.mark.parametrize("shape", [(), (1,), (0, 4)])
def test_fewer_than_two_elements_have_no_map(shape):
    wrong = torch.ones(shape, dtype=torch.bool)
    assert error_map(wrong, wrong.double(), wrong.double()) is None


def test_evidence_has_the_map_and_survives_json():
    eager = torch.arange(6.0)
    difference = against_reference(eager, eager.where(eager < 4, -1.0), None, "")
    assert difference is not None
    evidence = evidence_of(difference, 0, "output")
    assert evidence.error_map is not None
    assert evidence.error_map.grid == ("000099",)
    verdict = Verdict(VerdictKind.WRONG_RESULT, "it differs", evidence)
    assert Verdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict
    older = {name: value for name, value in verdict.to_json()["evidence"].items() if name != "error_map"}
    assert Verdict.from_json({**verdict.to_json(), "evidence": older}).evidence.error_map is None


@pytest.mark.parametrize(
    "changed",
    [
        {"grid": ("0" * 1000,)},
        {"grid": ("0",) * 1000},
        {"grid": ("0", "00")},
        {"grid": ("<b>",)},
        {"ratios": (1,) * 1000},
        {"ratios": (-1,) * (len(RATIOS) + 2)},
        {"shape": (-1,)},
    ],
)
def test_map_of_an_untrusted_child_is_checked(changed):
    places = mapped(torch.tensor([True, False]))
    _bounded_verdict(Verdict(VerdictKind.WRONG_RESULT, "", Evidence(error_map=places)))
    with pytest.raises(ValueError, match="map"):
        wrong = dataclasses.replace(places, **changed)
        _bounded_verdict(Verdict(VerdictKind.WRONG_RESULT, "", Evidence(error_map=wrong)))
