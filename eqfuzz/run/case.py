"""A case: one seed with its variants and all their cells. Runs in a child process, which a seed may kill.

The original's eager run, reference and facts are made once and shared by all variants. What is about to happen is
announced before it happens, so that the parent knows which cell a dead child was in.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import torch

from eqfuzz.judge.checks import DEFAULT_CHECKS
from eqfuzz.judge.judge import judge_rewrite, judge_self
from eqfuzz.judge.observation import Observation
from eqfuzz.judge.observe import observe
from eqfuzz.judge.oracles import judge_compiled
from eqfuzz.judge.sequence import guarded, unguarded
from eqfuzz.judge.shadow import Reference, reference
from eqfuzz.judge.speed import judge_speed
from eqfuzz.judge.verdict import Kind, Verdict
from eqfuzz.program.call import Call
from eqfuzz.program.literal import CannotDescribe, Writer
from eqfuzz.program.load import Loaded
from eqfuzz.program.namespace import plain_globals
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.program.torch_internals import compilations, forget_compiled_code
from eqfuzz.rewrite import strategy
from eqfuzz.rewrite.derive import Step, Variant, original
from eqfuzz.rewrite.explanation import explain
from eqfuzz.rewrite.library import equation_of
from eqfuzz.rewrite.own_rules import rules_for_children
from eqfuzz.rewrite.probe import Facts, Probe, take_facts
from eqfuzz.rewrite.site import Site
from eqfuzz.rewrite.syntax import Syntax
from eqfuzz.run.audited import audit_calls
from eqfuzz.run.configs import Config
from eqfuzz.run.devices import on_device, to_cpu

Emit = Callable[[dict[str, Any]], None]

for _rule in rules_for_children(()).values():  # parsed on import: once, in the process that children fork from
    if not _rule.is_generator:
        equation_of(_rule)

SAMPLES = (8, 32)
"""Noisy runs behind a bound: the first few settle nearly all cells; more make the bound of the rest smooth."""

STATE_BYTES = 65536
"""Module state up to this size is written into a reproducer; larger state is made again from the seed."""


@dataclasses.dataclass(frozen=True)
class Case:
    """What a child is asked to do; travels as JSON.

    ``skip`` names compiled cells ``(variant, device, config)`` that are judged already, ``skip_variants`` variants
    whose eager run killed an earlier child, ``no_reference`` variants whose reference did, ``no_sequence`` those whose
    further calls did. ``rules_from`` are absolute paths of the user's own rules.

    ``checks`` are the names of the oracles asked, and of the call sequences made (``SEQUENCES``); ``steps`` is how many
    changes that a guard must notice are drawn for the original.

    ``dry_run`` compiles nothing; with ``list_sites`` the sites are told too and no variant runs at all. ``job`` is
    ``run``; ``describe``: only write the first ``described`` calls (0: all) of the program, or of the variant whose
    source is ``transformed``, as source; ``explain``: only say where ``rules`` apply and why not;
    ``audit``: only judge each operator of those calls alone.
    """

    program: Program
    seed: int
    rules: tuple[str, ...]
    strategy: str
    depth: int
    variants: int
    devices: tuple[str, ...]
    configs: tuple[Config, ...]
    load_seconds: float
    eager_seconds: float
    compile_seconds: float
    dry_run: bool = False
    skip: tuple[tuple[int, str, str], ...] = ()
    skip_variants: tuple[int, ...] = ()
    no_reference: tuple[int, ...] = ()
    no_sequence: tuple[int, ...] = ()
    checks: tuple[str, ...] = DEFAULT_CHECKS
    steps: int = 1
    rules_from: tuple[str, ...] = ()
    list_sites: bool = False
    transformed: str = ""
    described: int = 0
    job: Literal["run", "describe", "explain", "audit"] = "run"

    def to_json(self) -> dict[str, Any]:
        shallow = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {**shallow, "program": self.program.to_json(), "configs": [c.model_dump() for c in self.configs]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Case:
        lists = {k: tuple(v) for k, v in data.items() if isinstance(v, list)}
        return cls(
            **{
                **data,
                **lists,
                "program": Program.from_json(data["program"]),
                "configs": tuple(Config(**c) for c in data["configs"]),
                "skip": tuple((v, d, c) for v, d, c in data["skip"]),
            }
        )


def run_case(data: dict[str, Any], emit: Emit) -> None:
    """Run one case and emit what is found; an invalid seed is told and ends it."""
    case = Case.from_json(data)
    runner = _Runner(case, emit)
    try:
        jobs = {"run": runner.run, "describe": runner.describe, "explain": runner.explain, "audit": runner.audit}
        jobs[case.job]()
    except InvalidSeed as error:
        emit({"event": "invalid", "reason": error.reason, "line": error.line})


class _Subject:
    """A variant that is loaded, with the calls it gets, its eager observation of them and, when asked, its reference.

    ``calls`` begins with the seed's own input sets, on which it is compared with the original; further ones come when
    its compiled cells are judged.
    """

    def __init__(
        self, number: int, variant: Variant, loaded: Loaded, calls: Sequence[Call], eager: Observation
    ) -> None:
        self.number = number
        self.variant = variant
        self.loaded = loaded
        self.calls = list(calls)
        self.eager = eager
        self.reference: Reference | None = None
        self.samples = 0

    def go_on(self, steps: Sequence[Call]) -> None:
        """Append the ``steps`` that eager finishes, one after the other."""
        calls = [*self.calls, *steps]
        eager = observe(self.loaded.instance, calls)
        while eager.calls[-1].raised is not None and len(eager.calls) > len(self.calls):
            del calls[len(eager.calls) - 1]
            eager = observe(self.loaded.instance, calls)
        if len(calls) > len(self.calls):
            self.calls, self.eager, self.reference, self.samples = calls, eager, None, 0


class _Runner:
    def __init__(self, case: Case, emit: Emit) -> None:
        self.case = case
        self.emit = emit
        self.steps: list[Call] = []
        self.timings: dict[str, float] = {}
        self._entered = ("start", time.perf_counter())

    def run(self) -> None:
        start, calls, syntax, facts = self._study()
        self.start = start
        self._enter("rewrite", 300 + self.case.depth * self.case.eager_seconds, variant=0)
        sites, variants = self._variants(start.variant, syntax, facts, calls)
        cells = 0 if self.case.dry_run else (1 + len(variants)) * len(self.case.devices) * len(self.case.configs)
        told = [_told(v) for v in variants]
        steps = [Step(s.rule.name, s.line, s.before, s.text) for s in sites] if self.case.list_sites else []
        found = [dataclasses.asdict(step) for step in steps]
        self.emit({"event": "rewritten", "sites": len(sites), "cells": cells, "variants": told, "found": found})

        if not self.case.dry_run:
            self._take_steps(start, calls)
            self._judge_cells(start)
        for number, variant in enumerate(variants, 1):
            if number not in self.case.skip_variants and not self.case.list_sites:
                self._run_variant(number, variant, start, calls)
        self._enter("end", 30)
        self.timings.pop("start", None)
        self.emit({"event": "timings", "seconds": self.timings})

    def explain(self) -> None:
        """Emit where each of the rules applies, and why not elsewhere."""
        _, _, syntax, facts = self._study()
        self._enter("rewrite", 60, variant=0)
        for name in self.case.rules:
            rule = rules_for_children(self.case.rules_from)[name]
            told = explain(rule, self.case.program, syntax, facts)
            self.emit({"event": "explained", "rule": name, **dataclasses.asdict(told)})

    def _study(self) -> tuple[_Subject, list[Call], Syntax, Facts]:
        """The seed loaded, run in eager and probed. Raises InvalidSeed where it does not work."""
        loaded, calls = self._load()
        first = self._enter_eager(0, loaded, calls)
        second = observe(loaded.instance, calls)
        _demand_valid(self.case.program, first, judge_self(first, second))
        start = _Subject(0, original(self.case.program), loaded, calls, first)

        self._enter("probe", 2 * self.case.eager_seconds + 5, variant=0)
        syntax = Syntax(self.case.program.source)
        probe = Probe(self.case.program, syntax)
        probed = judge_self(first, observe(probe.instance, calls))
        if probed.kind is not Kind.AGREE:
            raise InvalidSeed(self.case.program.name, f"behaves differently when observed: {probed.message}")
        return start, calls, syntax, probe.facts()

    def audit(self) -> None:
        """Emit which operators of the calls asked for are wrong by themselves under the first configuration."""
        loaded, calls = self._calls_asked_for()
        config = self.case.configs[0]
        self._enter("compile", 4 * self.case.compile_seconds, variant=0, device="cpu", config=config.name)
        suspects = [] if config.backend != "inductor" else audit_calls(loaded, calls, self.case.seed, config).suspects
        self.emit({"event": "audited", "suspects": [suspect.in_words() for suspect in suspects]})

    def _calls_asked_for(self) -> tuple[Loaded, list[Call]]:
        """The program or the variant asked for, and the calls made of it, as its cells were called."""
        loaded, calls = self._load()
        start = _Subject(0, original(self.case.program), loaded, calls, self._enter_eager(0, loaded, calls))
        self._take_steps(start, calls)
        subject = start
        if self.case.transformed:
            program = self.case.program.with_source(self.case.transformed)
            loaded = Loaded(program)
            subject = _Subject(1, original(program), loaded, calls, observe(loaded.instance, calls))
            subject.go_on(self.steps)
        return loaded, subject.calls[: self.case.described or None]

    def describe(self) -> None:
        """Emit the calls and, for small modules, the state as Python source for a reproducer."""
        loaded, made = self._calls_asked_for()
        writer = Writer()
        instance = loaded.instance()
        state = instance.state_dict() if isinstance(instance, torch.nn.Module) else {}
        try:
            body = writer.calls(made)
            small = sum(t.nbytes for t in state.values()) <= STATE_BYTES
            weights = writer.value(dict(state)) if state and small else None
            problem = ""
        except CannotDescribe as error:
            body, weights, problem = "", None, str(error)
        changes = [(call.label, call.before, call.within) for call in made]
        names = sorted(plain_globals(loaded.module.__dict__))
        told = {"calls": body, "state": weights, "packs": writer.packs, "changes": changes, "globals": names}
        self.emit({"event": "described", **told, "problem": problem})

    def _enter(self, stage: str, seconds: float, **where: Any) -> None:
        """Tell the parent what comes next and how long it may take; keep how long the last stage took."""
        now = time.perf_counter()
        last, since = self._entered
        self.timings[last] = self.timings.get(last, 0.0) + now - since
        self._entered = (stage, now)
        self.emit({"event": "stage", "stage": stage, "seconds": seconds, **where})

    def _load(self) -> tuple[Loaded, list[Call]]:
        self._enter("load", self.case.load_seconds, variant=0)
        program = self.case.program
        try:
            loaded = Loaded(program)
            loaded.instance()
            return loaded, loaded.calls(self.case.seed)
        except InvalidSeed:
            raise
        except (Exception, SystemExit) as error:  # whatever a seed raises while loading makes it invalid
            line = line_in(error, program)
            raise InvalidSeed(program.name, f"does not load: {_words(error)}", line) from error

    def _enter_eager(self, number: int, loaded: Loaded, calls: Sequence[Call]) -> Observation:
        self._enter("eager", self.case.eager_seconds, variant=number)
        return observe(loaded.instance, calls)

    def _variants(
        self, start: Variant, syntax: Syntax, facts: Facts, calls: Sequence[Call]
    ) -> tuple[list[Site], list[Variant]]:
        """The sites of the seed, and the variants that the strategy makes."""
        case = self.case
        known = rules_for_children(case.rules_from)
        rules = [known[name] for name in case.rules]
        rng = random.Random(f"{case.seed} {case.program.digest}")
        sites = strategy.sites_of(syntax, facts, rules)
        if case.strategy == "each":
            return sites, strategy.each(start, sites, case.variants, rng)
        if case.strategy == "all":
            return sites, strategy.every(start, sites, case.variants, rng)

        def study(variant: Variant) -> tuple[Syntax, Facts]:
            if variant is start:
                return syntax, facts
            parsed = Syntax(variant.program.source)
            return parsed, take_facts(variant.program, parsed, calls)

        return sites, list(strategy.walk(start, study, rules, case.depth, case.variants, rng))

    def _run_variant(self, number: int, variant: Variant, start: _Subject, calls: Sequence[Call]) -> None:
        began = time.perf_counter()
        self._enter("eager", self.case.eager_seconds, variant=number)
        try:
            loaded = Loaded(variant.program)
        except Exception as error:  # a rewrite that breaks loading is the rule's fault, and is told as such
            self._tell(number, "", "", Verdict(Kind.SUSPECT_RULE, f"does not load: {_words(error)}"), began)
            return
        subject = _Subject(number, variant, loaded, calls, observe(loaded.instance, calls))
        compare = partial(_compare_eager, start.eager.first(len(calls)), subject.eager, variant)
        verdict = self._judge(compare, [start, subject])
        self._tell(number, "", "", verdict, began)
        if verdict.kind in (Kind.AGREE, Kind.INCONCLUSIVE) and not self.case.dry_run:
            if self.steps and number not in self.case.no_sequence:
                self._enter("steps", 4 * self.case.eager_seconds, variant=number)
                subject.go_on(self.steps)
            self._judge_cells(subject)

    def _take_steps(self, start: _Subject, calls: Sequence[Call]) -> None:
        """The further calls: those without a guard for every variant, those with one for the original."""
        case = self.case
        if 0 in case.no_sequence:
            return
        self._enter("steps", 20 * case.eager_seconds, variant=0)
        self.steps = unguarded(start.loaded, calls, case.seed, case.checks)
        rng = random.Random(f"{case.seed} {case.program.digest} steps")
        count = case.steps if "guards" in case.checks else 0
        # Integers change the parameters for good, so they come last.
        start.go_on([*self.steps[:-1], *guarded(start.loaded, calls, count, rng), *self.steps[-1:]])

    def _judge_cells(self, subject: _Subject) -> None:
        for device in self.case.devices:
            eager = subject.eager
            for config in self.case.configs:
                if (subject.number, device, config.name) in self.case.skip:
                    continue
                began = time.perf_counter()
                where = {"variant": subject.number, "device": device, "config": config.name}
                self._enter("compile", self.case.compile_seconds, **where)
                if device != "cpu" and eager is subject.eager:
                    eager = self._observe(subject, device, None)
                forget_compiled_code()
                with config.patched():
                    compiled = self._observe(subject, device, config)
                counted = compilations()
                verdict = self._judge(partial(_compare_compiled, eager, compiled, self.case.checks), [subject])
                if verdict.kind is Kind.AGREE and "speed" in self.case.checks and subject.number and device == "cpu":
                    self._enter("speed", 2 * self.case.compile_seconds, **where)
                    verdict = self._judge_speed(subject, config) or verdict
                self._tell(subject.number, device, config.name, verdict, began, compiled=counted)

    def _judge_speed(self, subject: _Subject, config: Config) -> Verdict | None:
        """The compiled variant timed against the compiled original, both on their first call."""

        def compiled(which: _Subject) -> Callable[[], object]:
            function, call = config.compile(which.loaded.instance()), which.calls[0].copy()
            timed = partial(function, *call.args, **call.kwargs)
            for _ in range(2):
                timed()
            return timed

        with config.patched(), contextlib.redirect_stdout(None):
            return judge_speed(compiled(self.start), compiled(subject))

    def _observe(self, subject: _Subject, device: str, config: Config | None) -> Observation:
        transform = config.compile if config is not None else None
        if device == "cpu":
            return observe(subject.loaded.instance, subject.calls, transform=transform)
        make = lambda: on_device(subject.loaded.instance(), device)  # noqa: E731
        moved = [on_device(call, device) for call in subject.calls]
        return to_cpu(observe(make, moved, transform=transform))

    def _judge(self, compare: Callable[..., Verdict], subjects: Sequence[_Subject]) -> Verdict:
        """``compare`` with as much of a reference as it takes: none, a few noisy runs, many before a claim."""
        verdict = self._timed(compare, *(None for _ in subjects))
        for samples in SAMPLES:
            if verdict.kind in (Kind.AGREE, Kind.UNSUPPORTED):
                break
            verdict = self._timed(compare, *(self._reference(s, samples) for s in subjects))
        return verdict

    def _timed(self, compare: Callable[..., Verdict], *references: Reference | None) -> Verdict:
        """``compare``, its time counted as judging and not as the stage that it ends."""
        stage, since = self._entered
        began = time.perf_counter()
        verdict = compare(*references)
        spent = time.perf_counter() - began
        self.timings["judge"] = self.timings.get("judge", 0.0) + spent
        self._entered = (stage, since + spent)
        return verdict

    def _reference(self, subject: _Subject, samples: int) -> Reference | None:
        if subject.number in self.case.no_reference:
            return None
        if subject.samples < samples:
            self._enter("reference", 20 * self.case.eager_seconds, variant=subject.number)
            make, calls = subject.loaded.instance, subject.calls
            subject.reference = reference(make, calls, seed=self.case.seed, samples=samples)
            subject.samples = samples
        return subject.reference

    def _tell(self, number: int, device: str, config: str, verdict: Verdict, began: float, **more: Any) -> None:
        where = {"variant": number, "device": device, "config": config}
        seconds = time.perf_counter() - began
        self.emit({"event": "cell", **where, "verdict": verdict.to_json(), "seconds": seconds, **more})


def _compare_compiled(
    eager: Observation, compiled: Observation, checks: Sequence[str], known: Reference | None
) -> Verdict:
    return judge_compiled(eager, compiled, known, checks)


def _compare_eager(
    p: Observation, q: Observation, variant: Variant, known_p: Reference | None, known_q: Reference | None
) -> Verdict:
    return judge_rewrite(p, q, known_p, known_q, str(variant.exactness), gradients=variant.gradients_equal)


def line_in(error: BaseException, program: Program) -> int | None:
    """The line of the program's own text that ``error`` came from, if any."""
    name = f"<{program.name}>"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    return lines[-1] if lines else None


def _demand_valid(program: Program, eager: Observation, repeated: Verdict) -> None:
    for call in eager.calls:
        if call.raised is not None:
            raise InvalidSeed(program.name, f"raises in eager: {call.raised.type}: {call.raised.message}")
    if repeated.kind is not Kind.AGREE:
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
