"""Running a case: one seed with its variants and all their cells, in a child process, which a seed may kill.

The original's eager run, reference and facts are made once and shared by all variants. What is about to happen is
announced before it happens, so that the parent knows which cell a dead child was in.
"""

from __future__ import annotations

import dataclasses
import random
import time
import traceback
from collections.abc import Sequence
from functools import partial
from typing import Any

from eqfuzz.oracle.calibration.baseline_oracles import own_checks
from eqfuzz.oracle.compare.eager_judge import judge_self
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.call_sequence import REFUSED, guarded, unguarded
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import has_drawn, observe
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.rewrite import strategy
from eqfuzz.rewrite.derivation import CannotRewrite, RewriteStep, Variant, original, rederive
from eqfuzz.rewrite.explanation import explain
from eqfuzz.rewrite.facts.probe import Facts, Probe, take_facts
from eqfuzz.rewrite.rules.library import equation_of
from eqfuzz.rewrite.rules.user_rules import rules_for_children
from eqfuzz.rewrite.site import Site, sites_of
from eqfuzz.rewrite.source.syntax import Syntax
from eqfuzz.run.configs.named import GUARDS, OWN_RANDOM
from eqfuzz.run.devices import observe_on
from eqfuzz.run.jobs.batch import BatchedCells
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.jobs.cell_judge import CellJudge, CellRunner, JudgedCell, SequentialCells, open_cells
from eqfuzz.run.jobs.compiled_audit import audit_calls
from eqfuzz.run.jobs.describe import describe
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.several_threads import several_threads
from eqfuzz.run.jobs.stage_timer import Emit, StageTimer
from eqfuzz.run.limits import peak_mb
from eqfuzz.torch_internals.bisector import bisected
from eqfuzz.torch_internals.graph_passes import PASSES, change_of

for _rule in rules_for_children(()).values():  # parsed on import: once, in the process that children fork from
    if not _rule.is_generator:
        equation_of(_rule)


def run_case(data: dict[str, Any], emit: Emit) -> None:
    """Run one case and emit what is found; an invalid seed is told and ends it."""
    case = Case.from_json(data)
    runner = _Runner(case, emit)
    try:
        getattr(runner, case.job)()
    except InvalidSeed as error:
        emit({"event": "invalid", "reason": error.reason, "line": error.line})


