"""Rules for the compiler's graphs: functions in ``rewrites/graphs/``, which the compiler's passes meet."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from eqfuzz.program import shipped
from eqfuzz.rewrite.rules.declarations import rule_files
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.library import import_rules


@dataclasses.dataclass(frozen=True, eq=False)
class GraphRule:
    """A value of a graph that may be computed in another way.

    Attributes:
        name: The name of the function.
        function: Computes the value again: from the value itself, or from the arguments of the operator ``on``. It is
            traced with fake tensors, and returns None where the rule does not apply.
        on: The ATen operator whose calls it replaces; None: any value, as an operand of one operator.
        exact: How equal both are.
        gradients: Whether both have equal gradients; else Dynamo's graphs are left alone.
    """

    name: str
    function: Callable[..., Any]
    on: Any
    exact: Exactness
    gradients: bool

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.function) or ""


def graph_rule(*, exact: str, on: Any = None, gradients: bool = True) -> Callable[[Callable[..., Any]], GraphRule]:
    """Declare the decorated function a rule for graphs, see ``GraphRule``."""

    def declare(function: Callable[..., Any]) -> GraphRule:
        return GraphRule(function.__name__, function, on, Exactness(exact), gradients)

    return declare


@cache
def shipped_graph_rules() -> dict[str, GraphRule]:
    """Those of ``rewrites/graphs/``, by name. Executes these files."""
    modules = map(import_rules, rule_files(shipped.folder("rewrites") / "graphs"))
    rules = [value for module in modules for value in vars(module).values() if isinstance(value, GraphRule)]
    return {rule.name: rule for rule in rules}
