"""Findings as they are stored, and what they say of the original."""

import dataclasses
import json

import pytest

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.triage.findings.finding import DrawCount, Finding, original_outcome
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.stage import Ablation, Blame
from tests.unit.triage.findings import finding_of

CRASH = Verdict(VerdictKind.COMPILER_CRASH, "KeyError: 'buf3'", Evidence(frames=("_inductor.graph.run",)))
WRONG = Verdict(VerdictKind.WRONG_RESULT, "it differs", Evidence(path="output"))


@pytest.mark.parametrize(
    ("verdict", "original", "words", "only_transformed"),
    [
        (CRASH, None, "not run", True),
        (CRASH, Verdict(VerdictKind.AGREE, "it agrees"), "agree", True),
        (CRASH, dataclasses.replace(CRASH, message="KeyError: 'buf14'"), "compiler-crash", False),
        (CRASH, dataclasses.replace(CRASH, message="IndexError: 3"), "compiler-crash (another exception)", True),
        (CRASH, WRONG, "wrong-result", True),
        (WRONG, dataclasses.replace(WRONG, evidence=Evidence(path="output[1]")), "wrong-result", False),
        (WRONG, dataclasses.replace(WRONG, kind=VerdictKind.WRONG_GRADIENT), "wrong-gradient", False),
    ],
)
def test_original_with_the_same_symptom_is_recognised(verdict, original, words, only_transformed):
    assert original_outcome(verdict, original) == words
    finding = finding_of(verdict.kind, ("algebra/commute",))
    finding = dataclasses.replace(finding, verdict=verdict, cells={**finding.cells, "C(P)": words})
    assert finding.only_transformed is only_transformed


def test_finding_is_read_back_as_it_was_written():
    finding = finding_of(
        rules=("algebra/commute",),
        environment=FindingEnvironment(
            torch="2.15.0", build="cpu", checks=("outputs",), rules_from=("mine.py",), platform="Linux"
        ),
        draws=DrawCount(2, 3),
        one_thread="agree",
        blame=Blame("inductor", "lowerings", 3, "amin"),
    )
    assert Finding.from_json(json.loads(json.dumps(finding.to_json()))) == finding


def test_finding_written_by_an_earlier_version_is_read():
    environment = {
        "eqfuzz": "0.1.0",
        "torch": "2.13.0",
        "libcst": "1.8.2",
        "python": "3.11.9",
        "platform": "Linux-6.1",
        "seed": 7,
        "compile_seconds": 60.0,
        "input_sets": 1,
        "steps": 2,
        "checks": ["outputs", "draws"],
        "rules_from": ["mine.py"],
        "draws": "2 of 3",
        "one_thread": "agree",
    }
    written = finding_of().to_json() | {"environment": environment}
    for name in ("draws", "one_thread", "unguarded", "fingerprint", "reduced", "blame", "suspects"):
        del written[name]
    finding = Finding.from_json(json.loads(json.dumps(written)))
    assert finding.draws == DrawCount(2, 3)
    assert finding.one_thread == "agree"
    assert finding.environment == FindingEnvironment(
        eqfuzz="0.1.0",
        torch="2.13.0",
        libcst="1.8.2",
        python="3.11.9",
        platform="Linux-6.1",
        seed=7,
        compile_seconds=60.0,
        input_sets=1,
        steps=2,
        checks=("outputs", "draws"),
        rules_from=("mine.py",),
    )
    results = {"draws", "one_thread"}
    assert finding.environment.to_json() == {k: v for k, v in environment.items() if k not in results}


def test_parameters_that_were_not_recorded_are_the_default_ones():
    environment = FindingEnvironment.model_validate({"torch": "2.13.0"})
    assert environment.checks == DEFAULT_CHECKS
    assert str(environment.release) == "2.13.0"


@pytest.mark.parametrize("environment", [{"seed": "seven"}, {"draws": "few"}])
def test_damaged_environment_is_a_value_error(environment):
    with pytest.raises(ValueError, match=r"seven|few"):
        Finding.from_json(finding_of().to_json() | {"environment": environment})


@pytest.mark.parametrize(
    ("blame", "exact"),
    [
        (None, False),
        (Blame("inductor"), False),
        (Blame("inductor", "inductor_emulate_precision_casts", 1, "inductor_emulate_precision_casts"), False),
        (Blame("inductor", "lowerings", 3, "amin"), True),
    ],
)
def test_blame_is_exact_where_it_names_one_pass(blame, exact):
    assert (finding_of(blame=blame).exact_blame is not None) is exact


def test_stage_is_empty_without_an_ablation():
    assert finding_of(ablation=None).stage == ""
    assert finding_of(ablation=None).backends == {}
    ablation = Ablation("wrong-result", "inductor", {"eager": "wrong-result"})
    assert finding_of(ablation=ablation).stage == "Dynamo"
