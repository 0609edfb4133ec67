"""The first backend that differs from eager is to blame, and nothing is where that is not known."""

import pytest

from eqfuzz.oracle.compare.verdict import FINDINGS, VerdictKind
from eqfuzz.triage.findings.stage import LADDER, Ablation, Blame, backends_below

WORDS = {"wrong": "wrong-result", "crash": "compiler-crash", "refused": "unsupported", "unsure": "inconclusive"}


def ablation(backend, verdicts):
    kinds = [WORDS.get(word, word) for word in verdicts.split()]
    return Ablation("wrong-result", backend, dict(zip(LADDER, kinds, strict=False)))


@pytest.mark.parametrize(
    ("verdicts", "stage"),
    [
        ("wrong wrong wrong", "Dynamo"),
        ("agree wrong wrong", "AOTAutograd"),
        ("agree agree wrong", "decompositions and partitioner"),
        ("agree agree agree", "Inductor"),
        ("agree crash agree", "AOTAutograd"),
        ("agree crash wrong", "AOTAutograd"),
        ("agree agree crash", "decompositions and partitioner"),
        ("agree refused unsure", "Inductor"),
        ("agree", ""),
        ("agree wrong", "AOTAutograd"),
        ("", ""),
    ],
)
def test_first_differing_backend_gives_the_stage(verdicts, stage):
    assert ablation("inductor", verdicts).stage == stage


@pytest.mark.parametrize("kind", VerdictKind)
def test_every_kind_of_finding_is_a_difference(kind):
    assert (ablation("inductor", f"agree {kind} agree").stage == "AOTAutograd") is (kind in FINDINGS)


@pytest.mark.parametrize(
    ("verdicts", "backend"),
    [
        ("wrong wrong wrong", "eager"),
        ("agree crash wrong", "aot_eager_decomp_partition"),
        ("agree crash agree", "inductor"),
        ("", "inductor"),
    ],
)
def test_cheapest_backend_has_the_kind_of_the_finding(verdicts, backend):
    assert ablation("inductor", verdicts).cheapest == backend


@pytest.mark.parametrize(
    ("backend", "verdicts", "stage"),
    [
        ("eager", "", "Dynamo"),
        ("aot_eager", "agree", "AOTAutograd"),
        ("aot_eager", "wrong", "Dynamo"),
        ("aot_eager", "agree agree wrong", "AOTAutograd"),
        ("onnxrt", "agree agree agree", "onnxrt"),
    ],
)
def test_only_backends_below_the_findings_own_decide(backend, verdicts, stage):
    assert ablation(backend, verdicts).stage == stage


@pytest.mark.parametrize(
    ("others", "stage"),
    [
        ({}, "TVM, or the export to ONNX"),
        ({"openvino": "unsupported"}, "TVM, or the export to ONNX"),
        ({"openvino": "wrong-result", "onnxruntime": "unsupported"}, "export to ONNX"),
        ({"openvino": "wrong-result", "onnxruntime": "agree"}, "TVM"),
        ({"openvino": "compiler-crash"}, "TVM, or the export to ONNX"),
    ],
)
def test_third_opinion_separates_a_compiler_from_the_export_that_it_shares(others, stage):
    below = dict.fromkeys(backends_below("tvm_relax"), "agree")
    assert Ablation("wrong-result", "tvm_relax", {**below, **others}).stage == stage
    assert Ablation("wrong-result", "tvm_relax", {**below, "export": "wrong-result", **others}).stage == "torch.export"
    assert Ablation("wrong-result", "tvm_relax", others).stage == ""


def test_blame_is_described_in_words():
    assert Blame("inductor", "lowerings", 1, "amin").in_words() == "Inductor, lowerings: amin"
    assert Blame("aot_eager_decomp_partition", "decomposition", 2).in_words() == (
        "decompositions and partitioner, decomposition"
    )
    assert Blame("eager").in_words() == "Dynamo"
    gelu = Blame("aot_eager_decomp_partition", "decomposition", 1, "<OpOverload(op='aten.gelu', overload='default')>")
    assert gelu.in_words() == "decompositions and partitioner, decomposition: aten.gelu.default"
