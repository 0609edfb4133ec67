"""Equations as syntax: matching one side of a rule against an expression, and writing the other side."""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

import libcst as cst

from eqfuzz.rewrite.purity import is_pure
from eqfuzz.rewrite.rule import Rule, RuleError
from eqfuzz.rewrite.spelling import ALIASES, DEFAULTS, NOT_METHODS, SIGNATURES
from eqfuzz.rewrite.syntax import Syntax, dotted, imports_of

Bindings = dict[str, cst.BaseExpression]

_ATOMS = (
    cst.Name,
    cst.Call,
    cst.Attribute,
    cst.Subscript,
    cst.Integer,
    cst.Float,
    cst.List,
    cst.Dict,
    cst.SimpleString,
)
_EMPTY = cst.Module([])


@dataclasses.dataclass(frozen=True)
class Match:
    """A left side that fits: what each parameter is bound to, in order of evaluation."""

    bindings: Bindings


class Equation:
    """The two sides of a rule, parsed from its own source text. Raises RuleError when it has another form."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.left, self.right, self.imports = _sides(rule)
        self.parameters = frozenset(rule.sorts)
        missing = self.parameters - set(_free_parameters(self.left, self.parameters))
        if missing:
            raise RuleError(f"{rule.name}: {', '.join(sorted(missing))} stands on one side only: cannot be bound")

    @cached_property
    def matches_anything(self) -> bool:
        """Whether the left side is a bare parameter."""
        return isinstance(self.left, cst.Name) and self.left.value in self.parameters

    @cached_property
    def root(self) -> type[cst.CSTNode]:
        """The node type of the left side, for a quick first look; CSTNode when anything may match."""
        return cst.CSTNode if self.matches_anything else type(self.left)

    def match(self, node: cst.BaseExpression, syntax: Syntax, shadowed: frozenset[str]) -> Match | None:
        """Bind the left side to ``node``; syntax only, facts are the guards' matter."""
        bindings: Bindings = {}
        matcher = _Matcher(self, syntax, shadowed, bindings)
        return Match(bindings) if matcher.same(self.left, node) else None

    def write(self, match: Match, syntax: Syntax, shadowed: frozenset[str]) -> Replacement | str:
        """The right side as text for the place of the match, or the reason why it cannot be written there."""
        order_left = list(dict.fromkeys(_free_parameters(self.left, self.parameters)))
        used = list(_free_parameters(self.right, self.parameters))
        order_right = list(dict.fromkeys(used))
        impure = [p for p in order_left if not is_pure(match.bindings[p])]
        if impure and order_left != order_right:
            return f"{impure[0]} may have side effects and the rule changes when it is evaluated"
        writer = _Writer(self, match, syntax, shadowed, used)
        text = writer.render()
        if writer.problem:
            return writer.problem
        return Replacement(text, writer.is_atom, tuple(writer.new_imports))


@dataclasses.dataclass(frozen=True)
class Replacement:
    """Text of a right side; ``atom`` when it never needs brackets; import lines that it relies on."""

    text: str
    atom: bool
    imports: tuple[str, ...]


def code_of(node: cst.CSTNode) -> str:
    """The source text of a node."""
    return _EMPTY.code_for_node(node)


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
    return imports_of(cst.parse_module(Path(path).read_text(encoding="utf-8")))


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
        arguments = list(node.args)
        if any(a.star for a in arguments):
            return False
        wanted = resolve(pattern.func, self.pattern_imports)
        if wanted is not None:
            wanted = ALIASES.get(wanted, wanted)
            found = resolve(node.func, self.imports)
            if found is None and isinstance(node.func, cst.Attribute) and wanted not in NOT_METHODS:
                if dotted(node.func.value) in self.imports:
                    return False
                found = f"torch.{node.func.attr.value}"  # the method x.f(...) is torch.f(x, ...)
                arguments = [cst.Arg(node.func.value), *arguments]
            if found is None or ALIASES.get(found, found) != wanted:
                return False
        elif not self.same(pattern.func, node.func):
            return False
        if wanted in SIGNATURES:
            ours, theirs = _by_name(wanted, list(pattern.args)), _by_name(wanted, arguments)
            if ours is None or theirs is None:
                return False
            for name, default in DEFAULTS.get(wanted, {}).items():
                if name in ours and name not in theirs:
                    theirs[name] = cst.Integer(default)
            return ours.keys() == theirs.keys() and all(self.same(v, theirs[k]) for k, v in ours.items())
        return self._same_arguments(pattern.args, arguments)

    def _same_arguments(self, pattern: object, arguments: list[cst.Arg]) -> bool:
        ours = list(pattern)  # type: ignore[call-overload]
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


