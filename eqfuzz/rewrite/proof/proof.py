"""The proof of a rule from its own declaration: operands that it admits are drawn, both sides run, and are compared."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import random
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from eqfuzz.errors import error_line
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded, reseed
from eqfuzz.program.program import Program
from eqfuzz.rewrite.derivation import CannotRewrite, apply, original
from eqfuzz.rewrite.facts.probe import Probe
from eqfuzz.rewrite.proof.equivalence import Run, Values, disagreement
from eqfuzz.rewrite.proof.example import Example, examples_of, right_of, running
from eqfuzz.rewrite.proof.operand_sampler import ALL_DTYPES, draw
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.site import NearMiss, Site, find_sites

DRAWS = 200
"""Operands drawn for each example of a rule."""

REWRITTEN = 4
"""Draws of an equation for which its left side is also found and rewritten in a program."""

EVERY_SITE = 10
"""Draws of a generator for which everything that it makes is run; for the rest it is one of them."""

MANY = 8
"""With more examples than this, fewer operands are drawn for each."""

COMPILED = 3
"""Draws for which Dynamo is asked whether it takes both sides as one graph."""


@dataclasses.dataclass(frozen=True)
class Proof:
    """What came of trying a rule: how many operands were drawn, how many rewrites ran, and what was wrong."""

    rule: Rule
    draws: int
    rewrites: int
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.problems


def prove(rule: Rule, draws: int = DRAWS, *, compiled: int = COMPILED) -> Proof:
    """Try ``rule`` on ``draws`` operands per example; stops at the first problem of each kind.

    A rule with more than MANY examples shares the draws of that many among them, each has at least 3.
    """
    with undisturbed():
        return _Attempt(rule).run(draws, compiled)


def operands(example: Example, name: str, count: int) -> Iterator[Values]:
    """``count`` operands drawn freely, if the example takes so many, and more of each dtype that it takes."""
    count_drawn = 0
    for i in range(2 * count):
        if count_drawn == count:
            break
        values = draw(example, random.Random(f"{name} {i}"))
        if values is not None:
            count_drawn += 1
            yield values
    for dtype in ALL_DTYPES:
        for i in range(max(1, count // 20)):
            values = draw(example, random.Random(f"{name} {dtype} {i}"), [dtype])
            if values is None or not any(isinstance(v, torch.Tensor) and v.dtype is dtype for v in values.values()):
                break
            yield values


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """One thread, because tensors are small, and no log of graph breaks in Dynamo, which are expected."""
    threads, logger = torch.get_num_threads(), logging.getLogger("torch")
    level = logger.level
    torch.set_num_threads(1)
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
        torch.set_num_threads(threads)


class _Attempt:
    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.draws = 0
        self.rewrites = 0
        self.problems: list[str] = []

    def run(self, draws: int, compiled: int) -> Proof:
        examples = examples_of(self.rule)
        if len(examples) > MANY:
            return self._run_many(examples, draws, compiled)
        for number, example in enumerate(examples):
            drawn = list(operands(example, f"{self.rule.name} {number}", draws))
            self.draws += len(drawn)
            if len(drawn) < draws:
                self.problems.append(f"only {len(drawn)} of {draws} draws met the preconditions")
            self._require_sites(self._try(example, drawn), len(drawn))
            if compiled and not self.problems:
                self._ask_dynamo(example, drawn, compiled)
        return Proof(self.rule, self.draws, self.rewrites, tuple(self.problems))

    def _run_many(self, examples: Sequence[Example], draws: int, compiled: int) -> Proof:
        """A few operands for each example; Dynamo is asked about some, evenly spread."""
        each = max(3, draws * MANY // len(examples))
        sited = 0
        for number, example in enumerate(examples):
            drawn = list(itertools.islice(operands(example, f"{self.rule.name} {number}", each), each))
            self.draws += len(drawn)
            if not drawn:
                self.problems.append(f"no operands are found for {example.program.source}")
            before = len(self.problems)
            sited += self._try(example, drawn)
            if compiled and not self.problems and number % max(1, len(examples) // MANY) == 0:
                self._ask_dynamo(example, drawn, 1)
            self.problems[before:] = [f"{problem}\nin {example.program.source}" for problem in self.problems[before:]]
        self._require_sites(sited, self.draws)
        return Proof(self.rule, self.draws, self.rewrites, tuple(self.problems))

    def _try(self, example: Example, drawn: Sequence[Values]) -> int:
        """The number of operands for which the rule has a site; stops at the first that refutes it."""
        is_equation = not self.rule.is_generator
        sited = 0
        for index, values in enumerate(drawn):
            if is_equation and not self._agrees(example.run, right_of(self.rule), values, index):
                return sited
            if is_equation and index >= REWRITTEN:
                continue
            programs, reason = self._rewritten(example, values)
            sited += bool(programs)
            if is_equation and not programs:
                self.problems.append(f"the left side is not found in a program: {reason}")
                return sited
            if index >= EVERY_SITE and programs:
                programs = [programs[index % len(programs)]]
            for right in programs:
                self.rewrites += 1
                if not self._agrees(example.run, right, values, index):
                    return sited
        return sited

    def _require_sites(self, sited: int, draws: int) -> None:
        if self.rule.is_generator and not self.problems and sited < max(1, draws // 4):
            self.problems.append(f"applies to its example for only {sited} of {draws} operands")

    def _rewritten(self, example: Example, values: Values) -> tuple[list[Run], str]:
        """The rewritten examples, and the reason where there are none."""
        sites, reasons = sites_on(self.rule, example, values)
        programs: list[Run] = []
        for site in sites:
            try:
                programs.append(running(apply(original(example.program), [site]).program))
            except CannotRewrite as error:
                self.problems.append(f"the rewritten program is not valid Python: {error}")
        return programs, reasons[0] if reasons else "nothing fits"

    def _agrees(self, left: Run, right: Run, values: Values, seed: int) -> bool:
        try:
            problem = disagreement(self.rule, left, right, values, seed)
        except Exception as error:  # whatever the right side raises where the left did not is the rule's fault
            problem = f"the right side raises {error_line(error)}"
        if problem is not None:
            self.problems.append(f"{problem}\non {describe_operands(values)}")
        return problem is None

    def _ask_dynamo(self, example: Example, drawn: Sequence[Values], count: int) -> None:
        """Dynamo must take the right side as one graph where it takes the left, unless the rule says otherwise."""
        for values in drawn[:count]:
            if not _one_graph(example.program, values):
                continue
            sites, _ = sites_on(self.rule, example, values)
            for site in sites[:1]:
                if (
                    not _one_graph(apply(original(example.program), [site]).program, values)
                    and not self.rule.breaks_graph
                ):
                    self.problems.append(
                        f"Dynamo breaks the graph and the rule does not say so\non {describe_operands(values)}"
                    )
                    return


def _one_graph(program: Program, values: Values) -> bool:
    """Whether Dynamo takes the program whole."""
    torch.compiler.reset()
    compiled = torch.compile(Loaded(program).instance(), backend="eager", fullgraph=True)
    try:
        compiled(**Call((), values).copy().kwargs)
    except Exception:  # a graph break raises many types; that it is raised is the answer
        return False
    return True


def sites_on(rule: Rule, example: Example, values: Values) -> tuple[list[Site], list[str]]:
    """The rule's sites in the example on these operands, and the reasons of its near misses."""
    probe = Probe(example.program, example.syntax)
    call = Call((), values).copy()
    reseed()
    probe.instance()(**call.kwargs)
    places = list(find_sites(example.syntax, probe.facts(), [rule]))
    return [s for s in places if isinstance(s, Site)], [n.reason for n in places if isinstance(n, NearMiss)]


def describe_operands(values: Values) -> str:
    """Operands in a line: dtype, shape, strides and few elements."""

    def one(value: Any) -> str:
        if not isinstance(value, torch.Tensor):
            return repr(value)
        few = f" {value.tolist()}" if value.numel() <= 6 else ""
        return f"{value.dtype}{list(value.shape)} strides {list(value.stride())}{few}"

    return ", ".join(f"{name} = {one(value)}" for name, value in values.items())
