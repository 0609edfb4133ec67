"""The parts of a reproducer: imports, what is set up once, and the run that ends with the exit status."""

from __future__ import annotations

import ast
import dataclasses
import symtable
from collections.abc import Iterator, Sequence

import libcst as cst

from eqfuzz.program.parsing import parse

BACKEND_VARIABLE = "TORCH_COMPILE_BACKEND"
"""The environment variable in which ``compiler_bisector run`` names the backend."""


@dataclasses.dataclass(frozen=True)
class ScriptParts:
    """``setup`` stays outside of a function that has the ``run``: definitions, settings, and globals that they read."""

    imports: tuple[cst.BaseStatement, ...]
    setup: tuple[cst.BaseStatement, ...]
    run: tuple[cst.BaseStatement, ...]


class NotConverted(Exception):
    """A script has no such form; ``str()`` says why, in a few words."""


def parts_of(script: str) -> ScriptParts:
    """The parts of a script that exits with 1 while a defect is there. Raises NotConverted."""
    body = [statement for statement in cst.parse_module(script).body if not _is_text(statement)]
    count = next((n for n, statement in enumerate(body) if not _is_import(statement)), len(body))
    imports, rest = body[:count], body[count:]
    start = max((n + 1 for n, statement in enumerate(rest) if _stays(statement)), default=0)
    used = _globals_of_functions(script)
    start = max((n + 1 for n in range(start, len(rest)) if used & _names_assigned(rest[n])), default=start)
    if not any(_exits_in(rest[start:])):
        raise NotConverted("its exit status is not decided at its end")
    return ScriptParts(tuple(imports), tuple(rest[:start]), tuple(rest[start:]))


def setting_of(statement: cst.BaseStatement) -> tuple[str, str] | None:
    """``torch._inductor.config`` and ``cpp.threads`` of a statement that sets this option; None for others."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)])]):
            module, mark, option = code_of(target).partition(".config.")
            return (f"{module}.config", option) if mark and module.startswith("torch.") else None
    return None


def code_of(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def text_of(statements: Sequence[cst.BaseStatement]) -> str:
    """Statements with the comments and blank lines between them, and none before the first."""
    return "".join(map(code_of, statements)).strip("\n")


def in_a_body(statements: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """Statements as those of a function: no blank lines before the first, one at most before others."""
    inside: list[cst.BaseStatement] = []
    for number, statement in enumerate(statements):
        lines = getattr(statement, "leading_lines", ())
        comments = [line for line in lines if line.comment is not None]
        blank = [cst.EmptyLine(indent=False)] if number and len(comments) < len(lines) else []
        inside.append(statement.with_changes(leading_lines=[*blank, *comments]))
    return inside


def visited(statement: cst.BaseStatement, transformer: cst.CSTTransformer) -> list[cst.BaseStatement]:
    """What a transformer makes of a statement: nothing, one, or several."""
    result = statement.visit(transformer)
    if isinstance(result, cst.FlattenSentinel):
        return list(result)
    return [result] if isinstance(result, cst.BaseStatement) else []


def right_of(end: cst.BaseExpression | None) -> cst.BaseExpression:
    """The condition that nothing is wrong, for an exit status. Raises NotConverted."""
    match end:
        case None:
            return cst.Name("True")
        case cst.Integer(value="0" | "1"):
            return cst.Name("True" if end.value == "0" else "False")
        case cst.Integer():
            raise NotConverted(f"it ends with status {end.value}")
        case cst.SimpleString():
            return cst.Name("False")
        case cst.UnaryOperation(operator=cst.Not()):
            return end.expression
        case cst.Comparison(comparisons=[cst.ComparisonTarget() as one]) if type(one.operator) in _OPPOSITES:
            operator = _OPPOSITES[type(one.operator)]()
            return end.with_changes(comparisons=[one.with_changes(operator=operator)])
    simple = isinstance(end, cst.Name | cst.Call | cst.Attribute | cst.Comparison) or bool(end.lpar)
    inner = end if simple else end.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.UnaryOperation(operator=cst.Not(), expression=inner)


_OPPOSITES: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
}


def exit_of(statement: cst.CSTNode) -> tuple[cst.BaseExpression | None] | None:
    """The status with which a statement ends the script, None for no status; None for a statement that does not."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Raise(exc=cst.Name(value="SystemExit"))]):
            return (None,)
        case cst.SimpleStatementLine(body=[cst.Raise(exc=cst.Call(func=cst.Name(value="SystemExit")) as call)]):
            return (call.args[0].value if call.args else None,)
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call() as call)]) if code_of(call.func) == "sys.exit":
            return (call.args[0].value if call.args else None,)
    return None


