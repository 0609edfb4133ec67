"""A finding: a confirmed verdict with everything that a report needs."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

from eqfuzz.oracle.compare.verdict import ABOUT_VALUES, Verdict
from eqfuzz.program.program import Program
from eqfuzz.rewrite.graphs.graph_step import GraphStep
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.severity import Severity, severity
from eqfuzz.triage.findings.stage import Ablation, Blame

Confirmation = Literal["fresh process", "fork"]
FRESH: Confirmation = "fresh process"
FORK: Confirmation = "fork"
"""A clean fork of the process that has imported torch, on torch's stock path."""


@dataclasses.dataclass(frozen=True)
class ReductionResult:
    """Sizes of a finding before and after reduction. ``tries`` counts the programs that were run for it."""

    rewrites: tuple[int, int]
    statements: tuple[int, int]
    characters: tuple[int, int]
    tries: int


@dataclasses.dataclass(frozen=True)
class DrawCount:
    """``shown`` of ``judged`` random draws of the inputs show the finding."""

    shown: int
    judged: int

    def __str__(self) -> str:
        return f"{self.shown} of {self.judged}"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One defect as seen on one cell.

    Only the fields up to ``environment`` are set when a finding is made; what triage finds out later is added.
    """

    id: str
    """Name of its folder, equal in all runs that make it."""
    original: Program
    """The seed."""
    transformed: Program
    """The program that was compiled; ``original`` itself where it needed no rewrite."""
    derivation: tuple[RewriteStep, ...]
    """From ``original`` to ``transformed``; empty where they are the same."""
    verdict: Verdict
    """The difference between eager and compiled."""
    device: str
    """``cpu`` or ``cuda``."""
    config: str
    """The name of the configuration, whose options ``settings`` holds as far as they are not the default's."""
    settings: dict[str, Any]
    """Fields of the configuration that differ from its default."""
    cells: dict[str, str]
    """What was seen in each of the four cells (``P``, ``C(P)``, ``P'``, ``C(P')``), in a few words."""
    also: int
    """How many other cells of the same seed have the same symptom."""
    environment: FindingEnvironment
    """Versions, and parameters of the run."""
    suspects: tuple[str, ...] = ()
    """Operators that the local audit found wrong by themselves, a line each."""
    draws: DrawCount | None = None
    """How many random draws of the inputs show it; None where not looked at."""
    one_thread: str = ""
    """The kind of verdict with one thread, where the finding was made with several; empty where not looked at."""
    ablation: Ablation | None = None
    """Verdicts of other backends; None where not looked at."""
    blame: Blame | None = None
    """What torch's bisector names; None where it names nothing or was not asked."""
    unguarded: str = ""
    """The kind of value that no guard of Dynamo looks at; empty where that is not the defect."""
    fingerprint: str = ""
    """Names the defect; empty until it is localised."""
    confirmation: Confirmation = FRESH
    """Where the difference was seen again: the first of a defect in a fresh process, others in a fork."""
    reduced: ReductionResult | None = None
    """Set where programs, derivation and verdict are those of a smaller program than the run's."""

    @property
    def only_transformed(self) -> bool:
        """Whether the original has no such symptom: such findings need the rewrite."""
        seen = self.cells.get("C(P)")
        alike = ABOUT_VALUES if self.verdict.is_about_values else (self.verdict.kind,)
        return bool(self.derivation) and seen not in alike

    def for_seed(self, name: str) -> Finding:
        """The finding of the same program under another name."""
        original, transformed = (
            dataclasses.replace(program, name=name) for program in (self.original, self.transformed)
        )
        return dataclasses.replace(self, original=original, transformed=transformed)

    @property
    def original_is_right(self) -> bool:
        """Whether the original was compiled as well and agrees with eager."""
        return self.cells.get("C(P)") == "agree"

    @property
    def graph_steps(self) -> tuple[str, ...]:
        """The rewrites of graphs inside the compiler, in words."""
        return tuple(str(GraphStep(**step)) for step in self.settings.get("graph", ()))

    @property
    def place(self) -> str:
        """The faulty component as exactly as it is known, in words; empty where nothing is known."""
        if self.blame is not None:
            return self.blame.in_words()
        return self.stage

    @property
    def stage(self) -> str:
        """The stage of the compiler that is at fault, in words; empty where it is not known."""
        return self.ablation.stage if self.ablation is not None else ""

    @property
    def backends(self) -> Mapping[str, str]:
        """The kind of verdict by backend, of those before the finding's own; empty where they were not judged."""
        return self.ablation.shown if self.ablation is not None else {}

    @property
    def exact_blame(self) -> Blame | None:
        """The ``blame`` where it names the very pass, lowering or decomposition.

        Torch's bisector also ends at options that change much at once, as at rounding every half-precision
        intermediate.
        """
        return self.blame if self.blame is not None and self.blame.is_exact else None

    @property
    def path(self) -> str:
        """Which part of an observation differs, such as ``output[0]``; empty where nothing was compared."""
        return self.verdict.evidence.path if self.verdict.evidence is not None else ""

    @property
    def call(self) -> int:
        """The number of the call that shows it, from 0."""
        return self.verdict.evidence.call if self.verdict.evidence is not None else 0

    @property
    def threads(self) -> int:
        """The number of threads, in eager and compiled."""
        return self.settings.get("threads", 1)

    @property
    def about_threads(self) -> str:
        """How many threads it needs, in words; empty where it was found with one."""
        if self.threads == 1:
            return "one is enough" if self.one_thread else ""
        return f"{self.threads}; with one: {self.one_thread or 'not judged'}"

    @property
    def severity(self) -> Severity:
        return severity(self.verdict)

    def to_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "environment": self.environment.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Finding:
        """Raises ValueError, KeyError or TypeError where ``data`` is no finding."""
        data = _migrated(data)
        return cls(
            **{
                **data,
                "environment": FindingEnvironment.model_validate(data["environment"]),
                "draws": DrawCount(**data["draws"]) if data.get("draws") else None,
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


def original_outcome(verdict: Verdict, original: Verdict | None) -> str:
    """The ``original``'s own verdict (None: not run) in comparison with the ``verdict`` of a finding, in words."""
    if original is None:
        return "not run"
    another = original.raises and original.kind is verdict.kind and original.exception != verdict.exception
    return f"{original.kind} (another exception)" if another else str(original.kind)


def _migrated(data: dict[str, Any]) -> dict[str, Any]:
    """``data`` in its current form: earlier versions stored two results in the environment, draws as ``2 of 3``."""
    environment = dict(data["environment"])
    draws, one_thread = environment.pop("draws", ""), environment.pop("one_thread", "")
    moved: dict[str, Any] = {"one_thread": one_thread} if one_thread else {}
    if draws:
        failing, _, judged = draws.partition(" of ")
        moved["draws"] = {"shown": int(failing), "judged": int(judged)}
    return {**data, "environment": environment, **moved}


def _pair(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def finding_id(
    original: Program, transformed: Program, verdict: Verdict, device: str, settings: dict[str, Any], preload: str
) -> str:
    """Ten hex digits: the same finding gets the same id in every run."""
    what = [original.digest, transformed.digest, str(verdict.kind), device, settings, preload]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:10]
