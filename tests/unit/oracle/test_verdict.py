"""Symptoms are equal for verdicts of one difference."""

import dataclasses

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind

FRAMES = ("_inductor.lowering.pad", "_inductor.graph.GraphLowering.run")
CRASH = Verdict(VerdictKind.COMPILER_CRASH, "call 0: the compiler fails with KeyError: 'buf3'", Evidence(frames=FRAMES))
WRONG = Verdict(VerdictKind.WRONG_RESULT, "call 0: output[0] differs at [1]", Evidence(path="output[0]"))
DIED = Verdict(VerdictKind.PROCESS_CRASH, "killed by SIGSEGV compiled: in sum")


def other(verdict, message=None, **evidence):
    changed = dataclasses.replace(verdict.evidence or Evidence(), **evidence) if evidence else verdict.evidence
    return dataclasses.replace(verdict, message=message or verdict.message, evidence=changed)


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (CRASH, other(CRASH, "call 3 (new values): the compiler fails with KeyError: 'buf11'", call=3)),
        (WRONG, other(WRONG, "call 2: output[0] differs at [7]", call=2, index=(7,))),
        (DIED, other(DIED, "killed by SIGSEGV compiled: in mean")),
    ],
)
def test_verdicts_that_differ_in_details_have_one_symptom(one, same):
    assert one.symptom == same.symptom


@pytest.mark.parametrize(
    ("one", "another"),
    [
        (CRASH, other(CRASH, "call 0: the compiler fails with IndexError: 'buf3'")),
        (CRASH, other(CRASH, frames=FRAMES[1:])),
        (CRASH, dataclasses.replace(CRASH, kind=VerdictKind.EXCEPTION_MISMATCH)),
        (WRONG, other(WRONG, path="output[1]")),
        (WRONG, dataclasses.replace(WRONG, kind=VerdictKind.WRONG_GRADIENT)),
        (DIED, other(DIED, "killed by SIGFPE compiled: in sum")),
    ],
)
def test_verdicts_of_other_kind_place_or_cause_have_other_symptoms(one, another):
    assert one.symptom != another.symptom
