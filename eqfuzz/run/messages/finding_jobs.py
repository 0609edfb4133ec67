"""Jobs about one variant of a program, as a finding or the user names it, and their children's answers."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal, TypeVar

from pydantic import StringConstraints

from eqfuzz.oracle.audit.suspect import Audit
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.run.configs.named import DEFAULT_CONFIG, Config
from eqfuzz.run.messages.job import ChildEvent, Count, Identifier, JobScope, Name, ProgramInvalid, Text
from eqfuzz.run.messages.seed_jobs import CellReport, CheckedVerdict, ProgramJob, VariantRecord

LITERAL_CHARACTERS = 16 * 2**20

_Literal = Annotated[str, StringConstraints(max_length=LITERAL_CHARACTERS)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class VariantRederived(ChildEvent):
    """The variant that was derived again, step by step."""

    event: Literal["rederived"] = "rederived"
    variant: VariantRecord


@dataclasses.dataclass(frozen=True, kw_only=True)
class CallsDescribed(ChildEvent):
    """Calls and module state as Python source.

    Attributes:
        calls: The body of a generator function.
        state: An expression; None where the program has no state.
        packs: Whether a tensor is written as packed bytes, so that a script needs the function ``unpack``.
        changes: ``(label, before, within)`` of each call.
        globals: The plain globals that the program may change or create.
        functions: Its functions and classes that hold on to what a call may change.
        problem: Why there is no such source; empty where there is.
    """

    event: Literal["described"] = "described"
    calls: _Literal
    state: _Literal | None
    packs: bool
    changes: tuple[tuple[Text, Text, Text], ...]
    globals: tuple[Identifier, ...]
    functions: tuple[Identifier, ...]
    problem: Text = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompiledRunJudged(ChildEvent):
    """The verdict on a compiled run as a whole."""

    event: Literal["judged"] = "judged"
    verdict: CheckedVerdict


@dataclasses.dataclass(frozen=True, kw_only=True)
class OperatorsAudited(ChildEvent):
    """The audit of a compiled run, operator by operator; None where Inductor does not compile it."""

    event: Literal["audited"] = "audited"
    audit: Audit | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class BisectorResult:
    """What torch's bisector names; ``change`` is the rewrite of a graph pass that is at fault, if known."""

    backend: Name
    subsystem: Name | None = None
    bisect_number: Count | None = None
    debug_info: Text | None = None
    change: Text = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class FaultBisected(ChildEvent):
    """The component that torch's bisector names for a verdict; ``problem`` says why there is none, if it failed."""

    event: Literal["bisected"] = "bisected"
    verdict: CheckedVerdict
    result: BisectorResult | None
    problem: Text = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AccuracyChecked(ChildEvent):
    """Whether PyTorch's accuracy checks pass the tensors of the last call: by path and name of the check."""

    event: Literal["same"] = "same"
    results: dict[Name, dict[Name, bool]]


A = TypeVar("A", bound=ChildEvent)

_ALWAYS = (ProgramInvalid, CellReport, VariantRederived)
"""Events of every job about a variant: making it again is judged as a cell of its own."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class VariantJob(ProgramJob[A]):
    """A job about the variant ``transformed`` (empty: the program itself), on its first ``calls`` calls (0: all).

    With ``steps_taken`` it is about what the program becomes by them, and ``transformed`` does not count. Only
    ``CompareJob`` looks at more than the first of ``configs``.
    """

    device: str = "cpu"
    configs: tuple[Config, ...] = (DEFAULT_CONFIG,)
    transformed: str = ""
    calls: int = 0
    steps_taken: tuple[RewriteStep, ...] = ()

    @property
    def scope(self) -> JobScope:
        return JobScope((self.device,), tuple(config.name for config in self.configs), limits=self.limits)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DescribeJob(VariantJob[CallsDescribed]):
    """Write the calls and small module state as Python source, for a reproducer."""

    EVENTS = (*_ALWAYS, CallsDescribed)
    ANSWER = CallsDescribed

    job: Literal["describe"] = "describe"


@dataclasses.dataclass(frozen=True, kw_only=True)
class AuditJob(VariantJob[OperatorsAudited]):
    """Judge each operator of the compiled run by itself; ``whole``: the program must be valid, and is judged first."""

    EVENTS = (*_ALWAYS, CompiledRunJudged, OperatorsAudited)
    ANSWER = OperatorsAudited

    job: Literal["audit"] = "audit"
    whole: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompareJob(VariantJob[CellReport]):
    """Judge the variant under all configurations, in the child itself."""

    EVENTS = _ALWAYS
    ANSWER = CellReport

    job: Literal["compare"] = "compare"


@dataclasses.dataclass(frozen=True, kw_only=True)
class BisectJob(VariantJob[FaultBisected]):
    """Find the part of the compiler that the verdict comes from, with torch's bisector."""

    EVENTS = (*_ALWAYS, FaultBisected)
    ANSWER = FaultBisected

    job: Literal["bisect"] = "bisect"


@dataclasses.dataclass(frozen=True, kw_only=True)
class AccuracyJob(VariantJob[AccuracyChecked]):
    """Ask PyTorch's accuracy checks about the last call."""

    EVENTS = (*_ALWAYS, AccuracyChecked)
    ANSWER = AccuracyChecked

    job: Literal["same"] = "same"
