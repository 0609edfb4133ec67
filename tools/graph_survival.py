"""How far rewrites of graphs get: which change the generated code, and what erases the others.

``python -m tools.graph_survival`` prints the table of ``docs/measurements/graph-rewrites.md``; ``--write`` writes it.
No kernel is built. Each rule is applied alone, at each of its points, to every program below that has a place for it.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.graphs.applied_steps import applied_steps
from eqfuzz.rewrite.graphs.graph_step import GraphPoint, GraphStep, graph_declarations
from eqfuzz.run.coverage.compile_stages import canonical, nameless
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.embedded.graph_rewriter import GraphRewriter
from eqfuzz.torch_internals.graph_passes import pass_hook
from eqfuzz.torch_internals.inductor import code_hook, graph_hook
from eqfuzz.torch_internals.options import patched

PAGE = Path("docs/measurements/graph-rewrites.md")
PLACES = (0, 7)
"""Where a rule is tried, as in ``GraphStep.place``."""

LOWERING = "lowering and code generation"
"""What erases a rewrite that is in the graph after the last pass."""

_BEFORE = {
    GraphPoint.JOINT.option: "AOTAutograd: functionalization, decompositions",
    GraphPoint.POST_GRAD.option: "AOTAutograd: partitioner, common subexpressions",
}
"""What comes before the first pass at a point."""

Program = tuple[Callable[..., Any], tuple[torch.Tensor, ...]]


class _CodeWritten(Exception):
    """Raised in place of building the code."""


@dataclasses.dataclass
class Compiled:
    """What compiling wrote: its code, the graph after each pass by its name and number, the steps that were applied."""

    code: list[str]
    graphs: dict[str, str]
    applied: int = 0


def programs() -> list[Program]:
    """One for each group of operators that rules are about."""
    torch.manual_seed(0)
    x, y, w = torch.randn(4, 6), torch.randn(4, 6), torch.randn(6, 5)
    mask, i, j = torch.rand(4, 6) > 0.5, torch.randint(0, 9, (4, 6)), torch.randint(1, 9, (4, 6))
    image, kernel = torch.randn(2, 3, 5, 4), torch.randn(4, 3, 3, 3)

    def arithmetic(x: Any, y: Any) -> Any:
        return (x + y) * (x - y) / (y * y + 1), -x, torch.exp(x).sqrt(), torch.reciprocal(x.cos())

    def reductions(x: Any, y: Any) -> Any:
        return (x + y).sum(0), x.amax(1), y.amin(0, True), (x * y).sum((0, 1), True), x.cos().sum(), (x * 2).mean(1)

    def comparisons(x: Any, y: Any, mask: Any) -> Any:
        chosen = torch.where(x < y, x, y), torch.logical_and(mask, x < 0), mask.any(1)
        return *chosen, (x > y) & mask, (x <= y) | mask, x >= y, x == y, x != y, x == 0

    def integers(i: Any, j: Any) -> Any:
        return i + j, i * j, i - j, (i & j) | 3, i.sum(0), i // j

    def matrices(x: Any, w: Any) -> Any:
        hidden = torch.mm(x.relu(), w)
        batch = torch.bmm(x.sin().unsqueeze(0), w.cos().unsqueeze(0))
        return torch.addmm(hidden.sum(0), x.sin(), w), batch, hidden.softmax(-1)

    def pieces(x: Any, y: Any, i: Any) -> Any:
        rows = F.embedding(i.abs() % 4, x.cos()), torch.index_select(x.cos(), 0, i[:, 0] % 4)
        return torch.cat([x.sin(), y.cos(), x * y], 1), *rows, x.sin().to(torch.bfloat16).cos()

    def images(image: Any, kernel: Any) -> Any:
        return F.conv2d(image.sin(), kernel).relu().amax((2, 3)), F.max_pool2d(image.cos(), 2)

    def complex_numbers(x: Any) -> Any:
        return torch.view_as_complex(x.sin().reshape(-1, 2)) * 2

    operands = (x, y), (x, y), (x, y, mask), (i, j), (x, w), (x, y, i), (image, kernel), (x,)
    functions = arithmetic, reductions, comparisons, integers, matrices, pieces, images, complex_numbers
    return list(zip(functions, operands, strict=True))


def compile_with(program: Program, steps: Sequence[GraphStep]) -> Compiled:
    """Compile up to the code."""
    function, operands = program
    seen = Compiled([], {})
    counts: Counter[str] = Counter()

    def after_pass(name: str, graph: torch.fx.Graph) -> None:
        counts[name] += 1
        seen.graphs[f"{name} {counts[name]}"] = canonical(graph)

    def on_code(code: str) -> None:
        seen.code.append(nameless(code))
        raise _CodeWritten

    nothing = {point.option: GraphRewriter() for point in GraphPoint}  # so that all runs have the same passes
    forget_compiled_code()
    with (
        patched(inductor={"force_disable_caches": True, "compile_threads": 1, **nothing}),
        applied_steps(steps) as applied,
        pass_hook(after_pass),
        graph_hook(lambda graph: after_pass(LOWERING, graph)),
        code_hook(on_code),
        torch.no_grad(),
    ):
        try:
            torch.compile(function, fullgraph=True)(*operands)
        except Exception:
            if not seen.code:
                raise
        seen.applied = len(applied())
    return seen


def erased_by(plain: Compiled, rewritten: Compiled) -> str:
    """The pass after which the rewritten graph is the plain one again, in torch's words."""
    differing = [name for name, graph in rewritten.graphs.items() if plain.graphs.get(name, graph) != graph]
    names = list(rewritten.graphs)
    after = names[names.index(differing[-1]) + 1 :] if differing else []
    name = re.sub(r" \d+$", "", after[0]) if after else LOWERING
    return _BEFORE.get(name, name)


