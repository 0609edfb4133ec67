"""Fingerprints: readable names of defects, equal for findings of the same defect.

An exception is identified by its text without the names and numbers that differ between programs, and by the
innermost functions of torch in its traceback. Other findings are identified by the kind of difference and the faulty
component: the pass, lowering or decomposition that torch's bisector names, or the kind of value without a guard; where
neither is known, by the features of the reduced program.
"""

from __future__ import annotations

import ast
import contextlib
import re
from typing import Any

from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.normalised_messages import CALL, normalised
from eqfuzz.program.parsing import parse_expression
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.program_features import features_of
from eqfuzz.triage.findings.stage import STAGES

DIFFERENCES = {
    VerdictKind.WRONG_RESULT: "values",
    VerdictKind.WRONG_GRADIENT: "values",
    VerdictKind.WRONG_SIDE_EFFECT: "values",
    VerdictKind.WRONG_METADATA: "metadata",
    VerdictKind.COMPILER_CRASH: "raises",
    VerdictKind.EXCEPTION_MISMATCH: "raises",
    VerdictKind.PROCESS_CRASH: "crashes",
    VerdictKind.HANG: "hangs",
    VerdictKind.OUT_OF_MEMORY: "exhausts memory",
}
"""The kind of difference by kind of verdict: a wrong value, output or gradient, is one defect."""

ARGUMENT = "an argument that is no tensor"
ATTRIBUTE = "an attribute of the module"
GLOBAL = "a global"
SEPARATOR = " · "

_CHANGES = {
    r"^model\.train\(": "train or eval",
    r"^model\.": ATTRIBUTE,
    r"^sizes ": "sizes",
    r"^other strides": "strides",
    r"^torch\.\w+ becomes ": "dtypes",
    r" becomes ": ARGUMENT,
    r"^k?w?args\[.*\] without ": "the keys of a dictionary",
    r"^k?w?args\[.*\] has \d+ items": "the length of a list",
    r"^[A-Za-z_]\w* is ": GLOBAL,
    r"^under no_grad": "grad mode",
    r"^under autocast": "autocast",
    r"^args\[\d+\] (and|is) args": "arguments that share memory",
}
"""What a call changed, in words, by a pattern of its label."""

_FREE = {
    "": "",
    "the same inputs again": "repeat",
    "new values": "values",
    "integer values": "integers",
    "the first inputs after that": "",
}
"""The checks that make calls without a change that needs a guard, by the label; none for those of the seed."""

_FAKE_CALL = re.compile(r"(RuntimeError when making fake tensor call: )\S+: (?=\w+: )")
"""Dynamo puts the operator before the exception, and one defect meets every operator on the same kind of tensor."""


def fingerprint(finding: Finding) -> str:
    """One line, equal for findings of the same defect; less exact for a finding that is not localised."""
    difference = DIFFERENCES[finding.verdict.kind]
    if finding.verdict.oracle:
        difference = SEPARATOR.join((difference, f"oracle {finding.verdict.oracle}"))
    if finding.verdict.raises:
        return SEPARATOR.join((difference, _FAKE_CALL.sub(r"\1", finding.verdict.exception)))
    guarded = guarded_by(finding)
    if guarded:
        return SEPARATOR.join((difference, f"guard on {guarded}"))
    of_writes = finding.verdict.kind is VerdictKind.WRONG_SIDE_EFFECT
    more = [] if finding.exact_blame is not None else [", ".join(features_of(finding.transformed, of_writes=of_writes))]
    return SEPARATOR.join([part for part in (difference, finding.place, *more) if part])


def guarded_by(finding: Finding) -> str:
    """What a missing guard is on, in words; empty where no guard is missing."""
    if finding.unguarded or finding.stage != STAGES["eager"]:
        return finding.unguarded
    changed = changed_by(finding.verdict)
    # Both are guarded: the results of the new graph are laid out otherwise, or have another dtype.
    of_results = finding.verdict.kind is VerdictKind.WRONG_METADATA and changed in ("strides", "dtypes")
    return "" if of_results else changed


def changed_by(verdict: Verdict) -> str:
    """What the failing call changed, in words; empty for a change that needs no guard."""
    label = _label(verdict)
    if label in _FREE:
        return ""
    words = [words for pattern, words in _CHANGES.items() if re.search(pattern, label)]
    return words[0] if words else normalised(label)


def check_of(verdict: Verdict) -> str:
    """The check that made the failing call; empty for a call of the seed, or a change that needs a guard."""
    return _FREE.get(_label(verdict), "")


def changed_to(verdict: Verdict) -> Any:
    """The plain value that the failing call put in place of another; None where its label has none."""
    text = re.split(r" becomes | is ", _label(verdict), maxsplit=1)[-1]
    for read in (_literal, float):
        with contextlib.suppress(ValueError, SyntaxError):
            return read(text)
    return None


def _literal(text: str) -> Any:
    return ast.literal_eval(parse_expression(text.lstrip(" \t")))


def _label(verdict: Verdict) -> str:
    match = CALL.match(verdict.message)
    return (match["label"] or "") if match is not None else ""
