"""Severity of findings: the less a user notices, the graver."""

from __future__ import annotations

import collections
import enum
from collections.abc import Iterable

from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind


class Severity(enum.StrEnum):
    """The gravest first."""

    WRONG_VALUES = "wrong-values"
    WRONG_GRADIENTS_OR_EFFECTS = "wrong-gradients-or-effects"
    LOST_VALIDATION = "lost-validation"
    CRASH = "crash"
    METADATA = "metadata"

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return list(Severity).index(self)


_BY_KIND = {
    VerdictKind.WRONG_RESULT: Severity.WRONG_VALUES,
    VerdictKind.WRONG_GRADIENT: Severity.WRONG_GRADIENTS_OR_EFFECTS,
    VerdictKind.WRONG_SIDE_EFFECT: Severity.WRONG_GRADIENTS_OR_EFFECTS,
    VerdictKind.EXCEPTION_MISMATCH: Severity.CRASH,
    VerdictKind.COMPILER_CRASH: Severity.CRASH,
    VerdictKind.PROCESS_CRASH: Severity.CRASH,
    VerdictKind.HANG: Severity.CRASH,
    VerdictKind.OUT_OF_MEMORY: Severity.CRASH,
    VerdictKind.WRONG_METADATA: Severity.METADATA,
}


def severity(verdict: Verdict) -> Severity:
    """The severity of a finding's verdict. Raises KeyError for a verdict that is no finding."""
    evidence = verdict.evidence
    only_eager_raises = evidence is not None and evidence.eager is not None and evidence.compiled is None
    if verdict.kind is VerdictKind.EXCEPTION_MISMATCH and only_eager_raises:
        return Severity.LOST_VALIDATION
    return _BY_KIND[verdict.kind]


def counted(severities: Iterable[Severity]) -> dict[str, int]:
    """The number of findings by severity, the gravest first."""
    counts = collections.Counter(severities)
    return {str(one): counts[one] for one in Severity if counts[one]}
