"""A parsed source text: its expressions with their positions, scopes and imports. Never executes anything."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence
from functools import lru_cache

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from eqfuzz.program.parsing import parse

HOOKS = frozenset({"inputs", "get_inputs", "get_init_inputs", "__init__", "__post_init__"})
"""Functions that are not the code under test: they make the program or its inputs."""

_NOT_VALUES = frozenset("True False None super locals globals eval exec vars __class__".split())

_IDENTITY_ATTRIBUTES = frozenset(
    """grad grad_fn data is_leaf requires_grad retains_grad backward register_hook retain_grad data_ptr storage
    untyped_storage storage_offset as_strided share_memory _version is_set_to""".split()
)
_IDENTITY_CALLS = frozenset("id type isinstance grad vjp jvp as_strided setattr".split())
"""Where an object's autograd history, storage or strides are read, an equal copy is no equal."""

Span = tuple[int, int]
"""Start and end offsets in the source text, in characters."""


@dataclasses.dataclass(frozen=True, eq=False)
class Statement:
    """One statement of the code under test.

    Attributes:
        node: The small statement of a line that has only one, else the line or the compound statement.
        span: Its place in the source.
        indent: White space before it.
        locals: Names that are bound in the enclosing functions.
        block: The statements beside it, itself included.
        index: Its position in ``block``.
        function: The innermost definition around it.
        top: Offset in characters at which the module-level statement that holds it begins, decorators included.
    """

    node: cst.CSTNode
    span: Span
    indent: str
    locals: frozenset[str]
    block: Sequence[cst.BaseStatement]
    index: int
    function: cst.FunctionDef
    top: int


@dataclasses.dataclass(frozen=True, eq=False)
class Expression:
    """One expression of the code under test.

    ``locals`` are the names bound in the enclosing functions; ``enclosed`` says that no parentheses are needed
    whatever is put in its place (a whole argument, right-hand side, returned value or bracketed item);
    ``identity`` that the object matters here and not only its value (``x.grad``, ``x.add_(1)``, ``x is y``).
    """

    node: cst.BaseExpression
    span: Span
    locals: frozenset[str]
    enclosed: bool
    identity: bool
    statement: Statement | None


class Syntax:
    """Parses ``text`` once. Raises ``libcst.ParserSyntaxError`` or ``SyntaxError`` when it is not Python."""

    def __init__(self, text: str) -> None:
        self.text = text
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self._positions = wrapper.resolve(PositionProvider)
        self._line_starts = _line_starts(text)
        self.imports = imports_of(text)
        self.expressions: list[Expression] = []
        self.statements: list[Statement] = []
        self.names = {n.value for n in walk(self.module) if isinstance(n, cst.Name)}
        self.attributes = {n.attr.value for n in walk(self.module) if isinstance(n, cst.Attribute)}
        self.module_names = frozenset(_module_names(self.module))
        _Collector(self).collect()

    def span(self, node: cst.CSTNode) -> Span:
        """Offsets of ``node`` without parentheses around it."""
        position = self._positions[node]
        start = self._line_starts[position.start.line - 1] + position.start.column
        end = self._line_starts[position.end.line - 1] + position.end.column
        return start, end

    def text_of(self, node: cst.CSTNode) -> str:
        """The source text of ``node`` without parentheses around it; also of a node that the text does not contain."""
        if node not in self._positions:
            return cst.Module([]).code_for_node(node)
        start, end = self.span(node)
        return self.text[start:end]

    def line(self, offset: int) -> int:
        """The line (from 1) that ``offset`` lies on."""
        return self.text.count("\n", 0, offset) + 1

    def fresh_name(self, stem: str, taken: Sequence[str] = ()) -> str:
        """A name that the text does not use."""
        number = 1
        while (name := f"{stem}{number}") in self.names or name in taken:
            number += 1
        return name


def imports_of(source: str) -> dict[str, str]:
    """Module-level imported names of a source text, each with the dotted path that it stands for."""
    imports: dict[str, str] = {}
    for statement in parse(source).body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                root = alias.name.partition(".")[0]
                imports[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            names = [alias for alias in statement.names if alias.name != "*"]
            imports |= {alias.asname or alias.name: f"{statement.module}.{alias.name}" for alias in names}
    return imports


def _module_names(module: cst.Module) -> Iterator[str]:
    """Names that the module level binds itself: definitions and stores, not imports."""
    pending: list[cst.CSTNode] = list(module.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            yield node.name.value
            continue
        if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr)):
            yield from (n.value for n in walk(node.target) if isinstance(n, cst.Name))
        pending.extend(node.children)


