"""Labels by PyTorch's rubric."""

import pytest

from eqfuzz.triage.findings.severity import Severity
from eqfuzz.triage.findings.stage import Blame
from eqfuzz.triage.upstream.evidence import ProgramTraits, replay_of
from eqfuzz.triage.upstream.labels import asks_for_priority, suggested_labels
from eqfuzz.triage.upstream.mitigations import DECOMPOSITIONS, DYNAMIC, FAILS, PASSES
from tests.unit.triage.upstream.evidences import NEWEST, OLD, evidence_of

USUAL = ["oncall: pt2", "topic: fuzzer"]
SILENT = "module: correctness (silent)"
DISPATCHER = ["module: pt2-dispatcher", "module: aotdispatch"]


@pytest.mark.parametrize(
    ("changed", "severity", "labels"),
    [
        ({}, Severity.WRONG_VALUES, ["module: inductor", SILENT]),
        ({}, Severity.CRASH, ["module: inductor"]),
        ({"first": "eager"}, Severity.METADATA, ["module: dynamo"]),
        ({"first": "aot_eager"}, Severity.LOST_VALIDATION, [*DISPATCHER, SILENT]),
        (
            {"first": "aot_eager_decomp_partition", "cures": [DECOMPOSITIONS]},
            Severity.CRASH,
            ["module: decompositions"],
        ),
        ({"first": "aot_eager_decomp_partition"}, Severity.CRASH, DISPATCHER),
        (
            {"bisected": replay_of(Blame("aot_eager_decomp_partition", "decomposition", 2, "a"))},
            Severity.CRASH,
            ["module: decompositions"],
        ),
        ({"cures": [DYNAMIC]}, Severity.CRASH, ["module: inductor", "module: dynamic shapes"]),
        (
            {"releases": ((OLD, PASSES), (NEWEST, FAILS))},
            Severity.CRASH,
            ["module: inductor", "module: regression"],
        ),
        (
            {"traits": ProgramTraits(draws=("rand",), special=("NaN",))},
            Severity.CRASH,
            ["module: inductor", "module: random", "module: edge cases"],
        ),
        ({"backends": ()}, Severity.CRASH, []),
    ],
)
def test_labels_name_component_and_symptom(changed, severity, labels):
    assert suggested_labels(evidence_of(**changed), severity, "cpu") == [*USUAL, *labels]


def test_stage_of_the_finding_stands_in_for_backends_that_were_not_tried():
    assert suggested_labels(evidence_of(backends=()), Severity.CRASH, "cpu", backend="eager")[-1] == "module: dynamo"


@pytest.mark.parametrize(("on_cpu", "is_labelled"), [("", True), (PASSES, True), (FAILS, False)])
def test_defect_of_the_gpu_is_labelled_so(on_cpu, is_labelled):
    labels = suggested_labels(evidence_of(on_cpu=on_cpu), Severity.CRASH, "cuda")
    assert ("module: cuda" in labels) == is_labelled


def test_priority_is_for_silent_errors_and_regressions():
    assert asks_for_priority(evidence_of(), Severity.CRASH) == ""
    assert asks_for_priority(evidence_of(), Severity.WRONG_GRADIENTS_OR_EFFECTS) == "silently wrong"
    regression = evidence_of(releases=((OLD, PASSES), (NEWEST, FAILS)))
    assert asks_for_priority(regression, Severity.CRASH) == "a regression"
