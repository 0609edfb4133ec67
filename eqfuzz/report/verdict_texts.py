"""Short texts and colours of verdict kinds and severities."""

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
    VerdictKind.EXCEPTION_MISMATCH: "only one of eager and compiled raises, or they raise different exceptions",
    VerdictKind.COMPILER_CRASH: "the compiler raised an internal error",
    VerdictKind.PROCESS_CRASH: "the process crashed while compiling or running compiled code",
    VerdictKind.HANG: "compiled code did not end within its time limit",
    VerdictKind.OUT_OF_MEMORY: "compiled code exceeded its memory limit",
    VerdictKind.SLOW: "the compiled variant is steadily slower than its compiled original",
    VerdictKind.FLAKY: "seen once, not reproduced in a fresh process",
    VerdictKind.SUSPECT_RULE: "eager P differs from eager P': a rule or an eager kernel is wrong",
    VerdictKind.INCONCLUSIVE: "too few stable elements, or too little time, to decide",
    VerdictKind.UNSUPPORTED: "the compiler reports that it does not support this",
    VerdictKind.INVALID_SEED: "the seed fails to load or run, or is not deterministic in eager",
}


SEVERITY: dict[str, str] = {
    Severity.WRONG_VALUES: "wrong values",
    Severity.WRONG_GRADIENTS_OR_EFFECTS: "wrong gradients or side effects",
    Severity.LOST_VALIDATION: "lost validation",
    Severity.CRASH: "crashes",
    Severity.METADATA: "metadata",
}
"""The name of each severity where findings are counted."""


def in_parentheses(severities: Mapping[str, int]) -> str:
    """`` (wrong values: 1, crashes: 2)``; empty where nothing was counted."""
    words = ", ".join(f"{SEVERITY[severity]}: {number:,}" for severity, number in severities.items())
    return f" ({words})" if words else ""


def style_of(kind: str) -> str:
    """The rich style of a verdict kind: green agrees, red is a defect of the compiler, yellow needs a look."""
    if kind == VerdictKind.AGREE:
        return "green"
    if kind in FINDINGS:
        return "bold red"
    return "yellow" if kind in (VerdictKind.FLAKY, VerdictKind.SUSPECT_RULE, VerdictKind.INVALID_SEED) else "cyan"


def is_defect(kind: str) -> bool:
    """Whether this kind counts as a finding once confirmed."""
    return kind in FINDINGS
