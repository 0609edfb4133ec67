"""A finding: a verdict that survived confirmation, with all that a report needs."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

from eqfuzz.oracle.compare.verdict import ABOUT_VALUES, Verdict
from eqfuzz.program.program import Program
from eqfuzz.rewrite.derivation import RewriteStep
from eqfuzz.triage.findings.severity import Severity, severity
from eqfuzz.triage.findings.stage import Ablation, Blame


@dataclasses.dataclass(frozen=True)
class ReductionResult:
    """How far a finding was reduced: before and after. ``tries`` counts the programs that were judged for it."""

    rewrites: tuple[int, int]
    statements: tuple[int, int]
    characters: tuple[int, int]
    tries: int


@dataclasses.dataclass(frozen=True)
class Finding:
    """One defect as seen on one cell.

    ``derivation`` is empty when the original itself shows it. ``cells`` says for each of the four cells
    (``P``, ``C(P)``, ``P'``, ``C(P')``) what was seen, in a few words. ``also`` counts the other cells of the same seed
    that showed the same (kind, place, configuration, device). ``suspects`` are operators that the local audit found
    wrong by themselves, in words; ``ablation`` is what the backends before the finding's own show,
    ``blame`` what torch's bisector told, ``unguarded`` the kind of value that no guard looks at. ``fingerprint`` names
    the defect once its place is known. ``reduced`` is set where programs, derivation and verdict are those of a smaller
    program than the run's.
    """

    id: str
    original: Program
    transformed: Program
    derivation: tuple[RewriteStep, ...]
    verdict: Verdict
    device: str
    config: str
    settings: dict[str, Any]
    cells: dict[str, str]
    also: int
    environment: dict[str, Any]
    suspects: tuple[str, ...] = ()
    ablation: Ablation | None = None
    blame: Blame | None = None
    unguarded: str = ""
    fingerprint: str = ""
    reduced: ReductionResult | None = None

    @property
    def only_transformed(self) -> bool:
        """Whether the original shows nothing of the kind: the find that no other tool makes."""
        seen = self.cells.get("C(P)")
        alike = ABOUT_VALUES if self.verdict.is_about_values else (self.verdict.kind,)
        return bool(self.derivation) and seen not in alike

    @property
    def original_is_right(self) -> bool:
        """Whether the original was compiled too, and compiles right."""
        return self.cells.get("C(P)") == "agree"

    @property
    def place(self) -> str:
        """Where in the compiler it comes from, as closely as is known, in words; empty where nothing is."""
        if self.blame is not None:
            return self.blame.in_words()
        return self.ablation.stage if self.ablation is not None else ""

    @property
    def threads(self) -> int:
        """How many threads it was seen with, in eager and compiled."""
        return self.settings.get("threads", 1)

    @property
    def about_threads(self) -> str:
        """How many threads it takes, in words; empty where it was met with one."""
        with_one = self.environment.get("one_thread", "")
        if self.threads == 1:
            return "one is enough" if with_one else ""
        return f"{self.threads}; with one: {with_one or 'not judged'}"

    @property
    def severity(self) -> Severity:
        return severity(self.verdict)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Finding:
        return cls(
            **{
                **data,
                "original": Program.from_json(data["original"]),
                "transformed": Program.from_json(data["transformed"]),
                "derivation": tuple(RewriteStep(**step) for step in data["derivation"]),
                "suspects": tuple(data.get("suspects", ())),
                "ablation": Ablation(**data["ablation"]) if data.get("ablation") else None,
                "blame": Blame(**data["blame"]) if data.get("blame") else None,
                "verdict": Verdict.from_json(data["verdict"]),
                "reduced": ReductionResult(**{k: _pair(v) for k, v in data["reduced"].items()})
                if data.get("reduced")
                else None,
            }
        )


def seen_beside(verdict: Verdict, original: Verdict | None) -> str:
    """What the original's cell shows, None where it was not run, beside the ``verdict`` of a finding, in words."""
    if original is None:
        return "not run"
    another = original.raises and original.kind is verdict.kind and original.exception != verdict.exception
    return f"{original.kind} (another exception)" if another else str(original.kind)


def _pair(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def finding_id(
    original: Program, transformed: Program, verdict: Verdict, device: str, settings: dict[str, Any], preload: str
) -> str:
    """Ten hex digits: the same finding gets the same id in every run."""
    what = [original.digest, transformed.digest, str(verdict.kind), device, settings, preload]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:10]
