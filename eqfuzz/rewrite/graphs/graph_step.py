"""Steps of a graph's derivation: a rule, a point of the compiler, a place. Imports no torch."""

from __future__ import annotations

import ast
import dataclasses
import random
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

from eqfuzz.program import shipped
from eqfuzz.program.derived import derived
from eqfuzz.program.parsing import parse
from eqfuzz.rewrite.rules.declarations import rule_files

PLACES = 1000
"""Numbers of places; of a graph with fewer they are taken modulo the number that it has."""


class GraphPoint(StrEnum):
    """Where Inductor hands its graphs over."""

    PRE_GRAD = "pre-grad"
    """Dynamo's graph, before AOTAutograd: operators and methods as the program calls them."""
    JOINT = "joint"
    """ATen operators of forward and backward together, before the passes over them."""
    POST_GRAD = "post-grad"
    """Forward or backward, before the passes."""
    LOWERING = "lowering"
    """Forward or backward, after all passes."""

    @property
    def option(self) -> str:
        """Inductor's option for a pass at this point."""
        return _OPTIONS[self]


_OPTIONS = {
    GraphPoint.PRE_GRAD: "pre_grad_custom_pass",
    GraphPoint.JOINT: "joint_custom_pre_pass",
    GraphPoint.POST_GRAD: "post_grad_custom_pre_pass",
    GraphPoint.LOWERING: "post_grad_custom_post_pass",
}


@dataclasses.dataclass(frozen=True)
class GraphStep:
    """One rewrite of every graph that comes to a point.

    Attributes:
        point: The point.
        rule: The name of the rule.
        place: The number of the place where it is tried first, modulo the number of places; those after it follow.
    """

    point: GraphPoint
    rule: str
    place: int = 0

    def __str__(self) -> str:
        return f"{self.point}: {self.rule} at {self.place}"


@dataclasses.dataclass(frozen=True)
class GraphRuleDeclaration:
    """What a graph rule declares, read from its text: ``text`` is its function without the decorator."""

    name: str
    on: str
    gradients: bool
    exact: str
    doc: str
    text: str

    @property
    def points(self) -> tuple[GraphPoint, ...]:
        """Where it may be applied: Dynamo's graphs hold no ATen operators."""
        every = tuple(GraphPoint)
        return every if self.gradients and not self.on else every[1:]


def graph_declarations() -> tuple[GraphRuleDeclaration, ...]:
    """Those of ``rewrites/graphs/``, by name."""
    files = rule_files(shipped.folder("rewrites") / "graphs")

    def derive() -> list[dict[str, Any]]:
        return sorted((dataclasses.asdict(one) for file in files for one in _declared(file)), key=lambda d: d["name"])

    return tuple(GraphRuleDeclaration(**one) for one in derived("graph-rules", [Path(__file__), *files], derive))


def draw_steps(rng: random.Random, count: int) -> tuple[GraphStep, ...]:
    """``count`` random steps, half of them with rules for any value."""
    declared = graph_declarations()
    kinds = [[one for one in declared if not one.on], [one for one in declared if one.on]]
    drawn = [rng.choice(rng.choice(kinds)) for _ in range(count)]
    return tuple(GraphStep(rng.choice(one.points), one.name, rng.randrange(PLACES)) for one in drawn)


def _declared(file: Path) -> Iterator[GraphRuleDeclaration]:
    source = file.read_text(encoding="utf-8")
    for statement in parse(source).body:
        if not isinstance(statement, ast.FunctionDef):
            continue
        for decorator in statement.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "graph_rule":
                declared = {keyword.arg: keyword.value for keyword in decorator.keywords}
                yield GraphRuleDeclaration(
                    name=statement.name,
                    on=ast.unparse(declared["on"]) if "on" in declared else "",
                    gradients=bool(ast.literal_eval(declared["gradients"])) if "gradients" in declared else True,
                    exact=ast.literal_eval(declared["exact"]),
                    doc=ast.get_docstring(statement) or "",
                    text=ast.get_source_segment(source, statement) or "",
                )
