"""Validation of programs written by a model: they parse, are allowed, load, run in eager, and have sites for rules."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from eqfuzz.generate.llm.extraction import MOST_BYTES, UNREADABLE, normalised
from eqfuzz.generate.llm.target_coverage import STAGE, WATCH
from eqfuzz.generate.llm.white_box import CompilerPart
from eqfuzz.program.formats import recognise
from eqfuzz.program.policy import require_allowed
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.exit_reasons import death_in_words
from eqfuzz.run.processes.pool import Pool

MOST_WORDS = 600
"""Maximal characters of a message: a program may raise a very long one."""

TARGET = "eqfuzz.generate.llm.target_coverage:run_case"
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
        case = Case(
            program=program,
            seed=self._seed,
            rules=self._rules,
            strategy="each",
            depth=1,
            variants=1,
            devices=("cpu",),
            configs=(DEFAULT_CONFIG,),
            load_seconds=self._limits.load_s,
            eager_seconds=self._limits.eager_s,
            compile_seconds=self._limits.compile_s,
            dry_run=True,
            list_sites=True,
        )
        data: dict[str, Any] = {**case.to_json(), WATCH: [part.to_json() for part in watched]}
        report = _CaseReport()
        for event in self._pool.run(data):
            report.take(event)
        return report.result()


class _CaseReport:
    """The events of one case. The program may have forged some of them, so none is trusted without validation."""

    def __init__(self) -> None:
        self.invalid: ValidationResult | None = None
        self.sites: int | None = None
        self.reached: tuple[str, ...] = ()
        self.stage = "start"
        self.exit: dict[str, Any] = {}

    def take(self, event: dict[str, Any]) -> None:
        match event:
            case {"event": "restart"}:
                self.__init__()
            case {"event": "stage", "stage": str(stage)}:
                self.stage = stage
            case {"event": "invalid", "reason": str(reason)} if self.invalid is None:
                line = event.get("line")
                self.invalid = ValidationResult(
                    _reason(self.stage, reason), _short(reason), line if type(line) is int else None
                )
            case {"event": "rewritten", "sites": int(sites)}:
                self.sites = sites
            case {"event": "reached", "parts": list(parts)}:
                self.reached = tuple(part for part in parts if isinstance(part, str))
            case {"event": "exit"}:
                self.exit = event
            case _:
                pass

    def result(self) -> ValidationResult:
        ended, detail = self.exit.get("reason"), str(self.exit.get("detail"))
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
