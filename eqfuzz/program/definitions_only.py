"""The text of a program without its inputs."""

from __future__ import annotations

import ast
import re

from eqfuzz.program import script
from eqfuzz.program.parsing import parse
from eqfuzz.program.program import Program


def program_text(program: Program) -> str:
    """The definitions of a program, without input hooks and without runs of blank lines."""
    tree = parse(program.source)
    source = script.keep_definitions(program.source, tree, "", program.construct)
    hooks = [s for s in parse(source).body if isinstance(s, ast.FunctionDef) and s.name in ("inputs", "get_inputs")]
    lines = source.splitlines()
    for hook in hooks:
        for number in range(hook.lineno, (hook.end_lineno or hook.lineno) + 1):
            lines[number - 1] = ""
    body = parse("\n".join(lines)).body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        for number in range(body[0].lineno, (body[0].end_lineno or 1) + 1):
            lines[number - 1] = ""
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip("\n")
