"""Torch's compiler bisector: finds the faulty part of the compiler, or switches a part off."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from eqfuzz.torch_internals.options import config_module, patched, without_graph_caches


def bisected(is_right: Callable[[], bool]) -> dict[str, Any] | None:
    """The bisector's ``backend``, ``subsystem``, ``bisect_number`` and ``debug_info``; None where nothing is at fault.

    ``is_right`` compiles with ``torch.compile`` and returns whether the result is right; it is called 15 to 30 times.
    Raises RuntimeError where its answers contradict each other.
    """
    from torch._inductor.compiler_bisector import CompilerBisector

    with contextlib.redirect_stdout(None), without_graph_caches():
        result = CompilerBisector.do_bisect(is_right)
    return dict(vars(result)) if result is not None else None


def application(detail: str) -> str:
    """What a ``debug_info`` of torch's bisector names, without the number of its occurrence in the graph.

    Lowerings are named by the node (``amin_2``), decompositions by the operator's ``repr``.
    """
    operator = re.fullmatch(r"<OpOverload\(op='(.+)', overload='(.+)'\)>", detail)
    return ".".join(operator.groups()) if operator is not None else re.sub(r"_\d+$", "", detail)


@contextlib.contextmanager
def switched_off(subsystem: str, detail: str) -> Iterator[None]:
    """Context in which one part of the compiler is switched off, in the way torch's bisector does it.

    ``detail`` is an ``application`` of the subsystem: a pass, a lowering, a decomposition; it is ignored where the
    subsystem is an option. Raises ValueError for a subsystem that this torch does not have.
    """
    from unittest import mock  # here: it imports asyncio, and listings of findings import this module

    from torch._inductor.compiler_bisector import BACKENDS, CompilerBisector, ConfigChange

    subsystems = {part.name: part for parts in BACKENDS.values() for part in parts}
    if subsystem not in subsystems:
        raise ValueError(f"torch's bisector knows no {subsystem!r}")
    part = subsystems[subsystem]
    if isinstance(part, ConfigChange):
        owner = "inductor" if hasattr(config_module("inductor"), part.config_field) else "functorch"
        with without_graph_caches(), patched(**{owner: {part.config_field: part.config_value}}):
            yield
        return

    def is_off(backend: str, name: str, debug_info: Callable[[], str] | None = None) -> bool:
        return name == subsystem and debug_info is not None and application(debug_info()) == detail

    with mock.patch.object(CompilerBisector, "disable_subsystem", staticmethod(is_off)), without_graph_caches():
        yield
