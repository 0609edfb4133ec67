"""What each kind of verdict means, in a few words, and the colour it has everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from eqfuzz.oracle.compare.verdict import FINDINGS, VerdictKind
from eqfuzz.triage.findings.severity import Severity

MEANING: dict[VerdictKind, str] = {
    VerdictKind.AGREE: "compiled equals eager",
    VerdictKind.WRONG_RESULT: "compiled values differ by more than rounding explains",
    VerdictKind.WRONG_METADATA: "dtype, shape, strides, device or requires_grad differ",
    VerdictKind.WRONG_GRADIENT: "gradients of inputs or parameters differ",
    VerdictKind.WRONG_SIDE_EFFECT: "changed inputs or buffers differ",
    VerdictKind.EXCEPTION_MISMATCH: "one of eager and compiled raises, the other does not",
    VerdictKind.COMPILER_CRASH: "the compiler raised an internal error",
    VerdictKind.PROCESS_CRASH: "the process died while compiling or running compiled code",
    VerdictKind.HANG: "compiled did not end within its time limit",
    VerdictKind.OUT_OF_MEMORY: "compiled went over its memory limit",
    VerdictKind.SLOW: "the compiled variant is steadily slower than its compiled original",
    VerdictKind.FLAKY: "seen once, not again in a fresh process",
    VerdictKind.SUSPECT_RULE: "eager P differs from eager P': a rule or an eager kernel is wrong",
    VerdictKind.INCONCLUSIVE: "too few stable elements to tell",
    VerdictKind.UNSUPPORTED: "the compiler says plainly that it does not support this",
    VerdictKind.INVALID_SEED: "the seed itself does not load, run or agree with itself in eager",
}


SEVERITY: dict[str, str] = {
    Severity.WRONG_VALUES: "wrong values",
    Severity.WRONG_GRADIENTS_OR_EFFECTS: "wrong gradients or side effects",
    Severity.LOST_VALIDATION: "lost validation",
    Severity.CRASH: "crashes",
    Severity.METADATA: "metadata",
}
"""What each severity is called where findings are counted."""


def in_brackets(severities: Mapping[str, int]) -> str:
    """`` (wrong values: 1, crashes: 2)``; empty where nothing was counted."""
    words = ", ".join(f"{SEVERITY[severity]}: {number:,}" for severity, number in severities.items())
    return f" ({words})" if words else ""


def style_of(kind: str) -> str:
    """The rich style of a verdict kind: green agrees, red is a defect of the compiler, yellow is to be looked at."""
    if kind == VerdictKind.AGREE:
        return "green"
    if kind in FINDINGS:
        return "bold red"
    return "yellow" if kind in (VerdictKind.FLAKY, VerdictKind.SUSPECT_RULE, VerdictKind.INVALID_SEED) else "cyan"


def is_defect(kind: str) -> bool:
    """Whether this kind counts as a finding once confirmed."""
    return kind in FINDINGS
