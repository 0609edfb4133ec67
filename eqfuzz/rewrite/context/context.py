"""The place that a generator looks at: its text, names, facts, neighbours, and the edits that can be made there."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from typing import Any

import libcst as cst

from eqfuzz.program.parsing import parse
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.probe import Facts
from eqfuzz.rewrite.source.edit import Edit, edited, skip
from eqfuzz.rewrite.source.evaluation_order import held_back
from eqfuzz.rewrite.source.names import ScopeNames, names_in
from eqfuzz.rewrite.source.purity import is_pure
from eqfuzz.rewrite.source.syntax import Expression, Statement, Syntax, dotted
from eqfuzz.rewrite.source.template import code_of, local_name


class RewriteContext:
    """One expression or statement offered to a generator.

    Methods that ask for something that is not there raise Skip with the reason.
    """

    def __init__(self, syntax: Syntax, facts: Facts, here: Expression | Statement) -> None:
        self.syntax = syntax
        self.here = here
        self._facts = facts
        self.imports: list[str] = []
        self.fresh: list[str] = []

    @property
    def node(self) -> cst.CSTNode:
        return self.here.node

    @property
    def statement(self) -> Statement:
        """The statement here, or the one that holds the expression. Raises Skip inside a lambda at module level."""
        if isinstance(self.here, Statement):
            return self.here
        return self.here.statement or skip("the expression is not part of a simple statement")

    # Text

    def text(self, node: cst.CSTNode) -> str:
        """The source text of ``node``, with the parentheses around an expression."""
        start, end = self.syntax.span(node)
        if isinstance(node, cst.BaseExpression) and node.lpar:
            return f"({self.syntax.text[start:end]})"
        return self.syntax.text[start:end]

    def atom(self, expression: cst.BaseExpression) -> str:
        """The text of ``expression``, in parentheses unless it never needs any."""
        bare = isinstance(expression, (cst.Name, cst.Call, cst.Attribute, cst.Subscript, cst.List, cst.Tuple))
        text = self.text(expression)
        return text if bare or expression.lpar else f"({text})"

    def block(self, body: cst.BaseSuite, edits: Sequence[Edit] = ()) -> str:
        """The statements of ``body`` as lines without indentation, comments included, with ``edits`` made inside."""
        if isinstance(body, cst.SimpleStatementSuite):
            return "\n".join(self.lines(small, edits) for small in body.body)
        return self.run(body.body, edits)

    def run(self, statements: Sequence[cst.CSTNode], edits: Sequence[Edit] = ()) -> str:
        """Neighbouring statements of a block as lines without indentation, with ``edits`` made inside."""
        return self._dedented(self.syntax.span(statements[0])[0], self.syntax.span(statements[-1])[1], edits)

    def lines(self, statement: cst.CSTNode, edits: Sequence[Edit] = ()) -> str:
        """One statement as lines without indentation, with ``edits`` made inside."""
        return self._dedented(*self.syntax.span(statement), edits)

    def _dedented(self, start: int, end: int, edits: Sequence[Edit] = ()) -> str:
        inside = [e for e in edits if start <= e.span[0] and e.span[1] <= end]
        line_start = self.syntax.text.rfind("\n", 0, start) + 1
        margin = self.syntax.text[line_start:start]
        changed = edited(self.syntax.text[:end], inside)[start:]
        if margin.strip():  # the second statement of a line
            return changed
        text = margin + changed
        moved = textwrap.dedent(text)
        if _dumped(moved) != _dumped("if 1:\n" + textwrap.indent(text, " ")):
            skip("a string of several lines cannot be indented differently")
        return moved

    # Names

    @property
    def locals(self) -> frozenset[str]:
        """Names bound in the enclosing functions."""
        return self.here.locals

    def names(self, node: cst.CSTNode) -> ScopeNames:
        """Variables that ``node`` reads and stores."""
        return names_in(self.lines(node) if not isinstance(node, cst.BaseExpression) else f"({self.text(node)})")

    def variables(self, node: cst.CSTNode) -> list[str]:
        """Local variables that ``node`` reads, in alphabetical order: what a helper must be given."""
        return sorted(self.names(node).reads & self.locals)

    def elsewhere(self, *nodes: cst.CSTNode) -> ScopeNames:
        """Variables that the function around reads and stores outside ``nodes``; parameters count as stored."""
        function = self.statement.function
        start, end = self.syntax.span(function)
        fillers = [Edit(self.syntax.span(n), "None" if isinstance(n, cst.BaseExpression) else "pass") for n in nodes]
        whole = edited(self.syntax.text[:end], fillers)[start:]
        indent = self.syntax.text[self.syntax.text.rfind("\n", 0, start) + 1 : start]
        tree = parse(textwrap.dedent(indent + whole)).body[0]
        assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
        names = names_in("\n".join(ast.unparse(s) for s in tree.body))
        return ScopeNames(names.reads, names.stores | {a.arg for a in ast.walk(tree.args) if isinstance(a, ast.arg)})

    def new_name(self, stem: str) -> str:
        """A name that the program does not use."""
        name = self.syntax.fresh_name(stem, self.fresh)
        self.fresh.append(name)
        return name

    def path(self, full: str) -> str:
        """The program's name for ``full`` (``torch.where``, ``functools.partial``), imported when it is not yet."""
        imports = {name: path for name, path in self.syntax.imports.items() if name not in self.locals}
        name = local_name(full, imports)
        if name is not None:
            return name
        module = full.partition(".")[0] if full.startswith("torch.") else full.rpartition(".")[0]
        root = module.partition(".")[0]
        if root in self.locals | self.syntax.module_names | frozenset(self.syntax.imports):
            skip(f"the name {root} means something else here")
        self.imports.append(f"import {module}")
        return full

    def builtin(self, name: str) -> str:
        """``name`` where it still means the builtin."""
        if name in self.locals | self.syntax.module_names | frozenset(self.syntax.imports):
            skip(f"the name {name} means something else here")
        return name

    def resolved(self, node: cst.CSTNode) -> str | None:
        """The dotted path of a name or attribute chain that starts at an imported module, else None."""
        path = dotted(node)
        root, _, rest = (path or "").partition(".")
        if root in self.locals or root not in self.syntax.imports:
            return None
        return self.syntax.imports[root] + (f".{rest}" if rest else "")

    # Facts

    def facts(self, expression: cst.BaseExpression) -> Sequence[Fact]:
        """The facts of ``expression``, one for each evaluation, at least one. Raises Skip where there is none."""
        return self.visits(expression) or skip(
            f"{self._short(expression)} did not run, or ran too often to be recorded"
        )

    def visits(self, expression: cst.BaseExpression) -> Sequence[Fact]:
        """The facts of ``expression``; empty where it did not run, or too often to be recorded."""
        fact = constant(expression)
        return [fact] if fact is not None else self._facts.at(self.syntax.span(expression))

    def recorded(self, expression: cst.BaseExpression) -> Sequence[Fact]:
        """The recorded facts of ``expression``; empty where the probe records nothing (callees, attribute names)."""
        return self._facts.at(self.syntax.span(expression))

    def tensors(self, expression: cst.BaseExpression) -> Sequence[Fact]:
        """The facts of an expression that was a plain tensor every time."""
        facts = self.facts(expression)
        for fact in facts:
            if not fact.is_tensor:
                skip(f"{self._short(expression)} is {fact.describe()}, not a tensor")
        return facts

    def value(self, expression: cst.BaseExpression, kind: str) -> Any:
        """The one Python value (``int``, ``bool``, ``ints``, ``range`` …) that ``expression`` had every time."""
        facts = self.facts(expression)
        if any(f.kind != kind for f in facts):
            skip(f"{self._short(expression)} is {facts[0].describe()}, not {kind}")
        if any(f.value != facts[0].value for f in facts):
            skip(f"{self._short(expression)} is not the same every time")
        return facts[0].value

    def pure(self, expression: cst.CSTNode) -> bool:
        """Whether evaluating it once more, never, or later changes nothing."""
        return is_pure(expression)

    def require_pure(self, expression: cst.CSTNode) -> None:
        if not is_pure(expression):
            skip(f"{self._short(expression)} may have side effects")

    # Edits

    def replace(self, node: cst.CSTNode, text: str) -> Edit:
        """``text`` in place of another node than the one offered; statements as lines without indentation."""
        if isinstance(node, cst.BaseExpression):
            start, end = self.syntax.span(node)
            return Edit((start, end), text if node.lpar or "\n" not in text else f"({text})")
        return Edit(self.syntax.span(node), self.at_indent(text))

    def ahead(self, lines: str) -> Edit:
        """``lines`` as statements before the statement here; whether they may run first is for the caller to know."""
        start = self.statement.span[0]
        return Edit((start, start), f"{self.at_indent(lines)}\n{self.statement.indent}")

    def hoisted(self, expression: cst.BaseExpression, name: str) -> Edit:
        """``name = expression`` before the statement; Skip where something else would then be evaluated later."""
        reason = held_back(expression, self.statement.node)
        if reason is not None:
            skip(reason)
        text = self.text(expression)
        return self.ahead(f"{name} = {text if chr(10) not in text or expression.lpar else f'({text})'}")

    def define(self, lines: str) -> Edit:
        """A definition at module level, before the one that holds this place."""
        top = self.statement.top
        return Edit((top, top), f"{lines}\n\n\n")

    def at_indent(self, lines: str) -> str:
        """Lines without indentation as they stand here after the indentation of the first."""
        return textwrap.indent(lines, self.statement.indent).removeprefix(self.statement.indent)

    def _short(self, node: cst.CSTNode) -> str:
        text = " ".join(code_of(node).split())
        return text if len(text) <= 40 else f"{text[:37]}..."


def _dumped(code: str) -> list[str] | None:
    """The statements of ``code`` (those of its one ``if``) without their positions; None when it is no Python."""
    try:
        body = parse(code).body
    except SyntaxError:
        return None
    statements = body[0].body if code.startswith("if 1:") and isinstance(body[0], ast.If) else body
    return [ast.dump(s) for s in statements]


def constant(node: cst.BaseExpression) -> Fact | None:
    """The fact of a literal, which no probe records."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = constant(node.expression)
        return Fact(inner.kind, -inner.value) if inner is not None and inner.is_number else None
    if isinstance(node, (cst.Integer, cst.Float)):
        value = node.evaluated_value
        return Fact(type(value).__name__, value)
    if isinstance(node, cst.Name) and node.value in ("True", "False"):
        return Fact("bool", node.value == "True")
    if isinstance(node, cst.Name) and node.value == "None":
        return Fact("none")
    if isinstance(node, cst.SimpleString):
        return Fact("str", node.evaluated_value)
    if isinstance(node, (cst.Tuple, cst.List)):
        items = [constant(e.value) for e in node.elements]
        if all(i is not None and i.kind == "int" for i in items):
            return Fact("ints", tuple(i.value for i in items if i is not None))
    return None
