"""A missing guard is named by the source of the value, or by its type where other sources lack the guard as well."""

import dataclasses

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.triage.confirm.rerun import Rerun
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.fingerprint import fingerprint
from eqfuzz.triage.findings.stage import Ablation
from eqfuzz.triage.locate import guard_probe
from eqfuzz.triage.locate.guard_probe import unguarded
from tests.unit.triage.findings import finding_of

BY_BACKEND = {
    "eager": Ablation("wrong-result", "inductor", {"eager": "wrong-result"}),
    "aot_eager": Ablation("wrong-result", "inductor", {"eager": "agree", "aot_eager": "wrong-result"}),
    "inductor": Ablation(
        "wrong-result", "inductor", dict.fromkeys(("eager", "aot_eager", "aot_eager_decomp_partition"), "agree")
    ),
}
LABELS = {"argument": "args[1]: {} becomes {}", "attribute": "model.value is {1}", "global": "VALUE is {1}"}


def finding(label, call=2, backend="eager"):
    message = f"call {call} ({label}): output differs" if label else f"call {call}: output differs"
    verdict = Verdict(VerdictKind.WRONG_RESULT, message, Evidence(call=call, path="output"))
    environment = FindingEnvironment(checks=("results", "guards"), seed=3, steps=2, input_sets=1)
    settings = {"name": "inductor"}
    result = finding_of(ablation=BY_BACKEND[backend], environment=environment, settings=settings)
    return dataclasses.replace(result, verdict=verdict)


@pytest.fixture
def compiler(monkeypatch):
    """One whose guards miss changes of a kind of value from some places; keeps what it was asked."""

    class Compiler:
        def __init__(self):
            self.missing, self.cases = (), []

        def trial(self, pool, case):
            self.cases.append(case)
            source = case.program.source
            place = "attribute" if "self.value" in source else "global" if "VALUE" in source else "argument"
            old = source.partition(" == ")[2].split()[0]
            message = f"call 1 ({LABELS[place].format(old, old * 2)}): output differs"
            wrong = Verdict(VerdictKind.WRONG_RESULT, message, Evidence(call=1, path="output"))
            judged = wrong if place in self.missing else Verdict(VerdictKind.AGREE, "it agrees")
            return Rerun({case.configs[0].name: judged})

    imagined = Compiler()
    monkeypatch.setattr(guard_probe, "trial", imagined.trial)
    return imagined


EVERYWHERE = "a number, wherever it is from"


@pytest.mark.parametrize(
    ("label", "missing", "expected"),
    [
        ("args[1]: 3 becomes 4", ("argument", "global"), EVERYWHERE),
        ("args[1]: 3 becomes 4", ("argument",), ""),
        ("model.rate is 0.5", ("argument", "attribute"), EVERYWHERE),
        ("model.rate is True", ("argument", "attribute"), "a flag, wherever it is from"),
        ("SCALE is 'b'", ("attribute", "global"), EVERYWHERE),
        ("model.rate is nan", ("argument", "attribute"), EVERYWHERE),
        ("args[1] without 'shift'", ("argument", "global"), EVERYWHERE),
        ("args[1] without 'shift'", ("argument",), ""),
        ("the same inputs again", ("argument", "attribute", "global"), EVERYWHERE),
        ("", ("attribute", "global"), EVERYWHERE),
    ],
)
def test_value_without_guard_from_two_sources_is_named_by_its_type(compiler, label, missing, expected):
    compiler.missing = missing
    assert unguarded(finding(label), None) == expected
    assert all(case.configs[0].backend == "eager" for case in compiler.cases)


@pytest.mark.parametrize(
    "other",
    [
        finding("args[1]: 3 becomes 4", call=0),
        finding("sizes 3 become 1"),
        finding("under no_grad"),
        finding("model.train(False)"),
        finding("args[1] is args[0]"),
        finding("new values", backend="inductor"),
        finding("the same inputs again", backend="aot_eager"),
        finding("args[1]: 3 becomes 4", backend="inductor"),
    ],
)
def test_probe_runs_only_for_missing_guards_on_plain_values(compiler, other):
    compiler.missing = ("argument", "attribute", "global")
    if other.verdict.message.startswith("call 2 (new"):
        assert other.ablation.stage == "Inductor"
    assert unguarded(other, None) == ""
    assert compiler.cases == []


def test_finding_of_aot_autograd_is_probed_on_its_backend(compiler):
    compiler.missing = ("argument", "attribute")
    probed = finding("args[1]: 0.5 becomes 4.0", backend="aot_eager")
    assert unguarded(probed, None) == EVERYWHERE
    assert {case.configs[0].backend for case in compiler.cases} == {"aot_eager"}
    assert "VALUE = 0.5" in compiler.cases[-1].program.source
    named = fingerprint(dataclasses.replace(probed, unguarded=EVERYWHERE))
    assert named == "values · guard on a number, wherever it is from"
