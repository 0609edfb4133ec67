"""The oracle's thresholds are documented, and apply where their description says."""

import dataclasses
from pathlib import Path

import pytest

from eqfuzz.oracle.thresholds import THRESHOLDS, Thresholds, as_table

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "oracle.md"


def test_page_has_the_table_of_the_code():
    assert as_table() in PAGE.read_text(), "write the output of `python -m eqfuzz.oracle.thresholds` into oracle.md"


@pytest.mark.parametrize("field", dataclasses.fields(Thresholds), ids=lambda field: field.name)
def test_every_threshold_has_a_unit_a_meaning_and_an_origin(field):
    assert all(field.metadata[note] for note in ("unit", "meaning", "origin"))


@pytest.mark.parametrize(
    ("elements", "half", "bound"), [(8, False, 2.0), (7, False, 3.0), (8, True, 1.3), (1, True, 2.3)]
)
def test_outliers_need_more_distance_among_few_elements(elements, half, bound):
    assert THRESHOLDS.least_outlier(elements, half=half) == bound


def test_half_types_have_less_slack():
    assert THRESHOLDS.bound_slack(half=True) < THRESHOLDS.bound_slack(half=False)