class BackendFromEnvironment(cst.CSTTransformer):
    """Gives each call of ``torch.compile`` the backend ``BACKEND``; ``default`` is the one that it names itself."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.backends: set[str] = set()
        self.is_own = False
        """Whether a call has a backend that is no name."""

    @property
    def default(self) -> str:
        return next(iter(self.backends), "inductor")

    @property
    def applies(self) -> bool:
        """Whether all calls have one backend, which is a name."""
        return self.calls > 0 and len(self.backends) == 1 and not self.is_own

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if not _is_compile(updated_node.func):
            return updated_node
        self.calls += 1
        named = next((arg for arg in updated_node.args if arg.keyword and arg.keyword.value == "backend"), None)
        if named is None:
            self.backends.add("inductor")
            self.is_own |= any(arg.star == "**" for arg in updated_node.args)
            return updated_node.with_changes(args=with_keyword(updated_node.args, "backend", cst.Name("BACKEND")))
        if not isinstance(named.value, cst.SimpleString):
            self.is_own = True
            return updated_node
        self.backends.add(str(named.value.evaluated_value))
        changed = [arg.with_changes(value=cst.Name("BACKEND")) if arg is named else arg for arg in updated_node.args]
        return updated_node.with_changes(args=changed)

    def leave_Decorator(self, original_node: cst.Decorator, updated_node: cst.Decorator) -> cst.Decorator:
        if not _is_compile(updated_node.decorator):
            return updated_node
        self.calls += 1
        self.backends.add("inductor")
        call = cst.Call(updated_node.decorator, with_keyword((), "backend", cst.Name("BACKEND")))
        return updated_node.with_changes(decorator=call)


class StaticShapes(cst.CSTTransformer):
    """Gives each call of ``torch.compile`` ``dynamic=False``."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if not _is_compile(updated_node.func):
            return updated_node
        others = [arg for arg in updated_node.args if arg.keyword is None or arg.keyword.value != "dynamic"]
        return updated_node.with_changes(args=with_keyword(others, "dynamic", cst.Name("False")))


def with_keyword(args: Sequence[cst.Arg], name: str, value: cst.BaseExpression) -> list[cst.Arg]:
    """Arguments and one more at their end."""
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    before = [arg if isinstance(arg.comma, cst.Comma) else arg.with_changes(comma=comma) for arg in args]
    if before and before[-1].comma != comma:
        before[-1] = before[-1].with_changes(comma=comma)
    none = cst.SimpleWhitespace("")
    equal = cst.AssignEqual(whitespace_before=none, whitespace_after=none)
    return [*before, cst.Arg(value, keyword=cst.Name(name), equal=equal)]


def _is_compile(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Attribute) and code_of(node) == "torch.compile"


def _is_text(statement: cst.BaseStatement) -> bool:
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
    return False


def _is_import(statement: cst.BaseStatement) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(part, cst.Import | cst.ImportFrom) for part in statement.body
    )


def _stays(statement: cst.BaseStatement) -> bool:
    """Whether a statement cannot be part of the run."""
    is_definition = isinstance(statement, cst.FunctionDef | cst.ClassDef)
    return is_definition or _is_import(statement) or setting_of(statement) is not None


def _exits_in(statements: Sequence[cst.CSTNode]) -> Iterator[bool]:
    for statement in statements:
        if exit_of(statement) is not None:
            yield True
        elif not isinstance(statement, cst.FunctionDef | cst.ClassDef | cst.BaseExpression):
            yield from _exits_in(statement.children)


def _names_assigned(statement: cst.BaseStatement) -> set[str]:
    nodes = ast.walk(parse(code_of(statement).strip("\n")))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _globals_of_functions(script: str) -> set[str]:
    """Names that functions and classes of a script take from its globals."""
    tables = list(symtable.symtable(script, "script", "exec").get_children())
    names: set[str] = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return names
