"""What a finding claims of the original beside it."""

import dataclasses

import pytest

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.triage.findings.finding import seen_beside
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
def test_whether_the_original_shows_it_too(verdict, original, words, only_transformed):
    assert seen_beside(verdict, original) == words
    finding = finding_of(verdict.kind, ("algebra/commute",))
    finding = dataclasses.replace(finding, verdict=verdict, cells={**finding.cells, "C(P)": words})
    assert finding.only_transformed is only_transformed
