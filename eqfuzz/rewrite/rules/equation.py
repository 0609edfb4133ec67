"""Equations as syntax: matching one side of a rule against an expression, and writing the other side."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

import libcst as cst

from eqfuzz.rewrite.calls.arguments import ArgumentValue
from eqfuzz.rewrite.calls.operators import canonical, operator_at
from eqfuzz.rewrite.calls.readings import CallReading, default_of, method_path, read
from eqfuzz.rewrite.context.context import constant
from eqfuzz.rewrite.rules.rule import Rule, RuleError
from eqfuzz.rewrite.source.purity import is_pure
from eqfuzz.rewrite.source.syntax import Syntax, dotted, imports_of
from eqfuzz.rewrite.source.template import Replacement, ReplacementTemplate, code_of

Bindings = dict[str, cst.BaseExpression]


@dataclasses.dataclass(frozen=True)
class EquationMatch:
    """A left side that fits: the node bound to each parameter, in order of evaluation."""

    bindings: Bindings


@dataclasses.dataclass(frozen=True)
class Called:
    """A call in a left side: the canonical path of its callee, and its readings."""

    path: str
    receiver: cst.BaseExpression | None
    readings: tuple[CallReading, ...]


class Equation:
    """The two sides of a rule, parsed from its own source text. Raises RuleError when it has another form."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.left, self.right, self.imports = _sides(rule)
        self.parameters = frozenset(rule.sorts)
        self._calls: dict[cst.Call, Called | None] = {}
        self._order = list(dict.fromkeys(_free_parameters(self.left, self.parameters)))
        missing = self.parameters - set(self._order)
        if missing:
            raise RuleError(f"{rule.name}: {', '.join(sorted(missing))} occurs on one side only and cannot be bound")
        if self.template.conditional:
            raise RuleError(
                f"{rule.name}: the right side evaluates its operands conditionally; use a precondition instead"
            )
        if self.template.stores:
            raise RuleError(f"{rule.name}: the right side stores a name; it may be one of the program's")

    @cached_property
    def template(self) -> ReplacementTemplate:
        """The right side, ready to be written."""
        return ReplacementTemplate(code_of(self.right), self.parameters, self.imports)

    @cached_property
    def _keeps_order(self) -> bool:
        return list(dict.fromkeys(self.template.order)) == self._order

    @cached_property
    def matches_anything(self) -> bool:
        """Whether the left side is a bare parameter."""
        return isinstance(self.left, cst.Name) and self.left.value in self.parameters

    @cached_property
    def root(self) -> type[cst.CSTNode]:
        """The node type of the left side, for a quick first look; CSTNode when anything may match."""
        return cst.CSTNode if self.matches_anything else type(self.left)

    def called(self, call: cst.Call) -> Called | None:
        """What a call in the left side means; None when it is no function or method of torch or another module."""
        if call not in self._calls:
            path, receiver = path_of(call.func, self.imports), None
            if path is None and isinstance(call.func, cst.Attribute):
                method = method_path(call.func.attr.value)
                if operator_at(method) is not None:
                    path, receiver = method, call.func.value
            readings = read(path, call.args, receiver) if path is not None else ()
            self._calls[call] = Called(canonical(path), receiver, readings) if path is not None else None
        return self._calls[call]

    def match(self, node: cst.BaseExpression, syntax: Syntax, shadowed: frozenset[str]) -> EquationMatch | None:
        """Bind the left side to ``node``; syntax only, facts are checked by the preconditions."""
        bindings: Bindings = {}
        matcher = _Matcher(self, syntax, shadowed, bindings)
        return EquationMatch(bindings) if matcher.same(self.left, node) else None

    def write(self, match: EquationMatch, syntax: Syntax, shadowed: frozenset[str]) -> Replacement | str:
        """The right side as text for the place of the match, or the reason why it cannot be written there."""
        if not self._keeps_order or not self.template.at_once:
            impure = [p for p in self._order if not is_pure(match.bindings[p])]
            if impure and not (self._keeps_order and len(self._order) == 1):
                return f"{impure[0]} may have side effects and the rule changes when it is evaluated"
        return self.template.fill(match.bindings, syntax, shadowed)


