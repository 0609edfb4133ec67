"""Program generators: a seed gives a program."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from eqfuzz import __version__
from eqfuzz.generate.dag.build import Builder
from eqfuzz.generate.dag.catalogue.catalogue import Catalogue
from eqfuzz.generate.dag.catalogue.names import declared_name
from eqfuzz.generate.dag.catalogue.operator import operators
from eqfuzz.generate.dag.flow import STRUCTURES, build_structure
from eqfuzz.generate.dag.graph.code import code
from eqfuzz.generate.dag.graph.graph import Expr, Graph, Value, expressions
from eqfuzz.generate.dag.graph.liveness import makes, pruned, reads
from eqfuzz.generate.dag.step_timer import StepTimer
from eqfuzz.generate.dag.template import MIXED, ProgramTemplate
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.random_spec import random_spec
from eqfuzz.generate.dag.values.spec import DIM_LEAST, DIM_MOST, Spec, UnsatisfiableSpec
from eqfuzz.program.provenance import TEMPLATE, Provenance

_ATTEMPTS = 50
_ATTEMPTS_WITH_TURN = 10
"""Attempts at a program that begins with the operator whose turn it is; the others begin with any operator."""

_OTHER_SIZES = (DIM_LEAST, 6, 8, 9, DIM_MOST)
"""Values of a changing size in the second input set."""


class NothingGenerated(Exception):
    """A seed gives no program: the template and the operators cannot be satisfied together."""


@dataclasses.dataclass(frozen=True)
class GeneratedProgram:
    """A program, with its seed, template and graph."""

    seed: int
    template: str
    source: str
    graph: Graph
    max_depth: int
    """The maximum depth of the recursion that built each result; reused values make chains longer."""
    timings: Mapping[str, float] = dataclasses.field(default_factory=dict, compare=False)
    """Seconds by step: ``specs`` (of the results), ``graph``, ``code``."""

    @property
    def name(self) -> str:
        """The stem of its file name."""
        return f"{self.template}-{self.seed}"

    @property
    def operators(self) -> tuple[str, ...]:
        """The names of its operators in the order of use, with repetitions."""
        return tuple(self.graph.operators)


class ProgramGenerator:
    """Generates programs of one template; the same seed gives the same program.

    ``only`` and ``weights`` select operators by name; ``depth`` overrides that of the template; ``plugins`` are
    files of further operators. Raises InvalidOperators and InvalidTemplate.
    """

    def __init__(
        self,
        template: ProgramTemplate,
        *,
        only: Iterable[str] = (),
        weights: Mapping[str, float] | None = None,
        depth: int | None = None,
        plugins: Iterable[Path] = (),
    ) -> None:
        self.template = template
        declared = operators(plugins)
        self.every = (*declared, *STRUCTURES)
        """The names of all operators and structures, including those that the template excludes."""
        chosen = [declared_name(name, self.every) for name in only]
        factors = {declared_name(name, self.every): factor for name, factor in (weights or {}).items()}
        self.catalogue = Catalogue(declared, STRUCTURES, template, only=chosen, weights=factors)
        self._depth = depth or template.depth
        members = map(self.catalogue.member, self.catalogue.weights)
        self._required = {name for name in self.names if self.catalogue.member(name).family in template.required}
        self._makes_tensors = any(member.ranks[-1] >= 0 for member in members)
        self._header = Provenance(TEMPLATE, configs=template.configs).header() if template.configs else ""

    @property
    def names(self) -> tuple[str, ...]:
        """The operators that programs may use, sorted."""
        return tuple(sorted(self.catalogue.weights))

    @property
    def configs(self) -> tuple[str, ...]:
        """Names of the compile configurations that its programs are for; empty: the usual ones."""
        return self.template.configs

    def generate(self, seed: int) -> GeneratedProgram:
        """The program of ``seed``. Raises NothingGenerated, and InvalidOperators for errors in a user's operator."""
        rng = random.Random(f"eqfuzz dag {self.template.name} {seed}")
        draw = Draw(rng)
        timer = StepTimer()
        for attempt in range(_ATTEMPTS):
            try:
                with timer.step("graph"):
                    graph = self.graph(draw, seed if attempt < _ATTEMPTS_WITH_TURN else None, timer)
            except UnsatisfiableSpec:
                continue
            title = f"Made by eqfuzz {__version__}: template {self.template.name}, seed {seed}."
            with timer.step("code"):
                text = self._header + code(graph, draw, title)
            return GeneratedProgram(seed, self.template.name, text, graph, self._depth, timer.seconds)
        raise NothingGenerated(f"template {self.template.name}, seed {seed}: its operators make no program")

    def graph(self, draw: Draw, turn: int | None = None, timer: StepTimer | None = None) -> Graph:
        """A graph that begins with the operator whose ``turn`` it is; None: with any. Raises UnsatisfiableSpec.

        ``timer`` measures how long the specs of the results take to draw.
        """
        timer = timer or StepTimer()
        budget = draw.integer(min(4, self.template.nodes), self.template.nodes)
        builder = Builder(draw, self.catalogue, self.template, budget, build_structure)
        outputs = draw.integer(1, self.template.outputs)
        results: list[Value] = []
        for number in range(outputs):
            if number and builder.budget <= 0:
                break
            name = self.catalogue.first(draw, _turn(turn, number))
            depth = draw.integer(min(2, self._depth), self._depth)
            builder.is_module = builder.is_module or self.catalogue.needs_module(name)
            try:
                with timer.step("specs"):
                    spec = builder.example(name)
                results.append(builder.produce(spec, depth, first=name))
            except UnsatisfiableSpec:
                if number:
                    continue
                raise
        return self._finished(builder, draw, _result_expression(draw, results, self.template))

    def spec(self, draw: Draw) -> Spec:
        """A random spec, by the weights of the template."""
        return random_spec(draw, self.template, self.template.dtypes, range(6), [])

    def graph_of(self, spec: Spec, draw: Draw) -> Graph:
        """A graph whose only result meets ``spec``. Raises NothingGenerated where the operators cannot make one."""
        for _ in range(_ATTEMPTS):
            budget = draw.integer(min(4, self.template.nodes), self.template.nodes)
            builder = Builder(draw, self.catalogue, self.template, budget, build_structure)
            try:
                result = builder.produce(spec, draw.integer(min(2, self._depth), self._depth))
                return self._finished(builder, draw, Expr("{0}", (result,)))
            except UnsatisfiableSpec:
                continue
        raise NothingGenerated(f"template {self.template.name}: its operators make no {spec}")

    def _finished(self, builder: Builder, draw: Draw, result: Expr) -> Graph:
        """The graph of what was built, without dead code.

        Raises UnsatisfiableSpec where it has no operator, no tensor though operators make some, or no operator of a
        required family.
        """
        dims = {name: (int(dim), draw.choice(_OTHER_SIZES)) for name, dim in builder.dims.items()}
        written = [leaf.value.storage for leaf in builder.leaves if leaf.value.storage.owned]
        builder.block.statements = pruned(builder.block, result, written)
        preamble = (*self.template.preamble, *_used_definitions(builder))
        graph = Graph(builder.leaves, builder.layers, builder.block, result, preamble, dims)
        if not graph.operators:
            raise UnsatisfiableSpec("a program without an operator")
        if self._makes_tensors and not _has_tensor(graph):
            raise UnsatisfiableSpec("a program without a tensor")
        if self._required and self._required.isdisjoint(graph.operators):
            raise UnsatisfiableSpec(f"a program without an operator of: {', '.join(self.template.required)}")
        return graph


