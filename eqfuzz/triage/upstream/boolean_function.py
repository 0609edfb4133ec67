"""A reproducer as ``test_fn() -> bool``, which PyTorch's bots call, with the backend from the environment."""

from __future__ import annotations

import dataclasses
import re

import libcst as cst

from eqfuzz.triage.upstream.script_parts import (
    BACKEND_VARIABLE,
    BackendFromEnvironment,
    StaticShapes,
    code_of,
    exit_of,
    in_a_body,
    parts_of,
    right_of,
    text_of,
    visited,
)

_GUARD = 'if __name__ == "__main__":\n    raise SystemExit(not test_fn())\n'


@dataclasses.dataclass(frozen=True)
class ReportedScript:
    """A script for a report. ``backend`` is the default of the one that it reads from the environment; empty: fixed.

    ``has_function``: it has a ``test_fn() -> bool``; otherwise only its exit status says how it ends.
    """

    text: str
    backend: str
    has_function: bool


def boolean_function(script: str) -> ReportedScript:
    """A script without its docstring, whose run is a function that returns whether there is no bug.

    Raises NotConverted.
    """
    parts = parts_of(script)
    run = [one for statement in parts.run for one in visited(statement, _Returns())]
    if not isinstance(run[-1], cst.SimpleStatementLine) or not isinstance(run[-1].body[0], cst.Return):
        run.append(cst.parse_statement("return True"))
    function = cst.parse_statement(
        'def test_fn() -> bool:\n    """True if there is no bug."""\n    torch._dynamo.reset()\n'
    )
    assert isinstance(function, cst.FunctionDef)
    function = function.with_deep_changes(function.body, body=[*function.body.body, *in_a_body(run)])
    program = "\n\n\n".join(filter(None, [text_of(parts.setup), code_of(function).strip("\n")]))
    backends = BackendFromEnvironment()
    reading = cst.parse_module(program + "\n").visit(backends).code.strip("\n")
    reads = backends.applies and not re.search(r"\bBACKEND\b", script)
    body = reading if reads else program
    imports = text_of(parts.imports)
    if not re.search(r"^import torch$", imports, re.MULTILINE):
        imports = f"{imports}\n\nimport torch".strip("\n")
    imports = _imports(imports, body, reads_environment=reads)
    constant = [f'BACKEND = os.environ.get("{BACKEND_VARIABLE}", "{backends.default}")'] if reads else []
    text = "\n\n\n".join(["\n\n".join([imports, *constant]), body, _GUARD])
    return ReportedScript(text, backends.default if reads else "", has_function=True)


def with_static_shapes(script: str) -> str:
    """A script with ``dynamic=False`` in each call of ``torch.compile``."""
    return cst.parse_module(script).visit(StaticShapes()).code


def with_setting(script: str, setting: str) -> str:
    """A script in which an option is set first, behind the imports that it begins with, and its module imported."""
    module = cst.parse_module(script)
    count = 0
    for number, statement in enumerate(module.body):
        if not isinstance(statement, cst.SimpleStatementLine):
            break
        if any(isinstance(part, cst.Import | cst.ImportFrom) for part in statement.body):
            count = number + 1
    owner = setting.partition(".config.")[0]
    lines = [cst.parse_statement(line) for line in (f"import {owner}.config", setting)]
    return module.with_changes(body=[*module.body[:count], *lines, *module.body[count:]]).code


def _imports(text: str, body: str, *, reads_environment: bool) -> str:
    lines = text.splitlines()
    if not re.search(r"\bsys\.", body):
        lines = [line for line in lines if line != "import sys"]
    if reads_environment and "import os" not in lines:
        future = [line for line in lines if line.startswith("from __future__")]
        others = [line for line in lines if line not in future]
        plain = next((n for n, line in enumerate(others) if not line.strip()), 0)
        modules = sorted([*filter(None, others[:plain]), "import os"])
        lines = [*future, *([""] if future else []), *modules, "", *others[plain:]]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


class _Returns(cst.CSTTransformer):
    """Turns the ends of a script into returns, outside of functions."""

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        end = exit_of(updated_node)
        return updated_node if end is None else updated_node.with_changes(body=[cst.Return(_as_bool(right_of(end[0])))])


def _as_bool(condition: cst.BaseExpression) -> cst.BaseExpression:
    """``bool(…)`` of what may be a tensor."""
    match condition:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="all" | "any"))):
            return cst.Call(cst.Name("bool"), [cst.Arg(condition)])
    return condition