def _sides(rule: Rule) -> tuple[cst.BaseExpression, cst.BaseExpression, dict[str, str]]:
    path = inspect.getsourcefile(rule.function)
    lines, first = inspect.getsourcelines(rule.function)
    place = f"{path}:{first}"
    tree = cst.parse_module(textwrap.dedent("".join(lines)))
    function = tree.body[0]
    assert isinstance(function, cst.FunctionDef)
    body = function.body.body
    last = body[-1]
    value = None
    if isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Return):
        value = last.body[-1].value
    if not isinstance(value, cst.Tuple) or len(value.elements) != 2 or len(body) > 2:
        raise RuleError(f"{place}: a rule is a docstring and `return left, right`")
    sides = [element.value for element in value.elements]
    if rule.reverse:
        sides.reverse()
    return sides[0], sides[1], _module_imports(path or "")


@cache
def _module_imports(path: str) -> dict[str, str]:
    """What a rule file imports; read once for all of its rules."""
    return imports_of(Path(path).read_text(encoding="utf-8"))


def _free_parameters(node: cst.CSTNode, parameters: frozenset[str]) -> Iterator[str]:
    """Parameters in ``node`` in order of evaluation (source order), with repeats; keyword names are not parameters."""
    if isinstance(node, cst.Name):
        if node.value in parameters:
            yield node.value
        return
    if isinstance(node, cst.Attribute):
        yield from _free_parameters(node.value, parameters)
        return
    if isinstance(node, cst.Arg):
        yield from _free_parameters(node.value, parameters)
        return
    for child in node.children:
        yield from _free_parameters(child, parameters)


class _Matcher:
    def __init__(self, equation: Equation, syntax: Syntax, shadowed: frozenset[str], bindings: Bindings) -> None:
        self.equation = equation
        self.parameters = equation.parameters
        self.pattern_imports = equation.imports
        self.imports = {name: path for name, path in syntax.imports.items() if name not in shadowed}
        self.taken = shadowed | syntax.module_names | frozenset(syntax.imports)
        self.bindings = bindings

    def same(self, pattern: cst.CSTNode, node: cst.CSTNode) -> bool:
        if isinstance(pattern, cst.Name) and pattern.value in self.parameters:
            return self._bind(pattern.value, node)
        path = resolve(pattern, self.pattern_imports)
        if path is not None:
            return resolve(node, self.imports) == path
        if isinstance(pattern, cst.Call):
            return isinstance(node, cst.Call) and self._same_call(pattern, node)
        if isinstance(pattern, (cst.List, cst.Tuple)) and isinstance(node, (cst.List, cst.Tuple)):
            ours, theirs = _parts(pattern), _parts(node)  # torch.cat([x, y]) is torch.cat((x, y))
            return len(ours) == len(theirs) and all(self.same(a, b) for a, b in zip(ours, theirs, strict=True))
        if type(pattern) is not type(node):
            return False
        match pattern:
            case cst.Name():  # True, None or a builtin function, unless the seed calls something else so
                return pattern.value == node.value and pattern.value not in self.taken  # type: ignore[attr-defined]
            case cst.BinaryOperation() | cst.UnaryOperation() | cst.BooleanOperation():
                if type(pattern.operator) is not type(node.operator):  # type: ignore[attr-defined]
                    return False
            case cst.Comparison():
                return self._same_comparison(pattern, node)  # type: ignore[arg-type]
            case cst.Attribute():
                return pattern.attr.value == node.attr.value and self.same(pattern.value, node.value)  # type: ignore[attr-defined]
            case cst.Integer() | cst.Float():
                return pattern.evaluated_value == node.evaluated_value  # type: ignore[attr-defined]
            case cst.SimpleString():
                return pattern.evaluated_value == node.evaluated_value  # type: ignore[attr-defined]
            case _:
                pass
        ours, theirs = _parts(pattern), _parts(node)
        return len(ours) == len(theirs) and all(self.same(a, b) for a, b in zip(ours, theirs, strict=True))

    def _same_comparison(self, pattern: cst.Comparison, node: cst.Comparison) -> bool:
        if len(pattern.comparisons) != 1 or len(node.comparisons) != 1:
            return False
        ours, theirs = pattern.comparisons[0], node.comparisons[0]
        return (
            type(ours.operator) is type(theirs.operator)
            and self.same(pattern.left, node.left)
            and self.same(ours.comparator, theirs.comparator)
        )

    def _same_call(self, pattern: cst.Call, node: cst.Call) -> bool:
        if any(a.star for a in node.args):
            return False
        wanted = self.equation.called(pattern)
        if wanted is None:
            return self.same(pattern.func, node.func) and self._same_arguments(pattern.args, node.args)
        path, receiver = path_of(node.func, self.imports), None
        if path is None and isinstance(node.func, cst.Attribute):
            if (dotted(node.func.value) or "").partition(".")[0] in self.imports:
                return False
            path, receiver = method_path(node.func.attr.value), node.func.value  # x.f(...) is torch.f(x, ...)
        if path is None or canonical(path) != wanted.path:
            return False
        theirs = read(path, node.args, receiver)
        if not wanted.readings or not theirs:
            if (receiver is None) != (wanted.receiver is None):
                return False
            if wanted.receiver is not None and receiver is not None and not self.same(wanted.receiver, receiver):
                return False
            return self._same_arguments(pattern.args, node.args)
        before = dict(self.bindings)
        for ours in wanted.readings:
            for reading in theirs:
                if ours.overload == reading.overload and self._same_reading(ours, reading):
                    return True
                self.bindings.clear()
                self.bindings.update(before)
        return False

    def _same_reading(self, pattern: CallReading, node: CallReading) -> bool:
        if any(name not in pattern.values and not node.is_default(name) for name in node.values):
            return False
        for name, value in pattern.values.items():
            other = node.values.get(name)
            if other is None and pattern.is_default(name):
                continue
            other = default_of(pattern, name) if other is None else other
            if other is None or not self._same_value(value, other):
                return False
        return True

    def _same_value(self, pattern: ArgumentValue, node: ArgumentValue) -> bool:
        """Of an argument; the items of a list may be passed one by one (``x.flip(0, 1)`` is ``x.flip((0, 1))``)."""
        if not isinstance(pattern, tuple) and not isinstance(node, tuple):
            return self.same(pattern, node)
        if isinstance(pattern, cst.Name) and isinstance(node, tuple) and pattern.value in self.parameters:
            whole = cst.Tuple([cst.Element(item) for item in node])
            if self.equation.rule.sorts[pattern.value] == "Int":
                return len(node) == 1 and self.same(pattern, node[0])
            return constant(whole) is not None and self.same(pattern, whole)  # the probe has seen no list of them
        ours, theirs = _items(pattern), _items(node)
        return len(ours) == len(theirs) and all(self.same(a, b) for a, b in zip(ours, theirs, strict=True))

    def _same_arguments(self, ours: Sequence[cst.Arg], arguments: Sequence[cst.Arg]) -> bool:
        if len(ours) != len(arguments):
            return False
        by_keyword = {a.keyword.value: a.value for a in arguments if a.keyword is not None}
        positional = iter([a.value for a in arguments if a.keyword is None])
        for argument in ours:
            if argument.keyword is None:
                value = next(positional, None)
            else:
                value = by_keyword.pop(argument.keyword.value, None)
            if value is None or not self.same(argument.value, value):
                return False
        return True

    def _bind(self, name: str, node: cst.CSTNode) -> bool:
        if not isinstance(node, cst.BaseExpression):
            return False
        before = self.bindings.get(name)
        if before is None:
            self.bindings[name] = node
            return True
        return is_pure(node) and code_of(before).strip() == code_of(node).strip()


