"""Samples of the catalogue in this process: what is written does in eager what the sample does."""

import re

import pytest

from eqfuzz.generate.catalogues import jobs
from eqfuzz.generate.catalogues.eager import UNINITIALISED, WrittenSample
from eqfuzz.generate.catalogues.messages import CatalogueListed, ListJob, SamplesWritten, WriteJob
from eqfuzz.run.messages.job import ChildEvent


def read(operator: str, dtype: str, **more: object) -> SamplesWritten:
    events: list[ChildEvent] = []
    jobs.write_samples(WriteJob(operator=operator, dtype=dtype, **more), events.append)  # type: ignore[arg-type]
    (answer,) = (event for event in events if isinstance(event, SamplesWritten))
    return answer


def test_every_operator_is_listed_with_its_dtypes():
    events: list[ChildEvent] = []
    jobs.list_operators(ListJob(), events.append)
    (listed,) = (event for event in events if isinstance(event, CatalogueListed))
    dtypes = {entry.name: entry.dtypes for entry in listed.operators}
    assert len(dtypes) > 500
    assert "bool" in dtypes["add"]
    assert "int64" not in dtypes["linalg_cholesky"]


@pytest.mark.parametrize("operator", ["add", "gather", "linalg_cholesky", "nn_functional_nll_loss", "expand", "where"])
def test_no_sample_is_lost(operator: str):
    written = read(operator, "float32")
    assert written.samples == len(written.results) + written.repeats + sum(written.left_out.values())
    assert len(written.results) >= 0.7 * written.samples > 0


def test_same_seed_gives_the_same_text_and_another_one_another():
    assert read("add", "float32") == read("add", "float32")
    assert read("add", "float32").results != read("add", "float32", seed=1).results


def test_gradients_are_asked_for_where_eager_has_them():
    codes = [code for result in read("mul", "float32").results for _, code in result.inputs]
    assert any(".requires_grad_()" in code for code in codes)
    assert not any("requires_grad" in code for result in read("mul", "int64").results for _, code in result.inputs)


def test_results_without_the_gradients_of_eager_are_counted(monkeypatch: pytest.MonkeyPatch):
    plain = [jobs._Form({"x": "rng.normal(5)", "y": "rng.normal(5)"})]
    monkeypatch.setattr(jobs, "_forms", lambda draw, tensors: iter(plain))
    written = read("atan2", "float64")  # in which no call writes
    assert written.without_gradient == len(written.results) > 0


def test_memory_that_is_not_initialised_is_no_result():
    written = read("empty_like", "float32")
    assert set(written.left_out) == {UNINITIALISED}
    assert {code for result in written.results for _, code in result.inputs} <= {"rng.normal(0, 5, 0)"}


def test_random_numbers_are_noticed():
    assert {result.draws for result in read("nn_functional_dropout", "float64").results} == {True, False}


def test_operands_are_views_at_times():
    assert any(re.search(r"\}(\.|\[)", result.expression) for result in read("atan2", "float64").results)


def test_operands_that_a_result_changes_are_not_shared():
    assert not all(result.shares for result in read("uniform", "float32").results)
    assert all(result.shares for result in read("cumsum", "float64").results)


def test_samples_that_ended_a_child_are_counted():
    written = read("add", "float32", skip=(2, 3))
    assert written.left_out == {jobs.FATAL: 2}
    assert not {2, 3} & {result.sample for result in written.results}


def test_values_of_the_domain_are_finite():
    for result in read("log", "float64").results:
        codes = dict(result.inputs)
        if "special" not in "".join(codes.values()):
            assert WrittenSample(result.expression, codes).run(seed=5).is_finite


def test_some_samples_are_chosen_by_the_seed():
    chosen = [{result.sample for result in read("add", "float32", most=4, seed=seed).results} for seed in range(4)]
    assert all(4 < len(samples) <= 4 + 4 for samples in chosen)  # as many guesses, of which eager refuses some
    assert len({frozenset(samples) for samples in chosen}) > 1


def test_masks_stay_true_only_where_indices_are_in_range():
    written = read("_unsafe_masked_index", "float32")
    assert written.results
    for result in written.results:
        assert not any("rng." in code for _, code in result.inputs)
