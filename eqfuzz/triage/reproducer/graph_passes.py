"""Rewrites of the compiler's graphs, as text of a script that needs only torch."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from eqfuzz.rewrite.graphs.graph_step import GraphPoint, GraphStep, graph_declarations
from eqfuzz.torch_internals.embedded.texts import module_text

_SWITCHES = ("torch._inductor.config.fx_graph_cache", "torch._functorch.config.enable_autograd_cache")
"""Caches do not know what the passes do."""


def graph_passes_text(steps: Sequence[GraphStep]) -> str:
    """Statements that have Inductor's graphs rewritten. Their names are in a function, and so not the program's."""
    declared = {one.name: one for one in graph_declarations()}
    rules = [declared[name] for name in dict.fromkeys(step.rule for step in steps)]
    text = "\n\n".join(rule.text for rule in rules)
    imports = [
        "import torch._functorch.config",
        "import torch._inductor.config",
        *(["import torch.nn.functional as F"] if "F." in text else []),
    ]
    parts = ["\n".join(imports), module_text("graph_rewriter"), text, *(f"{switch} = False" for switch in _SWITCHES)]
    for point in GraphPoint:
        own = [
            f"({step.rule}, {step.place}, {_target(declared[step.rule].on)})" for step in steps if step.point is point
        ]
        if own:
            captured = ["captured=True"] if point is GraphPoint.PRE_GRAD else []
            rewriter = f"GraphRewriter({', '.join([*own, *captured])})"
            parts.append(f"torch._inductor.config.{point.option} = {rewriter}")
    parts.append("spare_custom_passes()")
    body = textwrap.indent("\n\n".join(part.strip("\n") for part in parts), "    ")
    doc = "; ".join(map(str, steps))
    return f'''def rewrite_graphs():
    """Have the graphs rewritten in the compiler: {doc}."""
{body}


rewrite_graphs()'''


def _target(on: str) -> str:
    return f"torch.ops.{on}" if on else "None"
