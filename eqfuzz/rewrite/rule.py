"""A rule: an executable equation with guards and a declared exactness."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from eqfuzz.rewrite.guard import Guard


class Exactness(StrEnum):
    """How equal both sides of a rule are."""

    BITWISE = "bitwise"
    ULP = "ulp"
    REAL = "real"

    def compose(self, other: Exactness) -> Exactness:
        """The class of one rewrite after another: the weaker of the two."""
        order = list(Exactness)
        return max(self, other, key=order.index)


SORTS = ("Tensor", "Number", "Operand", "Int", "Float", "Bool", "Ints", "Dtype", "Any")
"""What a parameter of a rule may bind: a plain tensor (the default), an int or float, a tensor or number, …"""


class RuleError(Exception):
    """A rule that is not well formed; ``str()`` names file and line."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rule:
    """``name`` is ``family/function``; ``sorts`` maps each parameter to what it may bind.

    ``gradients`` says that both sides have equal gradients; ``layout`` that the rewrite changes how later float
    kernels round (strides, splits), which weakens a derivation to ``ulp``; ``breaks_graph`` that Dynamo
    cannot keep one graph.
    """

    name: str
    function: Callable[..., tuple[Any, Any]]
    sorts: dict[str, str]
    exact: Exactness
    where: tuple[Guard, ...]
    source: str
    gradients: bool
    layout: bool
    breaks_graph: bool
    reverse: bool = False

    @property
    def family(self) -> str:
        return self.name.split("/")[0]

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.function) or ""

    @property
    def effect(self) -> Exactness:
        """What applying it does to a derivation's exactness."""
        return Exactness.ULP.compose(self.exact) if self.layout else self.exact

    def sides(self, *operands: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """Left and right as thunks, in the rule's direction; for tests, both are evaluated at once by calling."""
        left, right = self.function(*operands)
        return ((lambda: right), (lambda: left)) if self.reverse else ((lambda: left), (lambda: right))


def rule(
    *,
    exact: str,
    where: Sequence[Guard] = (),
    source: str = "reference/rules.md",
    gradients: bool = True,
    layout: bool = False,
    breaks_graph: bool = False,
    both_ways: bool = False,
) -> Callable[[Callable[..., tuple[Any, Any]]], Callable[..., tuple[Any, Any]]]:
    """Declare the decorated function an equation: it returns ``left, right``, and left may be rewritten to right.

    Parameters stand for operands; annotate one with a sort (``k: Number``, see SORTS) when it is not a tensor.
    ``both_ways`` also rewrites right to left.
    """

    def declare(function: Callable[..., tuple[Any, Any]]) -> Callable[..., tuple[Any, Any]]:
        sorts = {p.name: _sort(p) for p in inspect.signature(function).parameters.values()}
        family = _family(inspect.getsourcefile(function) or "")
        made = Rule(
            name=f"{family}/{function.__name__}",
            function=function,
            sorts=sorts,
            exact=Exactness(exact),
            where=tuple(where),
            source=source,
            gradients=gradients,
            layout=layout,
            breaks_graph=breaks_graph,
        )
        function.rules = [made]  # type: ignore[attr-defined]
        if both_ways:
            back = dataclasses.replace(made, name=made.name + "_back", reverse=True)
            function.rules.append(back)  # type: ignore[attr-defined]
        return function

    return declare


def _sort(parameter: inspect.Parameter) -> str:
    if parameter.annotation is parameter.empty:
        return "Tensor"
    annotation = parameter.annotation
    sort = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    if sort not in SORTS:
        raise RuleError(f"parameter {parameter.name}: unknown sort {sort!r}; one of {', '.join(SORTS)}")
    return sort


def _family(path: str) -> str:
    stem = re.split(r"[\\/]", path)[-1].removesuffix(".py")
    return stem.replace("_", "-")
