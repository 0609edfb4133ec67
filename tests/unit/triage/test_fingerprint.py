"""Fingerprints: equal for findings of one defect, different for others, and readable."""

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.triage.findings.fingerprint import DIFFERENCES, changed_by, fingerprint
from eqfuzz.triage.findings.stage import Ablation, Blame
from tests.unit.triage.findings import SOURCE, finding_of

FRAMES = ("torch._inductor.lowering.pad", "torch._inductor.graph.GraphLowering.run")
AMIN = Blame("inductor", "lowerings", 3, "amin_2")
DYNAMO = Ablation("wrong-result", "inductor", {"eager": "wrong-result"})
INDUCTOR = Ablation("wrong-result", "inductor", dict.fromkeys(("eager", "aot_eager", "aot_eager_decomp_partition"), ""))

FAKE_CALL = "call 0: compiled raises E: RuntimeError when making fake tensor call: {}: TypeError: no type"


def raising(message="call 0: compiled raises RuntimeError: shape '[3, 4]' is invalid", frames=FRAMES):
    return finding_of(VerdictKind.COMPILER_CRASH, message=message, evidence=Evidence(frames=frames))


def guarded(label, **changed):
    return finding_of(message=f"call 2 ({label}): output differs", **{"ablation": DYNAMO, **changed})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (raising(), raising("call 3 (new values): compiled raises RuntimeError: shape '[70]' is invalid")),
        (raising(FAKE_CALL.format("relu")), raising(FAKE_CALL.format("add"))),
        (raising("no bounds for sqrt"), raising("no bounds for sqrt_1")),
        (raising("no bounds for sqrt_2"), raising("no bounds for sqrt_default_1")),
        (raising("buf12 has 0x7f00 in `a`"), raising("buf3 has 0xab… in `model.weight`")),
        (finding_of(blame=AMIN), finding_of(blame=Blame("inductor", "lowerings", 1, "amin"))),
        (finding_of(blame=AMIN), finding_of(blame=AMIN, source=SOURCE.replace("x + 1", "x.relu() * 2"))),
        (finding_of(blame=AMIN), finding_of(VerdictKind.WRONG_GRADIENT, blame=AMIN, ablation=INDUCTOR)),
        (guarded("model.rate is 0.5"), guarded("model.other is True")),
        (
            guarded("args[1]: 3 becomes 4"),
            guarded("kwargs['b']: 'a' becomes 'b'", source=SOURCE.replace("x + 1", "x * 2")),
        ),
        (guarded("sizes 3 become 1"), guarded("sizes 8 become 0")),
        (finding_of(), finding_of(source=SOURCE.replace("x", "values").replace("1", "2.5"))),
    ],
)
def test_fingerprints_are_equal_where_only_names_and_numbers_differ(one, other):
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (raising(), raising(frames=FRAMES[1:])),
        (raising(), raising("call 0: compiled raises RuntimeError: sizes do not fit")),
        (finding_of(blame=AMIN), finding_of(blame=Blame("inductor", "lowerings", 3, "amax"))),
        (finding_of(blame=AMIN), finding_of(blame=Blame("inductor", "post_grad_passes", 3, "amin"))),
        (finding_of(blame=AMIN), finding_of(VerdictKind.WRONG_METADATA, blame=AMIN)),
        (guarded("model.rate is 0.5"), guarded("model.train(False)")),
        (guarded("args[1]: 3 becomes 4"), guarded("the same inputs again")),
        (finding_of(), finding_of(ablation=None)),
        (finding_of(), finding_of(source=SOURCE.replace("x + 1", "x.relu()"))),
        (finding_of(VerdictKind.HANG), finding_of(VerdictKind.PROCESS_CRASH)),
    ],
)
def test_fingerprints_of_different_defects_differ(one, other):
    assert fingerprint(one) != fingerprint(other)


def test_fingerprint_is_readable():
    frames = " < ".join(FRAMES)
    assert fingerprint(raising()) == f"raises · compiled raises RuntimeError: shape '…' is invalid · {frames}"
    assert fingerprint(finding_of(blame=AMIN)) == "values · Inductor, lowerings: amin"
    gelu = Blame("aot_eager_decomp_partition", "decomposition", 1, "<OpOverload(op='aten.gelu', overload='default')>")
    decomposed = "values · decompositions and partitioner, decomposition: aten.gelu.default"
    assert fingerprint(finding_of(blame=gelu)) == decomposed
    text = guarded("model.train(False)")
    assert fingerprint(text) == "values · guard on train or eval"
    other = guarded("torch.float32 becomes torch.float64", ablation=INDUCTOR)
    assert fingerprint(other) == "values · Inductor · Add", "no guard: what is made for the new dtype is wrong"
    casts = Blame("inductor", "inductor_emulate_precision_casts", 0, "inductor_emulate_precision_casts")
    assert fingerprint(finding_of(blame=casts)) == "values · Inductor, inductor_emulate_precision_casts · Add"
    assert fingerprint(finding_of(ablation=None)) == "values · Add"
    assert fingerprint(finding_of(blame=Blame("inductor", "inductor_layout_optimization"))) == (
        "values · Inductor, inductor_layout_optimization · Add"
    )


@pytest.mark.parametrize("kind", DIFFERENCES)
def test_fingerprint_of_every_kind_is_one_line(kind):
    text = fingerprint(finding_of(kind))
    assert text.startswith(DIFFERENCES[kind])
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("label", "what"),
    [
        ("model.train(False)", "train or eval"),
        ("model.rate is 0.5", "an attribute of the module"),
        ("LIMIT is 4", "a global"),
        ("args[0]: 3 becomes -1", "an argument that is no tensor"),
        ("torch.float32 becomes torch.float64", "dtypes"),
        ("sizes 3 become 1", "sizes"),
        ("other strides", "strides"),
        ("args[0] without 'a'", "the keys of a dictionary"),
        ("kwargs['x'] has 2 items", "the length of a list"),
        ("under no_grad", "grad mode"),
        ("under autocast", "autocast"),
        ("args[0] and args[1] overlap", "arguments that share memory"),
        ("args[1] is args[0]", "arguments that share memory"),
        ("step 3 of 'mine'", "step N of '…'"),
        ("the same inputs again", ""),
        ("new values", ""),
        ("integer values", ""),
        ("the first inputs after that", ""),
    ],
)
def test_missing_guard_is_named_by_the_label_of_the_call(label, what):
    assert changed_by(guarded(label).verdict) == what


@pytest.mark.parametrize(
    ("label", "what"), [("other strides", "strides"), ("torch.float32 becomes torch.float64", "dtypes")]
)
def test_another_layout_or_dtype_of_a_result_needs_no_guard(label, what):
    finding = guarded(label, kind=VerdictKind.WRONG_METADATA)
    assert "guard" not in fingerprint(finding)
    assert f"guard on {what}" in fingerprint(guarded(label))


def test_a_call_without_a_label_needs_no_guard():
    assert changed_by(finding_of(message="call 1: output differs").verdict) == ""
    assert changed_by(finding_of(message="output differs").verdict) == ""
