"""Reproducers of what a user's oracle complains of: they contain the oracle, and ask it again."""

import dataclasses
import textwrap
from unittest import mock

import pytest
import torch

from eqfuzz.oracle.compare.oracles import ORACLES, Comparison, OracleFailed, ask_oracle
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.program.call import Call
from eqfuzz.run.preload import execute_source
from eqfuzz.triage.confirm.reproduction import NoReproducer, ReproducerWriter
from eqfuzz.triage.findings.fingerprint import fingerprint
from eqfuzz.triage.reproducer.script import write_reproducer
from tests.unit.triage.findings import finding_of
from tests.unit.triage.reproducer.scripts import CONFIG, Judged, judge, run

SEED = """
    import torch
    COUNT = 0
    def program(x):
        global COUNT
        COUNT += 1
        return torch.log(x)
    def inputs(rng):
        yield (torch.tensor([1.0, -1.0]),)
"""

ORACLE = r'''
from eqfuzz.oracle.compare.oracles import oracle
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
TEXT = """a \\ and quotes"""


@oracle("own")
def own(comparison):
    last = comparison.compiled.calls[-1]
    {body}
'''

NOT_FINITE = "if not last.outputs[0][1].isfinite().all(): return Verdict(VerdictKind.WRONG_RESULT, 'not finite')"


@pytest.fixture(autouse=True)
def other_oracles_stay():
    with mock.patch.dict(ORACLES):
        yield


def preload(body: str) -> str:
    return ORACLE.format(body=body)


def judged(body: str, tmp_path, *, seed: str = SEED, steps: tuple[Call, ...] = ()) -> Judged:
    with mock.patch.dict(ORACLES):
        execute_source(preload(body), tmp_path / "preload.py")
        return judge(seed, steps=steps)


def outcome(tmp_path, finding: Judged, body: str):
    return run(tmp_path, write_reproducer(finding.finding, CONFIG, finding.described, preload(body)).text)


def test_script_asks_the_oracle_again_where_eager_and_compiled_agree(tmp_path):
    complaint = judged(NOT_FINITE, tmp_path)
    assert complaint.verdict.in_words == "oracle own: not finite"
    ended = outcome(tmp_path, complaint, NOT_FINITE)
    assert ended.status == 1
    assert "own: wrong-result: not finite" in ended.output


def test_script_ends_well_where_the_oracle_no_longer_complains(tmp_path):
    complaint = judged(NOT_FINITE, tmp_path)
    finite = SEED.replace("torch.log(x)", "torch.log(x.abs())")
    fixed = dataclasses.replace(complaint, finding=dataclasses.replace(complaint.finding, transformed=program(finite)))
    assert outcome(tmp_path, fixed, NOT_FINITE).status == 0


def program(source: str):
    return finding_of(source=textwrap.dedent(source)).transformed


@pytest.mark.parametrize(
    "body",
    [
        "if dict(last.globals_after)[\"globals()['COUNT']\"] == 2: return Verdict(VerdictKind.WRONG_RESULT, 'counted')",
        "if last.label == 'with no grad': return Verdict(VerdictKind.WRONG_RESULT, 'labelled')",
        "if not comparison.reference or last.raised is None: return Verdict(VerdictKind.WRONG_RESULT, 'measured')",
    ],
    ids=["globals", "labels", "reference"],
)
def test_script_shows_the_oracle_what_the_run_did(tmp_path, body):
    step = Call((torch.tensor([1.0, 2.0]),), {}, label="with no grad", within="torch.no_grad()")
    complaint = judged(body, tmp_path, steps=(step,))
    assert complaint.verdict.kind is VerdictKind.WRONG_RESULT
    assert outcome(tmp_path, complaint, body).status == 1


def test_verdict_names_the_oracle_of_the_user_alone(tmp_path):
    execute_source(preload(NOT_FINITE), tmp_path / "preload.py")
    differs = judge(SEED.replace("torch.log(x)", "x + torch.compiler.is_compiling()")).verdict
    complaint = judge(SEED).verdict
    assert (differs.oracle, complaint.oracle) == ("", "own")
    assert Verdict.from_json(complaint.to_json()) == complaint


def test_complaint_of_an_oracle_is_another_symptom_and_in_another_bucket():
    finding = finding_of()
    complaint = dataclasses.replace(finding, verdict=dataclasses.replace(finding.verdict, oracle="own"))
    assert complaint.verdict.symptom != finding.verdict.symptom
    assert "oracle own" in fingerprint(complaint)
    assert fingerprint(complaint) != fingerprint(finding)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return last[7]", r"oracle own raises IndexError: list index out of range \(.*preload\.py:\d+\)"),
        ("return 'wrong'", "oracle own returns a str, neither a Verdict nor None"),
    ],
)
def test_oracle_that_does_not_work_is_named(tmp_path, body, words):
    execute_source(preload(body), tmp_path / "preload.py")
    with pytest.raises(OracleFailed, match=words):
        ask_oracle("own", Comparison(Observation([]), Observation([[]]), None))


def test_untrusted_program_is_not_judged_by_an_oracle_in_its_own_sandbox(tmp_path):
    finding = judged(NOT_FINITE, tmp_path).finding
    finding = dataclasses.replace(finding, original=dataclasses.replace(finding.original, untrusted=True))
    writer = ReproducerWriter(mock.Mock(), mock.Mock(unsafe=False))
    with mock.patch("eqfuzz.triage.confirm.reproduction.runs_without", return_value=False), pytest.raises(NoReproducer):
        writer.scripts(finding)
