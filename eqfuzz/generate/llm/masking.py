"""Masking: statements of a program are removed for a model to fill in, as in TitanFuzz."""

from __future__ import annotations

import ast
import random

from eqfuzz.program.parsing import parse

MOST_HOLES = 3
LONGEST = 3
"""Maximal statements in one hole."""


def masked(source: str, rng: random.Random) -> str:
    """``source`` with up to MOST_HOLES runs of statements of its functions replaced by ``<FILL n>``.

    Return statements and inputs are kept; a program without other statements is unchanged. Raises SyntaxError.
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
    """Runs of consecutive statements that may be masked, each of which is on lines of its own."""
    runs: list[list[ast.stmt]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in (
            "inputs",
            "__init__",
            "get_inputs",
            "get_init_inputs",
        ):
            run: list[ast.stmt] = []
            for statement in node.body:
                if _is_maskable(statement):
                    run.append(statement)
                elif run:
                    runs.append(run)
                    run = []
            if run:
                runs.append(run)
    return [run for run in runs if len({s.lineno for s in run}) == len(run)]


def _is_maskable(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return False
    return not any(isinstance(node, ast.Return | ast.Yield) for node in ast.walk(statement))
