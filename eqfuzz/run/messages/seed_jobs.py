"""Jobs about a seed, and what their children report: a run of its cells, an explanation of one rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.oracle.compare.single_result import ResultPlaces
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.program.program import Program
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.rewrite.rule_match import Explanation
from eqfuzz.run.configs.named import GUARDS, Config
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.job import ChildEvent, Count, Job, JobScope, Name, ProgramInvalid, Seconds, Text

FEATURES = 100_000
RESULTS = 10_000
CALLS = 1000
_NAME_CHARACTERS = 1000
_TEXT_CHARACTERS = 4 * 2**20


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def _is_name(text: str) -> bool:
    return len(text) <= _NAME_CHARACTERS and "\n" not in text and "\r" not in text


def _bounded_verdict(verdict: Verdict) -> Verdict:
    """``verdict``, checked as strictly as the fields of events. Raises ValueError."""
    _require(len(verdict.message) <= _TEXT_CHARACTERS, "the message is too long")
    _require(_is_name(verdict.cause), "the cause is not one line")
    _require(_is_name(verdict.oracle), "the oracle is not one line")
    evidence = verdict.evidence
    if evidence is not None:
        _require(all(map(_is_name, (evidence.path, *evidence.frames))), "the place is not one line")
        counts = evidence.call, evidence.wrong_elements, evidence.elements, evidence.unstable_elements
        _require(min(*counts, *(evidence.index or ())) >= 0, "a count is negative")
        _require(evidence.error_map is None or evidence.error_map.is_bounded, "the map of errors is none")
    return verdict


def _bounded_step(step: RewriteStep) -> RewriteStep:
    """``step``, checked as strictly as the fields of events. Raises ValueError."""
    _require(_is_name(step.rule), "the rule is not one line")
    _require(min(step.line, step.start) >= 0, "a position is negative")
    return step


CheckedVerdict = Annotated[Verdict, AfterValidator(_bounded_verdict)]
CheckedStep = Annotated[RewriteStep, AfterValidator(_bounded_step)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class VariantRecord:
    """A variant: its text, how it was derived, and how equal to the original it is."""

    source: Text
    derivation: tuple[CheckedStep, ...]
    exactness: Name

    @property
    def rules(self) -> list[str]:
        """The names of the rules, in the order in which they were applied."""
        return [step.rule for step in self.derivation]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramRewritten(ChildEvent):
    """The variants of the seed. ``sites`` and ``cells`` are counts; ``listed_sites`` are empty if not asked for.

    ``eager_seconds``: wall seconds of a call in eager, forward and backward.
    """

    event: Literal["rewritten"] = "rewritten"
    sites: Count
    cells: Count
    eager_seconds: Seconds = 0.0
    variants: tuple[VariantRecord, ...]
    listed_sites: tuple[CheckedStep, ...] = ()

    @property
    def unique_key(self) -> Hashable:
        return self.event

    @property
    def variant_count(self) -> int:
        return len(self.variants)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CellReport(ChildEvent):
    """A cell was judged; without device and configuration: variant ``variant`` in eager, against the original.

    Attributes:
        variant: Its number; 0 is the original.
        device: ``cpu`` or ``cuda``.
        config: Name of the compile configuration.
        verdict: The gravest difference, or that there is none.
        seconds: Wall time spent.
        compiled: Dynamo's counts by name; None where nothing was compiled.
        erased: Whether the compiler generated code that it had generated for an earlier cell of the job; it has no
            ``features`` then.
        only_graphs: Whether its graphs gave the verdict, and were not compiled to code, see ``RunJob``.
        features: Hashes of the reached features of the compiler, where they were asked for.
        apart: Verdicts other than agreement on single results by number, see ``RunJob``.
        explained: Digests of the values of calls that differ, and agree as far as rounding explains.
    """

    event: Literal["cell"] = "cell"
    variant: Count
    device: Name
    config: Name
    verdict: CheckedVerdict
    seconds: Seconds = 0.0
    compiled: dict[Name, Count] | None = None
    erased: bool = False
    only_graphs: bool = False
    features: Annotated[tuple[int, ...], Field(max_length=FEATURES)] = ()
    apart: Annotated[tuple[tuple[Count, CheckedVerdict], ...], Field(max_length=RESULTS)] = ()
    explained: Annotated[tuple[Name, ...], Field(max_length=CALLS)] = ()

    @property
    def cell(self) -> tuple[int, str, str]:
        return self.variant, self.device, self.config

    @property
    def unique_key(self) -> Hashable:
        return self.cell


@dataclasses.dataclass(frozen=True, kw_only=True)
class LinesTraced(ChildEvent):
    """The lines of the compiler that ran: by file, a bitmap in hexadecimal digits."""

    event: Literal["lines"] = "lines"
    files: dict[Name, Annotated[str, StringConstraints(max_length=100_000, pattern=r"^[0-9a-f]+$")]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResourcesUsed(ChildEvent):
    """CPU seconds by stage, MiB of memory at the peak, counts of kernels where cells were batched."""

    event: Literal["timings"] = "timings"
    seconds: dict[Name, Seconds]
    peak_mb: Count
    kernels: dict[Name, Count] = dataclasses.field(default_factory=dict[str, int])


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleExplained(ChildEvent):
    """Where a rule applies, and why not elsewhere."""

    event: Literal["explained"] = "explained"
    rule: Name
    explanation: Explanation


A = TypeVar("A", bound=ChildEvent)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramJob(Job[A]):
    """A job about one program.

    Attributes:
        program: The program.
        seed: Decides its inputs.
        limits: On time, memory and output.
        checks: The oracles asked and the kinds of further calls made, see ``checks.py``.
        steps: Number of changes that a guard must notice, drawn for the original.
        input_sets: Number of its input sets that are used, from the first; 0: all.
        rules_from: Absolute paths of the user's rules.
        no_reference: Numbers of the variants that are judged without a reference.
        no_sequence: Numbers of the variants that are judged without further calls.
    """

    program: Program
    seed: int = 0
    limits: Limits = dataclasses.field(default_factory=Limits)
    checks: tuple[str, ...] = DEFAULT_CHECKS
    steps: int = 1
    input_sets: int = 0
    rules_from: tuple[str, ...] = ()
    no_reference: tuple[int, ...] = ()
    no_sequence: tuple[int, ...] = ()

    @property
    def is_untrusted(self) -> bool:
        return self.program.untrusted


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunJob(ProgramJob[ResourcesUsed]):
    """Judge a seed and its variants under all configurations.

    Attributes:
        rules: Names of the selected rules.
        strategy: One of ``eqfuzz.rewrite.strategy``, or ``none``.
        depth: Rewrites of a random derivation.
        variants: Largest number of variants; 0: no limit.
        devices: ``cpu``, ``cuda`` or both.
        configs: The compile configurations.
        original_only: Names of the configurations that are not for variants.
        favoured: Families of rules that random derivations draw from more often.
        skip: Cells judged before: variant, device and configuration.
        skip_variants: Numbers of the variants whose run in eager ended an earlier child.
        without_end: Devices and configurations under which the original does not end: variants are not run there.
        guard_steps: Takes the place of ``steps`` under ``GUARDS``.
        in_batches: Whether compiled cells run in processes of their own that share the C++ compiler, see ``batch``;
            else they run one after the other in the child itself, as torch does it.
        signals: Whether the features of each compiled cell are reported.
        traced: Whether the lines of the compiler that ran are reported.
        dry_run: Whether nothing is compiled.
        list_sites: With ``dry_run``: whether the sites are reported too, and no variant runs at all.
        results: For each item of the tuple that the program returns what belongs to it: where a compiled original
            differs, each item is judged on its own too, and that once only: not again on torch's stock path. Empty:
            there are no such items.
        graphs_first: Whether cells of Inductor on the CPU stop where the graphs that it would lower compute what eager
            does, or nothing can be said of it; only the others are compiled to code.
    """

    EVENTS = (ProgramInvalid, ProgramRewritten, CellReport, LinesTraced, ResourcesUsed)
    ANSWER = ResourcesUsed

    job: Literal["run"] = "run"
    rules: tuple[str, ...] = ()
    strategy: str = "each"
    depth: int = 1
    variants: int = 1
    devices: tuple[str, ...] = ("cpu",)
    configs: tuple[Config, ...] = ()
    original_only: tuple[str, ...] = ()
    favoured: tuple[str, ...] = ()
    skip: tuple[tuple[int, str, str], ...] = ()
    skip_variants: tuple[int, ...] = ()
    without_end: tuple[tuple[str, str], ...] = ()
    guard_steps: int = 0
    in_batches: bool = False
    signals: bool = False
    traced: bool = False
    dry_run: bool = False
    list_sites: bool = False
    results: tuple[ResultPlaces, ...] = ()
    graphs_first: bool = False

    @property
    def scope(self) -> JobScope:
        return JobScope(self.devices, tuple(config.name for config in self.configs), self.variants, self.limits)

    def steps_under(self, config: str) -> int:
        """How many changes that a guard must notice are drawn for the original's cell under ``config``."""
        return self.guard_steps if config == GUARDS.name else self.steps


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExplainJob(ProgramJob[RuleExplained]):
    """Report where ``rule`` applies in a seed, and why not elsewhere."""

    EVENTS = (ProgramInvalid, RuleExplained)
    ANSWER = RuleExplained

    job: Literal["explain"] = "explain"
    rule: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class SeedValidated(ChildEvent):
    """A seed loads, and does the same on each of two runs in eager, on so many input sets."""

    event: Literal["validated"] = "validated"
    input_sets: Count


@dataclasses.dataclass(frozen=True, kw_only=True)
class ValidateJob(ProgramJob[SeedValidated]):
    """Load a seed and run it twice in eager."""

    EVENTS = (ProgramInvalid, SeedValidated)
    ANSWER = SeedValidated

    job: Literal["validate"] = "validate"