class _Runner:
    def __init__(self, case: Case, emit: Emit) -> None:
        self.case = case
        self.emit = emit
        self.clock = StageTimer(emit)
        self.steps: list[Call] = []
        self.refused: list[Call] = []

    def run(self) -> None:
        start, calls = self._start()
        if not has_drawn(start.eager):
            kept = tuple(config for config in self.case.configs if config != OWN_RANDOM)
            self.case = dataclasses.replace(self.case, configs=kept)
        sites, variants = self._variants(start, calls) if self.case.strategy != "none" else ([], [])
        for_all = sum(config.name not in self.case.original_only for config in self.case.configs)
        cells = len(self.case.devices) * (len(self.case.configs) + len(variants) * for_all)
        told = {
            "sites": len(sites),
            "cells": 0 if self.case.dry_run else cells,
            "variants": [_told(v) for v in variants],
        }
        steps = [RewriteStep.at(site) for site in sites] if self.case.list_sites else []
        self.emit({"event": "rewritten", **told, "found": [dataclasses.asdict(step) for step in steps]})

        judge = CellJudge(self.case, self.clock, start, self.case.no_reference)
        batches = BatchedCells(self.case, judge, self._tell) if self.case.in_batches else None
        taker: CellRunner = batches if batches is not None else SequentialCells(self.case, judge, self._tell)
        if not self.case.dry_run:
            self._add_original(taker, start, calls)
        for number, variant in enumerate(variants, 1):
            if number not in self.case.skip_variants and not self.case.list_sites:
                subject = self._judge_variant(number, variant, judge, calls)
                if subject is not None and not self.case.dry_run:
                    self._go_on(subject)
                    taker.add(subject, open_cells(self.case, number))
        taker.finish()
        self.clock.enter("end", 30)
        kernels = {"kernels": batches.counts} if batches is not None else {}
        self.emit({"event": "timings", "seconds": self.clock.account(), "peak_mb": peak_mb(), **kernels})

    def explain(self) -> None:
        """Emit where each of the rules applies, and why not elsewhere."""
        syntax, facts = self._study(*self._start())
        self.clock.enter("rewrite", 60, variant=0)
        for name in self.case.rules:
            rule = rules_for_children(self.case.rules_from)[name]
            told = explain(rule, self.case.program, syntax, facts)
            self.emit({"event": "explained", "rule": name, **dataclasses.asdict(told)})

    def _start(self) -> tuple[LoadedVariant, list[Call]]:
        """The seed loaded and run in eager. Raises InvalidSeed where it does not work."""
        loaded, calls, first = self._accepted()
        second = observe(loaded.instance, calls)
        _require_valid(self.case.program, first, judge_self(first, second))
        return LoadedVariant(0, original(self.case.program), loaded, calls, first), calls

    def _study(self, start: LoadedVariant, calls: Sequence[Call]) -> tuple[Syntax, Facts]:
        """The seed parsed and probed. Raises InvalidSeed where it tells that it is observed."""
        self.clock.enter("probe", 2 * self.case.eager_seconds + 5, variant=0)
        syntax = Syntax(self.case.program.source)
        probe = Probe(self.case.program, syntax)
        probed = judge_self(start.eager, observe(probe.instance, calls))
        if probed.kind is not VerdictKind.AGREE:
            raise InvalidSeed(self.case.program.name, f"behaves differently when observed: {probed.message}")
        return syntax, probe.facts()

    def audit(self) -> None:
        """Emit which operators of the calls asked for are wrong by themselves under the first configuration."""
        subject = self._asked_for()
        config = self.case.configs[0]
        self.clock.enter("compile", 4 * self.case.compile_seconds, variant=0, device="cpu", config=config.name)
        suspects = (
            []
            if config.backend != "inductor"
            else audit_calls(subject.loaded, subject.calls, self.case.seed, config).suspects
        )
        self.emit({"event": "audited", "suspects": [suspect.in_words() for suspect in suspects]})

    def compare(self) -> None:
        """Emit the cells of the calls asked for, in this process."""
        subject = self._asked_for()
        taker = SequentialCells(
            self.case, CellJudge(self.case, self.clock, subject, self.case.no_reference), self._tell
        )
        taker.add(subject, open_cells(self.case, subject.number))

    def bisect(self) -> None:
        """Emit what torch's bisector finds to be behind the verdict of the first configuration."""
        subject = self._asked_for()
        judge = CellJudge(self.case, self.clock, subject, self.case.no_reference)
        device, config = self.case.devices[0], self.case.configs[0]
        shown = judge.cell(subject, device, config).verdict

        def is_right() -> bool:
            return judge.cell(subject, device, config).verdict.kind is not shown.kind

        found, problem = None, ""
        try:
            found = bisected(is_right) if shown.is_finding else None
            if found and found["subsystem"] in PASSES and found["debug_info"]:
                found["change"] = change_of(found["debug_info"], is_right)
        except RuntimeError as error:
            problem = _words(error)
        self.emit({"event": "bisected", "verdict": shown.to_json(), "found": found, "problem": problem})

    def same(self) -> None:
        """Emit by path whether PyTorch's own checks pass the tensors of the last call."""
        subject = self._asked_for()
        device, config = self.case.devices[0], self.case.configs[0]
        self.clock.enter("compile", 2 * self.case.compile_seconds, variant=0, device=device, config=config.name)
        with several_threads(config.threads):
            eager = observe_on(subject.loaded.instance, subject.calls, device)
            with config.patched():
                compiled = observe_on(subject.loaded.instance, subject.calls, device, config.compile)
            known = subject.reference(THRESHOLDS.samples[0], self.case.seed)
        last = len(subject.calls) - 1
        found = own_checks(eager.calls[last], compiled.calls[last], known.calls[last] if known else None)
        self.emit({"event": "same", "found": found})

    def _asked_for(self) -> LoadedVariant:
        """The program or the variant asked for, with the calls asked for, as its cells were called.

        Raises InvalidSeed where a variant cannot be made again from its steps, or does not equal the program then.
        """
        loaded, calls, eager = self._accepted()
        start = LoadedVariant(0, original(self.case.program), loaded, calls, eager)
        self._take_steps(start, calls, self.case.steps)
        subject = start
        if self.case.steps_taken:
            judge = CellJudge(self.case, self.clock, start, self.case.no_reference)
            equal = self._judge_variant(1, self._made_again(start, calls), judge, calls)
            if equal is None:
                raise InvalidSeed(self.case.program.name, "the variant does not equal it")
            subject = equal
        elif self.case.transformed:
            program = self.case.program.with_source(self.case.transformed)
            loaded = Loaded(program)
            subject = LoadedVariant(1, original(program), loaded, calls, observe(loaded.instance, calls))
        if subject is not start:
            self._go_on(subject)
        subject.limit(self.case.described)
        return subject

    def _made_again(self, start: LoadedVariant, calls: Sequence[Call]) -> Variant:
        """The variant that the steps asked for make, which is told too."""
        self.clock.enter("rewrite", 60 + len(self.case.steps_taken) * self.case.eager_seconds, variant=0)
        study = partial(_study_again, calls)
        try:
            variant = rederive(start.variant, study, rules_for_children(self.case.rules_from), self.case.steps_taken)
        except CannotRewrite as error:
            raise InvalidSeed(self.case.program.name, str(error)) from error
        self.emit({"event": "rederived", **_told(variant)})
        return variant

    def describe(self) -> None:
        """Emit the calls and, for small modules, the state as Python source for a reproducer."""
        subject = self._asked_for()
        self.emit({"event": "described", **describe(subject.loaded, subject.calls, self.case.devices[0])})

    def _load(self) -> tuple[Loaded, list[Call]]:
        self.clock.enter("load", self.case.load_seconds, variant=0)
        program = self.case.program
        try:
            loaded = Loaded(program)
            loaded.instance()
            return loaded, loaded.calls(self.case.seed)[: self.case.input_sets or None]
        except InvalidSeed:
            raise
        except (Exception, SystemExit) as error:  # whatever a seed raises while loading makes it invalid
            line = line_in(error, program)
            raise InvalidSeed(program.name, f"does not load: {_words(error)}", line) from error

    def _accepted(self) -> tuple[Loaded, list[Call], Observation]:
        """The seed, the input sets that eager accepts and what it does with them; what it refuses is kept for the end.

        The first is among them, accepted or not.
        """
        loaded, calls = self._load()
        eager = self._enter_eager(0, loaded, calls)
        while len(eager.calls) > 1 and eager.calls[-1].raised is not None:
            refused = calls.pop(len(eager.calls) - 1)
            self.refused.append(dataclasses.replace(refused, label=REFUSED))
            eager = self._enter_eager(0, loaded, calls)
        return loaded, calls, eager

    def _enter_eager(self, number: int, loaded: Loaded, calls: Sequence[Call]) -> Observation:
        self.clock.enter("eager", self.case.eager_seconds, variant=number)
        return observe(loaded.instance, calls)

    def _variants(self, subject: LoadedVariant, calls: Sequence[Call]) -> tuple[list[Site], list[Variant]]:
        """The sites of the seed, and the variants that the strategy makes."""
        case, start = self.case, subject.variant
        syntax, facts = self._study(subject, calls)
        self.clock.enter("rewrite", 300 + case.depth * case.eager_seconds, variant=0)
        known = rules_for_children(case.rules_from)
        rules = [known[name] for name in case.rules]
        rng = random.Random(f"{case.seed} {case.program.digest}")
        sites = sites_of(syntax, facts, rules)
        if case.strategy == "each":
            return sites, strategy.each(start, sites, case.variants, rng)
        if case.strategy == "all":
            return sites, strategy.every(start, sites, case.variants, rng)

        def study(variant: Variant) -> tuple[Syntax, Facts]:
            return (syntax, facts) if variant is start else _study_again(calls, variant)

        return sites, list(strategy.walk(start, study, rules, case.depth, case.variants, rng, case.favoured))

    def _judge_variant(
        self, number: int, variant: Variant, judge: CellJudge, calls: Sequence[Call]
    ) -> LoadedVariant | None:
        """The variant, told to equal the original in eager; None where that is told not to be so."""
        began = time.perf_counter()
        self.clock.enter("eager", self.case.eager_seconds, variant=number)
        try:
            loaded = Loaded(variant.program)
        except Exception as error:  # a rewrite that breaks loading is the rule's fault, and is told as such
            verdict = Verdict(VerdictKind.SUSPECT_RULE, f"does not load: {_words(error)}")
            self._tell(number, "", "", JudgedCell(verdict, time.perf_counter() - began))
            return None
        subject = LoadedVariant(number, variant, loaded, calls, observe(loaded.instance, calls))
        judged = judge.rewrite(subject, len(calls))
        self._tell(number, "", "", judged)
        return subject if judged.verdict.kind in (VerdictKind.AGREE, VerdictKind.INCONCLUSIVE) else None

    def _go_on(self, subject: LoadedVariant) -> None:
        """Give a variant the further calls that the original gets, as far as eager finishes them."""
        if self.steps and subject.number not in self.case.no_sequence:
            self.clock.enter("steps", 4 * self.case.eager_seconds, variant=subject.number)
            subject.go_on(self.steps)

    def _add_original(self, taker: CellRunner, start: LoadedVariant, calls: Sequence[Call]) -> None:
        """Have the original's cells judged, those of ``GUARDS`` with more steps, if there are more."""
        case = self.case
        more = LoadedVariant(0, start.variant, start.loaded, calls, start.eager)
        self._take_steps(start, calls, case.steps)
        cells = open_cells(case, 0)
        taker.add(start, [place for place in cells if place[1] != GUARDS])
        guards = [place for place in cells if place[1] == GUARDS]
        if guards:
            self._take_steps(more, calls, case.guard_steps)
        if len(more.calls) > len(start.calls):
            taker.add(more, guards)

    def _take_steps(self, start: LoadedVariant, calls: Sequence[Call], count: int) -> None:
        """The further calls: those without a guard for every variant, ``count`` with one for the original.

        The original's last one is what eager refuses, if there is any: compiled code must refuse it as well.
        """
        case = self.case
        if 0 in case.no_sequence:
            return
        self.clock.enter("steps", 20 * case.eager_seconds, variant=0)
        self.steps = unguarded(start.loaded, calls, case.seed, case.checks)
        rng = random.Random(f"{case.seed} {case.program.digest} steps")
        count = count if "guards" in case.checks else 0
        # Integers change the parameters for good, so they come last.
        start.go_on([*self.steps[:-1], *guarded(start.loaded, calls, count, rng), *self.steps[-1:]])
        start.end_with(self.refused)

    def _tell(self, number: int, device: str, config: str, judged: JudgedCell) -> None:
        self.emit({"event": "cell", "variant": number, "device": device, "config": config, **judged.to_json()})


def line_in(error: BaseException, program: Program) -> int | None:
    """The line of the program's own text that ``error`` came from, if any."""
    name = f"<{program.name}>"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    return lines[-1] if lines else None


def _study_again(calls: Sequence[Call], variant: Variant) -> tuple[Syntax, Facts]:
    """A variant parsed, and its facts on the seed's calls."""
    syntax = Syntax(variant.program.source)
    return syntax, take_facts(variant.program, syntax, calls)


def _require_valid(program: Program, eager: Observation, repeated: Verdict) -> None:
    for call in eager.calls:
        if call.raised is not None:
            raise InvalidSeed(program.name, f"raises in eager: {call.raised.type}: {call.raised.message}")
    if repeated.kind is not VerdictKind.AGREE:
        raise InvalidSeed(program.name, repeated.message)


def _words(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _told(variant: Variant) -> dict[str, Any]:
    return {
        "source": variant.program.source,
        "derivation": [dataclasses.asdict(step) for step in variant.derivation],
        "exactness": str(variant.exactness),
    }
