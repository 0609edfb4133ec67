"""The first backend that shows the same is to blame, and nothing is where that is not known."""

import pytest

from eqfuzz.triage.stage import LADDER, Ablation, Blame


@pytest.mark.parametrize(
    ("shown", "stage"),
    [
        ("wrong wrong wrong", "Dynamo"),
        ("agree wrong wrong", "AOTAutograd"),
        ("agree agree wrong", "decompositions and partitioner"),
        ("agree agree agree", "Inductor"),
        ("agree agree crash", "Inductor"),
        ("agree", ""),
        ("agree wrong", "AOTAutograd"),
        ("", ""),
    ],
)
def test_the_first_that_shows_the_same_kind(shown, stage):
    assert Ablation("wrong", "inductor", dict(zip(LADDER, shown.split(), strict=False))).stage == stage


@pytest.mark.parametrize(
    ("backend", "shown", "stage"),
    [
        ("eager", {}, "Dynamo"),
        ("aot_eager", {"eager": "agree"}, "AOTAutograd"),
        ("aot_eager", {"eager": "wrong"}, "Dynamo"),
        ("onnxrt", dict.fromkeys(LADDER, "agree"), "onnxrt"),
    ],
)
def test_only_the_backends_before_the_findings_own_count(backend, shown, stage):
    assert Ablation("wrong", backend, shown).stage == stage


def test_blame_in_words():
    assert Blame("inductor", "lowerings", 1, "amin").in_words() == "Inductor, lowerings: amin"
    assert Blame("aot_eager_decomp_partition", "decomposition", 2).in_words() == (
        "decompositions and partitioner, decomposition"
    )
    assert Blame("eager").in_words() == "Dynamo"
    gelu = Blame("aot_eager_decomp_partition", "decomposition", 1, "<OpOverload(op='aten.gelu', overload='default')>")
    assert gelu.in_words() == "decompositions and partitioner, decomposition: aten.gelu.default"