class Mixture:
    """Generates programs of several templates; the seed decides which."""

    def __init__(self, generators: Mapping[str, ProgramGenerator]) -> None:
        self.generators = dict(generators)

    @property
    def names(self) -> tuple[str, ...]:
        """The operators that programs of any of the templates may use, sorted."""
        return tuple(sorted({name for one in self.generators.values() for name in one.names}))

    @property
    def configs(self) -> tuple[str, ...]:
        """None: each program names those of its template."""
        return ()

    def generate(self, seed: int) -> GeneratedProgram:
        """The program of ``seed``."""
        rng = random.Random(f"eqfuzz dag {MIXED} {seed}")
        return self.generators[rng.choice(sorted(self.generators))].generate(seed)


def _used_definitions(builder: Builder) -> list[str]:
    """The lines of the definitions that the statements name, with empty lines before each."""
    text = "\n".join(expr.text for expr in expressions(builder.block.statements))
    lines: list[str] = []
    for name, definition in builder.definitions.items():
        if re.search(rf"\b{name}\b", text):
            lines += ["", "", *definition] if lines or builder.template.preamble else ["", *definition]
    return lines


def _has_tensor(graph: Graph) -> bool:
    """Whether the program reads or computes a tensor."""
    statements = graph.block.statements
    return any(value.spec.size is not None for value in (*reads(statements), *makes(statements), *graph.result.read))


def _turn(turn: int | None, number: int) -> int | None:
    """The turn of output ``number``: the first walks the operators forwards, the second backwards; None: no turn."""
    if turn is None or number > 1:
        return None
    return -1 - turn if number else turn


def _result_expression(draw: Draw, results: Sequence[Value], template: ProgramTemplate) -> Expr:
    values = tuple(dict.fromkeys(results))
    holes = [f"{{{i}}}" for i in range(len(values))]
    if draw.chance(template.nested):
        form = draw.choice(("dict", "list", "pair"))
        if form == "dict":
            return Expr("{" + ", ".join(f'"{_key(i)}": {hole}' for i, hole in enumerate(holes)) + "}", values)
        if form == "list":
            return Expr(f"[{', '.join(holes)}]", values)
        return Expr(f"({holes[0]}, [{', '.join(holes[1:])}])", values)
    return Expr(", ".join(holes), values)


def _key(number: int) -> str:
    return _KEYS[number] if number < len(_KEYS) else f"number {number + 1}"


_KEYS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