def _items(value: ArgumentValue) -> Sequence[cst.BaseExpression]:
    if isinstance(value, tuple):
        return value
    return [e.value for e in value.elements] if isinstance(value, (cst.Tuple, cst.List)) else (value,)


def resolve(node: cst.CSTNode, imports: Mapping[str, str]) -> str | None:
    """The path that stands for all names of what a name or attribute chain means, if it starts at an import."""
    path = path_of(node, imports)
    return canonical(path) if path is not None else None


def path_of(node: cst.CSTNode, imports: Mapping[str, str]) -> str | None:
    """The dotted path of a name or attribute chain that starts at an imported module, else None."""
    path = dotted(node)
    if path is None:
        return None
    root, _, rest = path.partition(".")
    if root not in imports:
        return None
    return imports[root] + (f".{rest}" if rest else "")


def _parts(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Children that carry meaning: no whitespace, parentheses or commas."""
    dropped = (
        cst.BaseParenthesizableWhitespace,
        cst.LeftParen,
        cst.RightParen,
        cst.Comma,
        cst.LeftSquareBracket,
        cst.RightSquareBracket,
        cst.BaseBinaryOp,
        cst.BaseUnaryOp,
        cst.BaseBooleanOp,
        cst.Colon,
    )
    parts: list[cst.CSTNode] = []
    for child in node.children:
        if isinstance(child, (cst.Element, cst.SubscriptElement)):
            parts.extend(_parts(child))
        elif not isinstance(child, dropped):
            parts.append(child)
    if isinstance(node, cst.Slice):  # absent bounds have a place: x[1:] is not x[:1]
        return [part or cst.Name("None") for part in (node.lower, node.upper, node.step)]
    return parts
