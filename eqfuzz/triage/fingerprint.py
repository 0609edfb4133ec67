"""Fingerprints: what makes two findings the same defect, in words that a person can read.

An exception is known by its text without the names and numbers that differ from program to program, and by the
innermost functions of torch that it passed. Anything else is known by the kind of difference and the place in the
compiler: the pass, lowering or decomposition that torch's bisector names; the change of call that a guard missed; where
neither is known, what the reduced program consists of.
"""

from __future__ import annotations

import dataclasses
import re

from eqfuzz.judge.verdict import Kind, Verdict
from eqfuzz.program.torch_internals import application
from eqfuzz.triage.essence import essence
from eqfuzz.triage.finding import Finding

DIFFERENCES = {
    Kind.WRONG_RESULT: "values",
    Kind.WRONG_GRADIENT: "values",
    Kind.WRONG_SIDE_EFFECT: "values",
    Kind.WRONG_METADATA: "metadata",
    Kind.COMPILER_CRASH: "raises",
    Kind.EXCEPTION_MISMATCH: "raises",
    Kind.PROCESS_CRASH: "crashes",
    Kind.HANG: "hangs",
    Kind.OUT_OF_MEMORY: "exhausts memory",
}
"""The kind of difference by kind of verdict: a wrong value, output or gradient, is one defect."""

RAISES = "raises"
_DOT = " · "

# An apostrophe within a word (doesn't) opens and closes nothing.
_QUOTED = re.compile(r"(?<!\w)(['\"`]).*?\1(?!\w)")
_NUMBER = re.compile(r"\b0x[0-9a-fA-F…]+|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_CALL = re.compile(r"^call \d+(?: \((?P<label>.*?)\))?: ")
_GUARDED = {
    r"^model\.train\(": "train or eval",
    r"^model\.": "an attribute of the module",
    r"^sizes ": "sizes",
    r"^other strides": "strides",
    r"^torch\.\w+ becomes ": "dtypes",
    r" becomes ": "an argument that is no tensor",
    r"^k?w?args\[.*\] without ": "the keys of a dictionary",
    r"^k?w?args\[.*\] has \d+ items": "the length of a list",
    r"^[A-Za-z_]\w* is ": "a global",
    r"^under no_grad": "grad mode",
    r"^under autocast": "autocast",
    r"^args\[\d+\] (and|is) args": "arguments that share memory",
}
"""What a call changed that a guard has to notice, by its label."""

_FREE = ("", "the same inputs again", "new values", "integer values", "the first inputs after that")
"""Labels of calls that compiled code serves as it is."""


def fingerprint(finding: Finding) -> str:
    """One line; equal for findings of the same defect. Of an unplaced finding it says as much as is known."""
    difference = DIFFERENCES[finding.verdict.kind]
    if difference == RAISES:
        return raised_as(finding.verdict)
    guarded = guarded_by(finding.verdict)
    place = _place(finding)
    more = (
        [f"guard on {guarded}"] if guarded else [] if is_exact(finding) else [", ".join(essence(finding.transformed))]
    )
    return _DOT.join([part for part in (difference, place, *more) if part])


def raised_as(verdict: Verdict) -> str:
    """The fingerprint of an exception: its text, and the innermost functions of torch that it passed."""
    frames = verdict.evidence.frames if verdict.evidence is not None else ()
    return _DOT.join([RAISES, normalised(verdict.message), *([" < ".join(frames)] if frames else [])])


def is_exact(finding: Finding) -> bool:
    """Whether torch's bisector named the very pass, lowering or decomposition."""
    return finding.blame is not None and bool(finding.blame.detail)


def guarded_by(verdict: Verdict) -> str:
    """What the call changed that a guard has to notice, in words; empty where the call is like the first."""
    found = _CALL.match(verdict.message)
    label = (found["label"] or "") if found is not None else ""
    if label in _FREE:
        return ""
    words = [words for pattern, words in _GUARDED.items() if re.search(pattern, label)]
    return words[0] if words else normalised(label)


def normalised(message: str) -> str:
    """``message`` without what differs between programs that fail alike: call, names in quotes, numbers."""
    text = _CALL.sub("", " ".join(message.split()))
    return _QUOTED.sub(r"\1…\1", _NUMBER.sub("N", text))[:200].rstrip()


def _place(finding: Finding) -> str:
    blame = finding.blame
    if blame is None:
        return finding.place
    return dataclasses.replace(blame, detail=application(blame.detail)).in_words()
