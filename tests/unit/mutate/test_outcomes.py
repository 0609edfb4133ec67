"""One outcome for each seed of a run."""

import dataclasses

import pytest

from eqfuzz.events.run import FindingReported, SeedDone, SeedInvalid
from eqfuzz.mutate.counters import RunCounters
from eqfuzz.mutate.outcomes import SeedOutcomes
from eqfuzz.oracle.compare.verdict import VerdictKind
from tests.unit.report import sample_events as sample

AGREE, FLAKY, UNSUPPORTED = VerdictKind.AGREE, VerdictKind.FLAKY, VerdictKind.UNSUPPORTED


def finding(issue=""):
    return dataclasses.replace(sample.finding_event(sample.finding(), index=0), issue=issue)


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        ([sample.cell(0, 0, AGREE)], "ok"),
        ([sample.cell(0, 0, AGREE), sample.cell(0, 1, UNSUPPORTED)], "ok"),
        ([sample.cell(0, 0, AGREE), sample.cell(0, 1, FLAKY)], "undecided"),
        ([sample.cell(0, 0, UNSUPPORTED)], "undecided"),
        ([], "undecided"),
        ([SeedInvalid(index=0, seed="a.py", reason="no inputs")], "invalid"),
        ([sample.cell(0, 0, AGREE), finding("https://github.com/pytorch/pytorch/issues/1")], "ignored"),
        ([finding("https://github.com/pytorch/pytorch/issues/1"), finding(), sample.cell(0, 0, AGREE)], "failed"),
    ],
)
def test_outcome_is_the_gravest_of_what_a_seed_has_shown(events, outcome):
    outcomes = SeedOutcomes()
    for event in events:
        outcomes.count_event(event)
        assert not outcomes.by_index, "not before it is done"
    outcomes.count_event(sample.done(0))
    assert outcomes.by_index == {0: outcome}
    assert outcomes.counts() == {outcome: 1}


def test_finding_of_a_seed_that_is_not_done_counts_as_failed():
    outcomes = SeedOutcomes()
    for event in (sample.cell(0, 0, AGREE), sample.cell(1, 0, AGREE), finding()):
        outcomes.count_event(event)
    assert outcomes.counts() == {"failed": 1}


def test_summary_counts_outcomes_and_compilations():
    counters = RunCounters()
    for event in sample.whole_run()[:-1]:
        counters.count_event(event)
    compiled = {"graphs": 3, "unbacked_graphs": 1, "graph_breaks": 0, "recompiles": 2}
    counters.count_event(dataclasses.replace(sample.cell(2, 2, AGREE), compiled=compiled))
    summary = counters.summary(seed=0, interrupted=False, out_of_time=False, left_out=[], seconds=1.0, cpu_seconds=1.0)
    assert summary.outcomes == {"invalid": 1, "failed": 2}
    assert summary.compiled == compiled
    kinds = {type(event) for event in sample.whole_run()}
    assert {FindingReported, SeedDone, SeedInvalid} <= kinds
