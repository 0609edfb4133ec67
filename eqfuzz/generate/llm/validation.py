"""Validation of programs written by a model: they parse, are allowed, load, run in eager, and have sites for rules."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from enum import StrEnum

from eqfuzz.generate.llm.coverage_job import CoverageJob, PartsReached
from eqfuzz.generate.llm.extraction import MOST_BYTES, UNREADABLE, normalised
from eqfuzz.generate.llm.target_coverage import STAGE
from eqfuzz.generate.llm.white_box import CompilerPart
from eqfuzz.program.formats import recognise
from eqfuzz.program.policy import require_allowed
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.job import ChildEvent, ChildExit, JobRestarted, ProgramInvalid, StageEntered
from eqfuzz.run.messages.seed_jobs import ProgramRewritten, RunJob
from eqfuzz.run.processes.exit_reasons import death_in_words
from eqfuzz.run.processes.pool import Pool

MOST_WORDS = 600
"""Maximal characters of a message: a program may raise a very long one."""

TARGET = CoverageJob.TARGET
"""The target of the pool of a validator."""


class Reason(StrEnum):
    """Why an answer is not a seed: problems of the answer, of the program, and of the infrastructure, in this order."""

    EMPTY = "empty"
    NO_CODE = "no-code"
    CUT_OFF = "cut-off"
    SYNTAX = "syntax"
    TOO_LONG = "too-long"
    POLICY = "policy"
    FORMAT = "format"
    LOAD = "load"
    RAISES = "raises"
    HANG = "hang"
    CRASH = "crash"
    MEMORY = "memory"
    OUTPUT = "output"
    UNDETERMINED = "undetermined"
    NO_SITES = "no-sites"
    DUPLICATE = "duplicate"
    NO_ANSWER = "no-answer"
    BUDGET = "budget"
    BROKEN = "broken"


@dataclasses.dataclass(frozen=True)
class ValidationResult:
    """The result of a validation. ``reason`` is None for a seed; otherwise ``message`` describes the problem.

    ``line`` is the line of the code with the problem, where that is known. ``sites`` counts the sites of rules;
    ``reached`` are the names of the watched parts of the compiler that the program reaches.
    """

    reason: Reason | None
    message: str = ""
    line: int | None = None
    sites: int = 0
    reached: tuple[str, ...] = ()


class Validator:
    """Validates code as untrusted, in the children of ``pool``, whose target is TARGET. Threads may share it."""

    def __init__(self, pool: Pool, limits: Limits, rules: Sequence[str], seed: int = 0) -> None:
        self._pool = pool
        self._limits = limits
        self._rules = tuple(rules)
        self._seed = seed

    def check(self, code: str, watched: Sequence[CompilerPart] = ()) -> ValidationResult:
        """Validate ``code``, and find which parts in ``watched`` it reaches. Raises RunnerFailed without a sandbox."""
        program = self._read(code)
        if isinstance(program, ValidationResult):
            return program
        return self._run(program, watched)

    def _read(self, code: str) -> Program | ValidationResult:
        if len(code.encode()) > MOST_BYTES:
            return ValidationResult(Reason.TOO_LONG, f"the program is longer than {MOST_BYTES // 1024} KiB")
        try:
            digest = hashlib.sha256(normalised(code).encode()).hexdigest()[:12]
        except SyntaxError as error:
            return ValidationResult(Reason.SYNTAX, f"not valid Python: {error.msg}", error.lineno)
        except UNREADABLE as error:
            words = str(error).partition("\n")[0]
            return ValidationResult(
                Reason.SYNTAX, f"not valid Python, or nested too deeply: {words or type(error).__name__}"
            )
        try:
            program = recognise(code, f"llm-{digest}")
        except InvalidSeed as error:
            return ValidationResult(Reason.FORMAT, _short(error.reason), error.line)
        except UNREADABLE as error:
            return ValidationResult(Reason.SYNTAX, f"nested too deeply: {type(error).__name__}")
        program = dataclasses.replace(program, untrusted=True)
        try:
            require_allowed(program)
        except InvalidSeed as error:
            return ValidationResult(
                Reason.POLICY, _short(f"not allowed: {error.reason.removeprefix('policy: ')}"), error.line
            )
        except UNREADABLE as error:
            return ValidationResult(Reason.SYNTAX, f"nested too deeply: {type(error).__name__}")
        return program

    def _run(self, program: Program, watched: Sequence[CompilerPart]) -> ValidationResult:
        run = RunJob(
            program=program,
            seed=self._seed,
            limits=self._limits,
            rules=self._rules,
            configs=(DEFAULT_CONFIG,),
            dry_run=True,
            list_sites=True,
        )
        report = _JobReport()
        for event in self._pool.stream(CoverageJob(run=run, watched=tuple(watched))):
            report.take(event)
        return report.result()


class _JobReport:
    """The result of one job, from its events. The program may have forged any of them."""

    def __init__(self) -> None:
        self.invalid: ValidationResult | None = None
        self.sites: int | None = None
        self.reached: tuple[str, ...] = ()
        self.stage = "start"
        self.exit: ChildExit | None = None

    def take(self, event: ChildEvent) -> None:
        match event:
            case JobRestarted():
                self.__init__()
            case StageEntered():
                self.stage = event.stage
            case ProgramInvalid() if self.invalid is None:
                reason = _reason(self.stage, event.reason)
                self.invalid = ValidationResult(reason, _short(event.reason), event.line)
            case ProgramRewritten():
                self.sites = event.sites
            case PartsReached():
                self.reached = event.parts
            case ChildExit():
                self.exit = event
            case _:
                pass

    def result(self) -> ValidationResult:
        ended, detail = (self.exit.reason, self.exit.detail) if self.exit is not None else ("error", "")
        if self.invalid is not None:
            return self.invalid
        if ended != "done" and not (self.sites and self.stage == STAGE):
            if ended in _DEATHS:
                return ValidationResult(_DEATHS[ended], _short(death_in_words(self.stage, ended, detail)))
            return ValidationResult(Reason.BROKEN, _short(f"the program broke what runs it: {detail}"))
        if not self.sites:
            return ValidationResult(
                Reason.NO_SITES, "none of our rewrite rules applies anywhere: use more operators on tensors"
            )
        return ValidationResult(None, sites=self.sites, reached=self.reached)


_DEATHS = {"hang": Reason.HANG, "crash": Reason.CRASH, "memory": Reason.MEMORY, "output": Reason.OUTPUT}


def _reason(stage: str, message: str) -> Reason:
    """The reason of an ``invalid`` event, by the stage in which it was emitted."""
    if stage in ("start", "load"):
        return Reason.LOAD
    return Reason.RAISES if message.startswith("raises in eager") else Reason.UNDETERMINED


def _short(message: str) -> str:
    """``message`` on one line, at most MOST_WORDS characters long."""
    line = " ".join(message.encode("utf-8", "replace").decode().split())
    return line if len(line) <= MOST_WORDS else f"{line[:MOST_WORDS]} …"