def _by_name(function: str, arguments: Sequence[cst.Arg]) -> dict[str, cst.BaseExpression] | None:
    """Arguments by parameter name; None when they are too many, unknown, or not in the order of the parameters."""
    names = SIGNATURES[function]
    found: dict[str, cst.BaseExpression] = {}
    for position, argument in enumerate(arguments):
        if argument.keyword is not None:
            name = "dim" if argument.keyword.value == "axis" else argument.keyword.value
        elif position < len(names):
            name = names[position]
        else:
            return None
        if name in found:
            return None
        found[name] = argument.value
    written = [n for n in names if n in found]
    return found if written == list(found) else None


def resolve(node: cst.CSTNode, imports: Mapping[str, str]) -> str | None:
    """The dotted path of a name or attribute chain that starts at an imported module, else None."""
    path = dotted(node)
    if path is None:
        return None
    root, _, rest = path.partition(".")
    if root not in imports:
        return None
    full = imports[root] + (f".{rest}" if rest else "")
    return ALIASES.get(full, full)


def _parts(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Children that carry meaning: no whitespace, brackets or commas."""
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


class _Writer(cst.CSTTransformer):
    """Renders a right side with the match's operands in place of the parameters."""

    def __init__(
        self, equation: Equation, match: Match, syntax: Syntax, shadowed: frozenset[str], used: list[str]
    ) -> None:
        super().__init__()
        self.equation = equation
        self.match = match
        self.syntax = syntax
        self.imports = {n: p for n, p in syntax.imports.items() if n not in shadowed}
        self.shadowed = shadowed
        self.taken = shadowed | syntax.module_names | frozenset(syntax.imports)
        self.repeated = {p for p in used if used.count(p) > 1}
        self.temporaries: dict[str, str] = {}
        self.new_imports: list[str] = []
        self.problem = ""
        self.is_atom = False

    def render(self) -> str:
        result = self._rewrite(self.equation.right)
        self.is_atom = isinstance(result, _ATOMS) or bool(result.lpar)
        return code_of(result)

    def _rewrite(self, node: cst.BaseExpression) -> cst.BaseExpression:
        out = node.visit(self)
        assert isinstance(out, cst.BaseExpression)
        return out

    def on_visit(self, node: cst.CSTNode) -> bool:
        # Names inside are replaced by `on_leave` of the outermost resolvable chain only.
        return resolve(node, self.equation.imports) is None

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        path = resolve(original_node, self.equation.imports)
        if path is not None:
            return self._global(original_node)
        if isinstance(original_node, cst.Arg) and original_node.keyword is not None:
            return updated_node.with_changes(keyword=original_node.keyword)
        if isinstance(original_node, cst.Attribute):
            return updated_node.with_changes(attr=original_node.attr)
        if isinstance(original_node, cst.Name):
            if original_node.value in self.equation.parameters:
                return self._operand(original_node.value)
            if hasattr(builtins, original_node.value) and original_node.value in self.taken:
                self.problem = f"the name {original_node.value} means something else here"
        return updated_node

    def _global(self, node: cst.CSTNode) -> cst.BaseExpression:
        """A dotted name of the rule file as the seed would write it; asks for an import where it cannot."""
        path = dotted(node) or ""
        root, _, rest = path.partition(".")
        full = self.equation.imports[root] + (f".{rest}" if rest else "")
        parts = full.split(".")
        for cut in range(len(parts), 0, -1):
            prefix = ".".join(parts[:cut])
            names = sorted(n for n, p in self.imports.items() if p == prefix)
            if names:
                return cst.parse_expression(".".join([names[0], *parts[cut:]]))  # type: ignore[return-value]
        module = parts[0]
        if module in self.taken and self.imports.get(module) != module:
            self.problem = f"the name {module} means something else here"
        line = f"import {module}"
        if line not in self.new_imports:
            self.new_imports.append(line)
        return cst.parse_expression(full)  # type: ignore[return-value]

    def _operand(self, name: str) -> cst.BaseExpression:
        node = self.match.bindings[name]
        if name in self.repeated and not isinstance(node, (cst.Name, cst.Integer, cst.Float)):
            if name in self.temporaries:
                return cst.Name(self.temporaries[name])
            fresh = self.syntax.fresh_name("t", list(self.temporaries.values()))
            self.temporaries[name] = fresh
            return cst.parse_expression(f"({fresh} := {code_of(_without_brackets(node))})")  # type: ignore[return-value]
        if isinstance(node, _ATOMS) and not node.lpar:
            return node  # type: ignore[return-value]
        bare = _without_brackets(node)
        if isinstance(bare, _ATOMS):
            return bare
        return bare.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _without_brackets(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[], rpar=[]) if node.lpar else node
