"""The matrix of a sweep."""

import json

import pytest

from eqfuzz.commands.sweep_matrix import JudgedSample, SampleOutcome, SweepMatrix


def judged(operator: str, dtype: str, outcome: SampleOutcome, **more: str) -> JudgedSample:
    return JudgedSample(operator, dtype, 1, outcome, **more)


@pytest.fixture
def matrix() -> SweepMatrix:
    return SweepMatrix(
        [
            judged("mul", "float32", SampleOutcome.AGREE),
            judged("mul", "float32", SampleOutcome.AGREE),
            judged("mul", "float32", SampleOutcome.NEW, call="x | y", message="wrong-result: 1 and 2", finding="f1"),
            judged("add", "bool", SampleOutcome.NOT_COMPARABLE, message="inconclusive"),
            judged("add", "float32", SampleOutcome.KNOWN, issue="https://example.org/1", message="wrong-result: 3"),
        ]
    )


def test_samples_are_counted_by_column_and_outcome(matrix: SweepMatrix):
    assert matrix.by_column() == {"float32": {"new": 1, "known": 1, "agree": 2}, "bool": {"not comparable": 1}}
    assert matrix.totals() == {"new": 1, "known": 1, "not comparable": 1, "agree": 2}


def test_json_has_every_operator_and_the_samples_that_differ(matrix: SweepMatrix):
    data = json.loads(json.dumps(matrix.to_json()))
    assert data["operators"]["mul"] == {"float32": {"new": 1, "agree": 2}}
    assert [JudgedSample.from_json(one) for one in data["different"]] == matrix.different


def test_page_has_a_row_for_each_operator(matrix: SweepMatrix):
    page = matrix.page("opinfo", "A heading.")
    assert "| `mul` | 2, 1 new |  |" in page
    assert "| `add` | 1 known | 1 not comparable |" in page


def test_devices_have_columns_of_their_own():
    page = SweepMatrix(
        [judged("mul", "float32", SampleOutcome.AGREE), judged("mul", "float32", SampleOutcome.NEW, device="cuda")]
    ).page("opinfo", "A heading.")
    assert "| operator | float32 | float32, CUDA |" in page
    assert "| `mul` | 1 | 1 new |" in page


def test_page_links_known_issues_and_keeps_bars_out_of_its_columns(matrix: SweepMatrix):
    page = matrix.page("opinfo", "A heading.")
    assert "| `add` | float32 | [known](https://example.org/1) |" in page
    assert r"`x \| y`" in page
