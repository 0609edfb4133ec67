"""Source text with its syntax tree: the spans of nodes, and edits that remove or replace them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from eqfuzz.program.parsing import parse, parse_expression
from eqfuzz.program.program import Program
from eqfuzz.rewrite.source.edit import Edit
from eqfuzz.rewrite.source.syntax import Span
from eqfuzz.triage.reduce.precedence import are_parentheses_redundant, needs_parentheses

Function = ast.FunctionDef | ast.AsyncFunctionDef


class SourceTree:
    """Parses the program's source once. Raises SyntaxError when it is not Python."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.text = program.source
        self.tree = parse(self.text)
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        self._lines = self.text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    @cached_property
    def named(self) -> frozenset[str]:
        """Names of the module that the harness uses: they must stay."""
        expressions = parse(f"({self.program.construct}, {self.program.inputs})")
        names = {n.id for n in walk(expressions) if isinstance(n, ast.Name)} - {"rng"}
        return frozenset({self.program.entry, *names})

    @cached_property
    def imported(self) -> frozenset[str]:
        """Names that imports bind anywhere in the module."""
        aliases = (n for n in walk(self.tree) if isinstance(n, ast.alias))
        return frozenset((a.asname or a.name).partition(".")[0] for a in aliases)

    @cached_property
    def hook(self) -> Function | None:
        """The function that makes the inputs, where there is one."""
        called = {n.id for n in walk(parse(self.program.inputs)) if isinstance(n, ast.Name)}
        return next((s for s in self.tree.body if isinstance(s, Function) and s.name in called), None)

    @cached_property
    def entry(self) -> Function | None:
        """The entry function, or the ``forward`` of the entry class."""
        top = next((s for s in self.tree.body if getattr(s, "name", None) == self.program.entry), None)
        if isinstance(top, ast.ClassDef):
            return next((s for s in top.body if isinstance(s, Function) and s.name == "forward"), None)
        return top if isinstance(top, Function) else None

    @cached_property
    def functions(self) -> list[Function]:
        """The functions of the code under test, nested ones and ``__init__`` included, the entry first."""
        hooks = {self.hook, *(s for s in self.tree.body if getattr(s, "name", None) == "get_init_inputs")}
        inside = {n for h in hooks if h is not None for n in walk(h)}
        functions = [n for n in walk(self.tree) if isinstance(n, Function) and n not in inside]
        return sorted(functions, key=lambda f: f is not self.entry)

    def function_of(self, node: ast.AST) -> Function | None:
        """The innermost function around ``node``."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, Function):
                return node
        return None

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around ``node``, or itself."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def blocks(self, inside: ast.AST | None = None) -> Iterator[list[ast.stmt]]:
        """Every list of statements, the outer before the inner ones."""
        for node in walk(inside or self.tree):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield block

    def offset(self, line: int, column: int) -> int:
        """The index in ``text`` of a position of the tree: a line from 1 and a column in UTF-8 bytes."""
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self._starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> Span:
        """The span of ``node``, without parentheses around it; decorators belong to their definition."""
        decorators = getattr(node, "decorator_list", None) or ()
        start = self.offset(node.lineno, node.col_offset)
        for decorator in decorators:
            start = min(start, self.offset(decorator.lineno, 0) + decorator.col_offset - 1)
        return start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def has_span(self, node: ast.AST) -> bool:
        """Whether ``node`` has a span of its own: not inside an f-string, whose parts have none before Python 3.12."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.JoinedStr):
                return False
        return True

    def text_of(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> str:
        """The source text of ``node``."""
        start, end = self.span(node)
        return self.text[start:end]

    def indent(self, node: ast.stmt) -> str:
        """The white space before ``node``'s line."""
        start = self.span(node)[0]
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        return line[: len(line) - len(line.lstrip())]

    def whole_lines(self, first: ast.stmt, last: ast.stmt) -> Span | None:
        """The span of the lines from ``first`` to ``last`` with their line ends; None where other code shares them."""
        start, end = self.span(first)[0], self.span(last)[1]
        line_start = self.text.rfind("\n", 0, start) + 1
        line_end = self.text.find("\n", end)
        line_end = len(self.text) if line_end < 0 else line_end + 1
        rest = self.text[end:line_end].strip()
        if self.text[line_start:start].strip() or (rest and not rest.startswith("#")):
            return None
        return line_start, line_end

    def cut(self, block: Sequence[ast.stmt], chosen: Sequence[ast.stmt]) -> list[Edit]:
        """Edits that remove ``chosen`` from ``block``; an empty block becomes ``pass``, or no ``else``."""
        removed = set(map(id, chosen))
        if all(id(s) in removed for s in block):
            return [self._cut_all(block)]
        edits: list[Edit] = []
        run: list[ast.stmt] = []
        for statement in [*block, None]:
            if statement is not None and id(statement) in removed:
                run.append(statement)
                continue
            if run:
                lines = self.whole_lines(run[0], run[-1])
                if lines is not None:
                    edits.append(Edit(lines, ""))
                else:
                    edits += [Edit(self.span(s), "pass") for s in run]
            run = []
        return edits

    def _cut_all(self, block: Sequence[ast.stmt]) -> Edit:
        owner = self.parents[block[0]]
        before = [s for field in ("body", "handlers", "orelse") for s in getattr(owner, field, ())]
        lines = self.whole_lines(block[0], block[-1])
        if block[0] in getattr(owner, "orelse", ()) or block[0] in getattr(owner, "finalbody", ()):
            previous = [s for s in before if s.lineno < block[0].lineno]
            end = self.span(previous[-1])[1]
            line_end = self.text.find("\n", end) + 1 or len(self.text)
            return Edit((line_end, lines[1] if lines else self.span(block[-1])[1]), "")
        if lines is None:
            return Edit((self.span(block[0])[0], self.span(block[-1])[1]), "pass")
        return Edit(lines, f"{self.indent(block[0])}pass\n")

    def moved(self, block: Sequence[ast.stmt], indent: str) -> str:
        """The lines of ``block`` at another indentation, ending with a newline."""
        lines = self.whole_lines(block[0], block[-1])
        if lines is None:
            return "".join(f"{indent}{self.text_of(s)}\n" for s in block)
        old = self.indent(block[0])
        text = self.text[lines[0] : lines[1]].rstrip("\n") + "\n"
        return "".join(
            indent + line[len(old) :] if line.startswith(old) else line for line in text.splitlines(keepends=True)
        )

    def put(self, old: ast.expr, new: ast.expr | str) -> Edit:
        """The edit that replaces ``old`` by ``new``, with parentheses only where they are needed."""
        node = parse_expression(new) if isinstance(new, str) else new
        text = new if isinstance(new, str) else self.text_of(new)
        start, end = self.span(old)
        if isinstance(old, ast.GeneratorExp):  # its span includes the parentheses of a call with no other argument
            return Edit((start, end), text if isinstance(new, ast.GeneratorExp) else f"({text})")
        parent, grouped = self.parents[old], self._grouping(start, end)
        if grouped is not None and not are_parentheses_redundant(node, parent, old):
            return Edit((start, end), text)
        needed = needs_parentheses(node, parent, old) or ("\n" in text and not _is_expression(text))
        return Edit(grouped or (start, end), f"({text})" if needed else text)

    def _grouping(self, start: int, end: int) -> Span | None:
        """The span with the parentheses directly around it, where they only group."""
        left = start - 1
        while left >= 0 and self.text[left] in " \t\n":
            left -= 1
        right = end
        while right < len(self.text) and self.text[right] in " \t\n":
            right += 1
        if left < 1 or right >= len(self.text) or self.text[left] != "(" or self.text[right] != ")":
            return None
        before = self.text[left - 1]
        return None if before.isalnum() or before in "_)]}\"'" else (left, right + 1)


def _is_expression(text: str) -> bool:
    try:
        parse_expression(text)
    except SyntaxError:
        return False
    return True


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is a bare string."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def loads(node: ast.AST) -> set[str]:
    """Names that are read anywhere inside."""
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def stores(node: ast.AST) -> set[str]:
    """Names that are bound anywhere inside, those of definitions included."""
    names = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return names | {n.name for n in walk(node) if isinstance(n, definitions)}


def fewer(count: int) -> Iterator[list[int]]:
    """Indices of ``count`` items to keep, the boldest choices first: each half, then all but ever smaller chunks."""
    if count < 2:
        return
    half = (count + 1) // 2
    yield list(range(half))
    yield list(range(half, count))
    size = count // 4
    while size >= 1:
        for first in range(0, count, size):
            remaining = [i for i in range(count) if not first <= i < first + size]
            if remaining:
                yield remaining
        size //= 2
    if 2 < count < 4:
        for index in range(count):
            yield [i for i in range(count) if i != index]


@lru_cache(maxsize=1 << 14)
def walk(node: ast.AST) -> tuple[ast.AST, ...]:
    """``node`` and its descendants without ``ast.expr_context``, the outer first; cached, as most passes call it."""
    nodes = [node]
    for here in nodes:
        for name in here._fields:
            value = getattr(here, name, None)
            if isinstance(value, ast.AST):
                if not isinstance(value, ast.expr_context):
                    nodes.append(value)
            elif isinstance(value, list):
                nodes += [item for item in value if isinstance(item, ast.AST)]
    return tuple(nodes)
