"""Shortcuts of the fast path: skip work of the compiler that does not change its result.

A function is replaced only where it is torch's own: a preload may have planted another one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import sympy

from eqfuzz.torch_internals.options import without_graph_caches


@contextmanager
def shortcuts() -> Iterator[None]:
    """Context without graph caches, without measuring guards, and without simplifying linear expressions."""
    with ExitStack() as stack:
        stack.enter_context(without_graph_caches())
        # The measurement, for a log, flushes the CPU's caches: 26 ms for each graph.
        _replace(stack, ("torch._dynamo.guards",), "profile_guard_manager", lambda _: lambda *_: 0.0)
        # Vectorisation asks for the strides of every index: sympy.simplify takes 5 to 40 ms for each.
        # Its module was codegen.cpp in torch 2.6 to 2.8.
        modules = ("torch._inductor.sizevars", "torch._inductor.codegen.cpp")
        _replace(stack, modules, "simplify_index_in_vec_range", _unless_linear)
        yield


def _replace(stack: ExitStack, modules: Sequence[str], name: str, make: Callable[[Any], Any]) -> None:
    """Replace a function in the module that defines it; nothing where the modules only import it from C."""
    for module in modules:
        owner = importlib.import_module(module)
        before = getattr(owner, name, None)
        if before is not None and getattr(before, "__module__", module) in (module, "torch._C._dynamo.guards"):
            stack.enter_context(patch.object(owner, name, make(before)))


def _unless_linear(simplify: Callable[..., sympy.Expr]) -> Callable[..., sympy.Expr]:
    def simplified(index: sympy.Expr, var: sympy.Symbol, vec_length: int) -> sympy.Expr:
        """The index itself where it is linear: then its stride is the factor in any form."""
        return index if is_linear(index) else simplify(index, var, vec_length)

    return simplified


def is_linear(index: sympy.Expr) -> bool:
    """Whether it is an integer linear combination of symbols, plus an integer."""
    terms = index.as_coefficients_dict()
    return all(
        (term.is_Symbol or term == 1) and isinstance(factor, int | sympy.Integer) for term, factor in terms.items()
    )
