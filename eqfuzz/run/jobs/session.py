"""What jobs about a program have in common: it is loaded, run in eager, probed, and called further."""

from __future__ import annotations

import dataclasses
import random
import time
import traceback
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from eqfuzz.oracle.compare.eager_judge import judge_self
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.call_sequence import AGAIN, INTEGERS, REFUSED, REFUSES, guarded, unguarded
from eqfuzz.oracle.observe.observation import Observation, numbers_in
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.namespace import namespace_of
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.rewrite.derivation import Variant, original
from eqfuzz.rewrite.facts.probe import Facts, Probe, take_facts
from eqfuzz.rewrite.source.syntax import Syntax
from eqfuzz.run.jobs.cell_judge import CellJudge, eager_report
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.stage_timer import StageTimer
from eqfuzz.run.messages.job import Emit
from eqfuzz.run.messages.seed_jobs import ProgramJob, VariantRecord

J = TypeVar("J", bound=ProgramJob[Any])

_MOST_NUMBERS = 32_000_000
"""Numbers in the leaves of all calls: each takes some 40 bytes while it is judged."""


class Session(Generic[J]):
    """The program of a job in this process: what it does in eager is observed once and shared by all variants.

    Each stage is announced before it begins, so that the parent knows in which a child died.
    """

    def __init__(self, job: J, emit: Emit) -> None:
        self.job = job
        self.emit = emit
        self.clock = StageTimer(emit)
        self.steps: list[Call] = []
        self.refused: list[Call] = []
        self.refuses = False

    def load(self) -> tuple[Loaded, list[Call]]:
        """The program and its input sets. Raises InvalidSeed."""
        self.clock.enter("load", self.job.limits.load_s)
        program = self.job.program
        try:
            loaded = Loaded(program)
            self.refuses = bool(namespace_of(loaded.instance()).get(REFUSES))
            return loaded, loaded.calls(self.job.seed)[: self.job.input_sets or None]
        except InvalidSeed:
            raise
        except (Exception, SystemExit) as error:  # whatever a seed raises while loading makes it invalid
            reason = f"does not load: {in_words(error)}"
            raise InvalidSeed(program.name, reason, line_of(error, program)) from error

    def accepted(self) -> tuple[LoadedVariant, list[Call]]:
        """The original, and those of its input sets that eager accepts; ``refused`` keeps the others.

        The first input set is among them, accepted or not, and it alone where the program refuses its inputs. Raises
        InvalidSeed.
        """
        loaded, calls = self.load()
        calls = calls[:1] if self.refuses else calls
        eager = self._observe(loaded, calls)
        while len(eager.calls) > 1 and eager.calls[-1].raised is not None:
            refused = calls.pop(len(eager.calls) - 1)
            self.refused.append(dataclasses.replace(refused, label=REFUSED))
            eager = self._observe(loaded, calls)
        return LoadedVariant(0, original(self.job.program), loaded, calls, eager), calls

    def valid(self) -> tuple[LoadedVariant, list[Call]]:
        """``accepted``, for a program that does the same each time. Raises InvalidSeed where it does not."""
        start, calls = self.accepted()
        again = observe(start.loaded.instance, calls)
        self.require_completed(start.eager)
        repeated = judge_self(start.eager, again)
        if repeated.kind is not VerdictKind.AGREE:
            raise InvalidSeed(self.job.program.name, repeated.message)
        return start, calls

    def require_completed(self, eager: Observation) -> None:
        """Raises InvalidSeed where a call has raised, or where none has of a program that says it refuses them."""
        if self.refuses and eager.calls[0].raised is None:
            raise InvalidSeed(self.job.program.name, f"{REFUSES} = True, but it raises nothing in eager")
        for call in eager.calls:
            if call.raised is not None and not self.refuses:
                reason = f"raises in eager: {call.raised.type}: {call.raised.message}"
                raise InvalidSeed(self.job.program.name, reason)

    def study(self, start: LoadedVariant, calls: Sequence[Call]) -> tuple[Syntax, Facts]:
        """The program parsed and probed. Raises InvalidSeed where it behaves differently when it is probed."""
        self.clock.enter("probe", 2 * self.job.limits.eager_s + 5)
        syntax = Syntax(self.job.program.source)
        probe = Probe(self.job.program, syntax)
        probed = judge_self(start.eager, observe(probe.instance, calls))
        if probed.kind is not VerdictKind.AGREE:
            raise InvalidSeed(self.job.program.name, f"behaves differently when observed: {probed.message}")
        return syntax, probe.facts()

    def judge_variant(
        self, number: int, variant: Variant, judge: CellJudge, calls: Sequence[Call]
    ) -> LoadedVariant | None:
        """Report whether the variant equals the original in eager. Returns it, loaded, unless it is known not to."""
        began = time.perf_counter()
        self.clock.enter("eager", self.job.limits.eager_s, number)
        try:
            loaded = Loaded(variant.program)
        except Exception as error:  # a rewrite that breaks loading is a fault of the rule, and is reported as such
            verdict = Verdict(VerdictKind.SUSPECT_RULE, f"does not load: {in_words(error)}")
            self.emit(eager_report(number, verdict, time.perf_counter() - began))
            return None
        subject = LoadedVariant(number, variant, loaded, calls, observe(loaded.instance, calls))
        report = judge.rewrite(subject, len(calls))
        self.emit(report)
        return subject if report.verdict.kind in (VerdictKind.AGREE, VerdictKind.INCONCLUSIVE) else None

    def append_steps(self, subject: LoadedVariant) -> None:
        """Append to a variant the further calls of the original that eager completes."""
        if self.steps and subject.number not in self.job.no_sequence:
            self.clock.enter("steps", 4 * self.job.limits.eager_s, subject.number)
            subject.append_calls(self.steps)

    def take_steps(self, start: LoadedVariant, calls: Sequence[Call], count: int) -> None:
        """Append further calls to the original: those of every variant, and ``count`` that a guard must notice.

        The last call is one that eager refuses, if there is any: compiled code must refuse it as well.
        """
        job = self.job
        if 0 in job.no_sequence or self.refuses:
            return
        self.clock.enter("steps", 20 * job.limits.eager_s)
        room = _further_calls(start.eager)
        # New values say most, the same inputs again least. Integers change the parameters for good, so they come last.
        steps = unguarded(start.loaded, calls, job.seed, job.checks) if room else []
        while len(steps) > room:
            del steps[0 if steps[0].label == AGAIN else -1]
        self.steps = steps
        rng = random.Random(f"{job.seed} {job.program.digest} steps")
        count = min(count, room - len(steps) - 1) if "guards" in job.checks else 0
        further = guarded(start.loaded, calls, count, rng) if count > 0 else []
        integers = [step for step in steps if step.label == INTEGERS]
        start.append_calls([*(step for step in steps if step.label != INTEGERS), *further, *integers])
        start.append_refused(self.refused)

    def _observe(self, loaded: Loaded, calls: Sequence[Call]) -> Observation:
        self.clock.enter("eager", self.job.limits.eager_s)
        return observe(loaded.instance, calls)


def is_large(eager: Observation) -> bool:
    """Whether there is memory for no call but those that were observed; then a reference costs much, too."""
    return not _further_calls(eager)


def _further_calls(eager: Observation) -> int:
    """How many calls like the first fit in memory beside those that were observed."""
    numbers = max(1, numbers_in(eager.calls[0]))
    return max(0, _MOST_NUMBERS // numbers - len(eager.calls))


def study_again(calls: Sequence[Call], variant: Variant) -> tuple[Syntax, Facts]:
    """A variant parsed, and its facts on the seed's calls."""
    syntax = Syntax(variant.program.source)
    return syntax, take_facts(variant.program, syntax, calls)


def record_of(variant: Variant) -> VariantRecord:
    """The record of a variant, for the parent."""
    return VariantRecord(source=variant.program.source, derivation=variant.derivation, exactness=str(variant.exactness))


def line_of(error: BaseException, program: Program) -> int | None:
    """The line of the program's own text that ``error`` came from, if any."""
    name = f"<{program.name}>"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    return lines[-1] if lines else None


def in_words(error: BaseException) -> str:
    """``TypeName: first line of the message``."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