def dotted(node: cst.CSTNode) -> str | None:
    """``a.b.c`` of a chain of names, else None."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr.value}" if base else None
    return None


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


@lru_cache(maxsize=1 << 15)
def children(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """The children of ``node``, kept because libcst visits a copy of the node each time that it is asked for them."""
    return tuple(node.children)


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``node`` and everything inside it, in source order."""
    pending = [node]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(reversed(children(here)))


class _Collector(cst.CSTVisitor):
    """Finds the expressions whose value a probe may record and a rule may replace.

    Left alone, because wrapping or replacing them changes meaning or is not valid Python: targets, callees (but for
    ``self.name``), attribute names, keyword names, annotations, decorators, parameter defaults, f-strings, ``super``,
    generator expressions, bare tuples, starred items, lambdas, ``del``/``global``/``nonlocal`` names, exception types,
    parts of chained comparisons' operators, and everything outside the code under test.
    """

    def __init__(self, syntax: Syntax) -> None:
        super().__init__()
        self.syntax = syntax
        self.scopes: list[frozenset[str]] = []
        self.scope_owners: list[cst.CSTNode] = []
        self.skipped: set[int] = set()
        self.enclosed: set[int] = set()
        self.identities: set[int] = set()
        self.blocks: dict[int, tuple[Sequence[cst.BaseStatement], int]] = {}
        self.open_statements: list[tuple[cst.CSTNode, Statement]] = []
        self.top = 0
        self.top_end = 0

    def collect(self) -> None:
        self.syntax.module.visit(self)

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.IndentedBlock) and id(node) not in self.skipped:
            self.blocks.update((id(s), (node.body, i)) for i, s in enumerate(node.body))
        elif isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            self._note_statement(node)
        if isinstance(node, cst.FunctionDef):
            return self._enter_function(node)
        if isinstance(node, cst.ClassDef):
            for part in (node.name, *node.bases, *node.keywords, *node.decorators):
                self._skip(part)
            self.skipped.add(id(node.body))  # what a class body stores are attributes, not variables
            return True
        if not self.scopes and not isinstance(
            node, (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite, cst.If, cst.Else)
        ):
            return False  # module and class level: not the code under test
        self._mark_children(node)
        if isinstance(node, cst.Lambda):  # also where it is called at once, so before the look at what is skipped
            self._enter_scope(node, _parameter_names(node.params))
            self._skip(node.params)
            return True
        if id(node) in self.skipped:
            return not isinstance(node, (cst.Annotation, cst.Decorator, cst.FormattedString))
        if isinstance(node, cst.BaseExpression) and _recordable(node):
            self._record(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self.scope_owners and self.scope_owners[-1] is original_node:
            self.scope_owners.pop()
            self.scopes.pop()
        if self.open_statements and self.open_statements[-1][0] is original_node:
            self.open_statements.pop()

    def _note_statement(self, node: cst.SimpleStatementLine | cst.BaseCompoundStatement) -> None:
        start, end = self.syntax.span(node)
        if not self.scopes:
            decorators = node.decorators if isinstance(node, (cst.FunctionDef, cst.ClassDef)) else ()
            if start >= self.top_end:
                self.top = min([start, *(self.syntax.span(d)[0] for d in decorators)])
                self.top_end = end
            return
        functions = [owner for owner in self.scope_owners if isinstance(owner, cst.FunctionDef)]
        if id(node) not in self.blocks or not functions:
            return
        block, index = self.blocks[id(node)]
        line_start = self.syntax.text.rfind("\n", 0, start) + 1
        small = node.body if isinstance(node, cst.SimpleStatementLine) else ()
        statement = Statement(
            node=small[0] if len(small) == 1 else node,
            span=(start, end),
            indent=self.syntax.text[line_start:start],
            locals=self.scopes[-1],
            block=block,
            index=index,
            function=functions[-1],
            top=self.top,
        )
        self.syntax.statements.append(statement)
        self.open_statements.append((node, statement))

    def _enter_scope(self, owner: cst.CSTNode, names: frozenset[str]) -> None:
        outer = self.scopes[-1] if self.scopes else frozenset()
        self.scopes.append(outer | names)
        self.scope_owners.append(owner)

    def _enter_function(self, node: cst.FunctionDef) -> bool:
        if node.name.value in HOOKS:
            return False
        self._enter_scope(node, _bound_names(node))
        for part in (node.name, *node.decorators, *_defaults_and_annotations(node)):
            self._skip(part)
        return True

    def _skip(self, node: cst.CSTNode | None) -> None:
        if node is not None:
            for inner in walk(node):
                self.skipped.add(id(inner))

    def _mark_children(self, node: cst.CSTNode) -> None:
        """Mark which children of ``node`` must be left alone, and which need no parentheses."""
        skip, enclosed = self.skipped, self.enclosed
        match node:
            case cst.AssignTarget() | cst.CompFor() | cst.For():
                self._skip_stores(node.target)
                if isinstance(node, cst.For):  # a comprehension takes no bare condition or lambda there
                    enclosed.add(id(node.iter))
            case cst.Assign():
                enclosed.add(id(node.value))
            case cst.AugAssign():
                self._skip_stores(node.target)
                enclosed.add(id(node.value))
            case cst.AnnAssign():
                self._skip_stores(node.target)
                self._skip(node.annotation)
            case cst.NamedExpr():
                skip.add(id(node.target))
            case cst.WithItem() if node.asname is not None:
                self._skip_stores(node.asname.name)
            case cst.ExceptHandler():
                self._skip(node.type)
                self._skip(node.name)
            case cst.Del() | cst.Global() | cst.Nonlocal() | cst.Import() | cst.ImportFrom() | cst.Annotation():
                self._skip(node)
            case cst.FormattedString():
                self._skip(node)
            case cst.Attribute():
                skip.add(id(node.attr))
                name = node.attr.value
                if name in _IDENTITY_ATTRIBUTES or (name.endswith("_") and not name.endswith("__")):
                    self.identities.add(id(node.value))
            case cst.Comparison() if any(isinstance(c.operator, (cst.Is, cst.IsNot)) for c in node.comparisons):
                self.identities.update(id(e) for e in (node.left, *(c.comparator for c in node.comparisons)))
            case cst.Call():
                if not (dotted(node.func) or "").startswith("self."):
                    skip.add(id(node.func))  # what is called is known by its name, but for submodules
                if (dotted(node.func) or "").split(".")[-1] in _IDENTITY_CALLS:
                    self.identities.update(id(inner) for a in node.args for inner in walk(a))
                if isinstance(node.func, cst.Attribute):
                    skip.add(id(node.func.attr))
            case cst.Arg():
                if node.keyword is not None:
                    skip.add(id(node.keyword))
                if node.star == "":
                    enclosed.add(id(node.value))
            case cst.Return() if node.value is not None:
                enclosed.add(id(node.value))
            case cst.Index():
                enclosed.add(id(node.value))
            case cst.Raise() | cst.Assert() | cst.Match():
                self._skip(node)
            case cst.ConcatenatedString():
                self._skip(node)
            case _:
                pass

    def _skip_stores(self, target: cst.BaseExpression | cst.CSTNode) -> None:
        """Skip the stored names of a target; indices and objects inside it are read and may be probed."""
        match target:
            case cst.Tuple() | cst.List():
                self.skipped.add(id(target))
                for element in target.elements:
                    self._skip_stores(element.value)
            case cst.StarredElement():
                self._skip_stores(target.value)
            case _:
                self.skipped.add(id(target))

    def _record(self, node: cst.BaseExpression) -> None:
        self.syntax.expressions.append(
            Expression(
                node,
                self.syntax.span(node),
                self.scopes[-1],
                bool(node.lpar) or id(node) in self.enclosed,
                id(node) in self.identities,
                self.open_statements[-1][1] if self.open_statements else None,
            )
        )


def _recordable(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Name):
        return node.value not in _NOT_VALUES
    return isinstance(
        node,
        (
            cst.Call,
            cst.BinaryOperation,
            cst.UnaryOperation,
            cst.Comparison,
            cst.BooleanOperation,
            cst.Subscript,
            cst.IfExp,
            cst.Attribute,
        ),
    )


def _bound_names(function: cst.FunctionDef) -> frozenset[str]:
    """Parameters and every name stored anywhere inside the function."""
    names = set(_parameter_names(function.params))
    for node in walk(function.body):
        match node:
            case cst.AssignTarget() | cst.AugAssign() | cst.AnnAssign() | cst.For() | cst.CompFor() | cst.NamedExpr():
                names |= {n.value for n in walk(node.target) if isinstance(n, cst.Name)}
            case cst.AsName():
                names |= {n.value for n in walk(node.name) if isinstance(n, cst.Name)}
            case cst.FunctionDef() | cst.ClassDef():
                names.add(node.name.value)
            case _:
                pass
    return frozenset(names)


def _parameter_names(parameters: cst.Parameters) -> frozenset[str]:
    return frozenset(n.name.value for n in walk(parameters) if isinstance(n, cst.Param))


def _defaults_and_annotations(function: cst.FunctionDef) -> list[cst.CSTNode]:
    return [function.params, *([function.returns] if function.returns is not None else [])]
