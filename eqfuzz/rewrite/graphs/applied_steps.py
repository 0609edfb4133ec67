"""Context in which Inductor's graphs are rewritten."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from eqfuzz.rewrite.graphs.graph_rule import shipped_graph_rules
from eqfuzz.rewrite.graphs.graph_step import GraphPoint, GraphStep


@contextlib.contextmanager
def applied_steps(steps: Sequence[GraphStep]) -> Iterator[Callable[[], list[GraphStep]]]:
    """Context in which each of ``steps`` is applied to every graph that comes to its point.

    What it gives returns each step as often as a graph had a place for it. No compiled graph is read from a cache or
    written to one. Raises KeyError for an unknown rule.
    """
    from eqfuzz.torch_internals.embedded.graph_rewriter import GraphRewriter, spare_custom_passes
    from eqfuzz.torch_internals.options import patched, without_graph_caches

    spare_custom_passes()
    rules = shipped_graph_rules()
    by_point = {point: [step for step in steps if step.point is point] for point in GraphPoint}
    passes = {
        point: GraphRewriter(
            *((rules[step.rule].function, step.place, rules[step.rule].on) for step in own),
            captured=point is GraphPoint.PRE_GRAD,
        )
        for point, own in by_point.items()
        if own
    }

    def applied() -> list[GraphStep]:
        return [by_point[point][number] for point, one in passes.items() for number in one.applied]

    with without_graph_caches(), patched(inductor={point.option: one for point, one in passes.items()}):
        yield applied
