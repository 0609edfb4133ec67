"""Verdicts: the outcome of a comparison, with the numbers behind it."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Any

from eqfuzz.oracle.compare.error_map import ErrorMap
from eqfuzz.oracle.observe.normalised_messages import normalised


class VerdictKind(StrEnum):
    """The kinds of verdict. Those in ``FINDINGS`` are reported as bugs once confirmed. The gravest are first."""

    AGREE = "agree"
    WRONG_RESULT = "wrong-result"
    WRONG_GRADIENT = "wrong-gradient"
    WRONG_SIDE_EFFECT = "wrong-side-effect"
    EXCEPTION_MISMATCH = "exception-mismatch"
    COMPILER_CRASH = "compiler-crash"
    PROCESS_CRASH = "process-crash"
    HANG = "hang"
    OUT_OF_MEMORY = "out-of-memory"
    WRONG_METADATA = "wrong-metadata"
    SLOW = "slow"
    FLAKY = "flaky"
    SUSPECT_RULE = "suspect-rule"
    INCONCLUSIVE = "inconclusive"
    UNSUPPORTED = "unsupported"
    INVALID_SEED = "invalid-seed"


ABOUT_VALUES = (VerdictKind.WRONG_RESULT, VerdictKind.WRONG_GRADIENT, VerdictKind.WRONG_SIDE_EFFECT)
"""Kinds of a wrong value, which one defect can cause in any of these places."""

RAISING = (VerdictKind.EXCEPTION_MISMATCH, VerdictKind.COMPILER_CRASH)
"""Kinds that are about an exception."""

FINDINGS = frozenset(
    {
        VerdictKind.WRONG_RESULT,
        VerdictKind.WRONG_METADATA,
        VerdictKind.WRONG_GRADIENT,
        VerdictKind.WRONG_SIDE_EFFECT,
        VerdictKind.EXCEPTION_MISMATCH,
        VerdictKind.COMPILER_CRASH,
        VerdictKind.PROCESS_CRASH,
        VerdictKind.HANG,
        VerdictKind.OUT_OF_MEMORY,
    }
)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """The worst element of a difference and its numbers. Values are Python scalars or strings, and so travel as JSON.

    Attributes:
        call: The call, counted from 0.
        path: The Python expression of the leaf (``output[0]['a']``, ``gradient of args[1]``,
            ``model.net[0].running_mean``), or ``structure(args[0])`` where its structure differs; the values are then
            both structures.
        index: The element in the leaf; None where it is no single one.
        eager: The value in eager.
        compiled: The value compiled, or of the variant.
        reference: The value in higher precision; None where there is none.
        allowed: The largest |compiled − reference| that would have been accepted; 0.0 where equality is required.
        wrong_elements: Elements of the leaf that differ by more than is allowed.
        elements: All elements of the leaf.
        unstable_elements: Elements that rounding alone can change much.
        frames: The functions of torch that an exception came from, the innermost first.
        error_map: Where in the leaf the values differ; None where that was not recorded.
    """

    call: int = 0
    path: str = ""
    index: tuple[int, ...] | None = None
    eager: Any = None
    compiled: Any = None
    reference: Any = None
    allowed: float | None = None
    wrong_elements: int = 0
    elements: int = 0
    unstable_elements: int = 0
    frames: tuple[str, ...] = ()
    error_map: ErrorMap | None = None


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One comparison's outcome; ``message`` is one line.

    ``cause`` is the reason why a flaky one is no finding, in the same words for all of one cause. ``oracle`` names the
    user's oracle that complained; it is empty for eqfuzz's own, which all compare eager and compiled.
    """

    kind: VerdictKind
    message: str
    evidence: Evidence | None = None
    cause: str = ""
    oracle: str = ""

    @property
    def is_finding(self) -> bool:
        return self.kind in FINDINGS

    @property
    def in_words(self) -> str:
        """The message, after the name of the user's oracle that it is from."""
        return f"oracle {self.oracle}: {self.message}" if self.oracle else self.message

    @property
    def is_about_values(self) -> bool:
        return self.kind in ABOUT_VALUES

    @property
    def raises(self) -> bool:
        return self.kind in RAISING

    @property
    def eager_outcome(self) -> str:
        """What the program does in eager: ``runs``, or ``raises IndexError``."""
        eager = self.evidence.eager if self.evidence is not None else None
        return f"raises {eager}" if self.kind is VerdictKind.EXCEPTION_MISMATCH and eager is not None else "runs"

    @property
    def exception(self) -> str:
        """Equal for exceptions of one cause: the message without names and numbers, and torch's innermost functions."""
        frames = self.evidence.frames if self.evidence is not None else ()
        return " · ".join([normalised(self.message), *([" < ".join(frames)] if frames else [])])

    @property
    def symptom(self) -> tuple[str, str]:
        """Equal for verdicts of one difference: the kind, and the exception, the leaf or the message's first words."""
        if self.raises:
            place = self.exception
        elif self.kind is VerdictKind.HANG:
            place = ""  # its message has the seconds of a limit
        else:
            place = self.evidence.path if self.evidence is not None else self.message.split(":")[0]
        return str(self.kind), f"{self.oracle}: {place}" if self.oracle else place

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Verdict:
        evidence = data.get("evidence")
        if evidence is not None:
            index = evidence.get("index")
            frames = tuple(evidence.get("frames", ()))
            places = ErrorMap.from_json(evidence["error_map"]) if evidence.get("error_map") else None
            index = tuple(index) if index is not None else None
            evidence = Evidence(**{**evidence, "index": index, "frames": frames, "error_map": places})
        return cls(VerdictKind(data["kind"]), data["message"], evidence, data.get("cause", ""), data.get("oracle", ""))
