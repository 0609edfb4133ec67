"""Statements of a program cut out, for a model to fill in (the idea is TitanFuzz's)."""

from __future__ import annotations

import ast
import random

from eqfuzz.program.parsing import parse

MOST_HOLES = 3
LONGEST = 3
"""Statements in one hole."""


def masked(source: str, rng: random.Random) -> str:
    """``source`` with up to MOST_HOLES runs of statements of its functions replaced by ``<FILL n>``.

    Statements that return, and the inputs, stay. Raises SyntaxError; without anything to mask it is as it was.
    """
    lines = source.split("\n")
    runs = _runs(parse(source))
    if not runs:
        return source
    holes: list[tuple[int, int]] = []
    for _ in range(rng.randint(1, MOST_HOLES)):
        body = rng.choice(runs)
        first = rng.randrange(len(body))
        last = min(first + rng.randrange(LONGEST), len(body) - 1)
        start, end = body[first].lineno, body[last].end_lineno or body[last].lineno
        if all(end < other_start or start > other_end for other_start, other_end in holes):
            holes.append((start, end))
    for number, (start, end) in reversed(list(enumerate(sorted(holes), 1))):
        margin = lines[start - 1][: len(lines[start - 1]) - len(lines[start - 1].lstrip())]
        lines[start - 1 : end] = [f"{margin}<FILL {number}>"]
    return "\n".join(lines)


def _runs(tree: ast.Module) -> list[list[ast.stmt]]:
    """Runs of neighbouring statements that may be masked; each statement has its lines for itself."""
    found: list[list[ast.stmt]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in (
            "inputs",
            "__init__",
            "get_inputs",
            "get_init_inputs",
        ):
            run: list[ast.stmt] = []
            for statement in node.body:
                if _may_go(statement):
                    run.append(statement)
                elif run:
                    found.append(run)
                    run = []
            if run:
                found.append(run)
    return [run for run in found if len({s.lineno for s in run}) == len(run)]


def _may_go(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return False
    return not any(isinstance(node, ast.Return | ast.Yield) for node in ast.walk(statement))