@dataclasses.dataclass
class Survival:
    """Of one rule at one point: how often it changed the code, and what else erased it."""

    changed: int = 0
    erased: Counter[str] = dataclasses.field(default_factory=Counter)


def measure() -> Iterator[tuple[str, GraphPoint, Survival]]:
    """Each rule at each of its points."""
    chosen = programs()
    plain = [compile_with(program, ()) for program in chosen]
    for declared in graph_declarations():
        for point in declared.points:
            survival = Survival()
            for program, before in zip(chosen, plain, strict=True):
                for place in PLACES:
                    after = compile_with(program, (GraphStep(point, declared.name, place),))
                    if not after.applied:
                        break
                    if after.code != before.code:
                        survival.changed += 1
                    else:
                        survival.erased[erased_by(before, after)] += 1
            yield declared.name, point, survival


def page(rows: Sequence[tuple[str, GraphPoint, Survival]]) -> str:
    """The table, and the shares that it comes to."""
    changed = sum(survival.changed for _, _, survival in rows)
    erased = sum((survival.erased for _, _, survival in rows), Counter[str]())
    total = changed + sum(erased.values())
    lines = [
        "# Rewrites of graphs: what changes the code",
        "",
        f"`python -m tools.graph_survival --write`, {datetime.date.today()}, torch {torch.__version__} on the CPU.",
        "",
        f"{total:,} rewrites of one place each: **{changed / total:.0%} change the generated code**.",
        "The others are erased:",
        "",
        "| by | rewrites |",
        "|---|---|",
        *(f"| {name} | {count:,} |" for name, count in erased.most_common()),
        "",
        "A rewrite is erased by the pass after which the graph is what it is without the rewrite. The lowering turns",
        "views, and copies that need no memory, into index arithmetic, which costs no code.",
        "",
        "| rule | " + " | ".join(GraphPoint) + " |",
        "|---|" + "---|" * len(GraphPoint),
    ]
    by_rule: dict[str, dict[GraphPoint, Survival]] = {}
    for name, point, survival in rows:
        by_rule.setdefault(name, {})[point] = survival
    for name, points in by_rule.items():
        cells = [_cell(points.get(point)) for point in GraphPoint]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _cell(survival: Survival | None) -> str:
    if survival is None:
        return ""
    total = survival.changed + survival.erased.total()
    return f"{survival.changed} of {total}" if total else "no place"


def main() -> None:
    """Measure, then print the page or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE}")
    options = parser.parse_args()
    text = page(list(measure()))
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
