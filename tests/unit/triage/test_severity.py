"""How grave a finding is: what no user notices stands before what every user sees."""

import pytest

from eqfuzz.oracle.compare.verdict import FINDINGS, Evidence, Verdict, VerdictKind
from eqfuzz.triage.findings.severity import Severity, counted, severity

LOST = Verdict(VerdictKind.EXCEPTION_MISMATCH, "eager raises ValueError: no", Evidence(eager="ValueError"))
OTHER_CLASS = Verdict(
    VerdictKind.EXCEPTION_MISMATCH, "other classes", Evidence(eager="ValueError", compiled="KeyError")
)
RAISED = Verdict(VerdictKind.EXCEPTION_MISMATCH, "only compiled raises KeyError: no", Evidence(frames=("_inductor.f",)))


def of(kind):
    return severity(Verdict(kind, "it differs", Evidence(path="output")))


@pytest.mark.parametrize(
    ("verdict", "expected"), [(LOST, Severity.LOST_VALIDATION), (OTHER_CLASS, Severity.CRASH), (RAISED, Severity.CRASH)]
)
def test_what_only_eager_raises_is_lost_validation(verdict, expected):
    assert severity(verdict) is expected


def test_severities_are_ordered_gravest_first():
    graver = [
        of(VerdictKind.WRONG_RESULT),
        of(VerdictKind.WRONG_GRADIENT),
        severity(LOST),
        of(VerdictKind.HANG),
        of(VerdictKind.WRONG_METADATA),
    ]
    assert [one.rank for one in graver] == [0, 1, 2, 3, 4] == sorted(one.rank for one in Severity)
    assert of(VerdictKind.WRONG_GRADIENT) is of(VerdictKind.WRONG_SIDE_EFFECT)
    crashes = (VerdictKind.COMPILER_CRASH, VerdictKind.PROCESS_CRASH, VerdictKind.HANG, VerdictKind.OUT_OF_MEMORY)
    assert {of(kind) for kind in crashes} == {Severity.CRASH}


def test_kinds_of_verdict_have_the_order_of_their_severities():
    ranks = [of(kind).rank for kind in VerdictKind if kind in FINDINGS]
    assert ranks == sorted(ranks)
    assert len(ranks) == len(FINDINGS)


def test_counts_begin_with_the_gravest():
    counts = counted([Severity.METADATA, Severity.CRASH, Severity.WRONG_VALUES, Severity.METADATA])
    assert list(counts.items()) == [("wrong-values", 1), ("crash", 1), ("metadata", 2)]
    assert counted([]) == {}
