"""What of a program is needed for what it returns and writes; the rest is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eqfuzz.generate.dag.graph.graph import (
    Assign,
    Block,
    Compound,
    Effect,
    Expr,
    Function,
    Return,
    Statement,
    Storage,
    Value,
)

_ROUNDS = 4


def pruned(block: Block, result: Expr, written: Iterable[Storage]) -> list[Statement]:
    """The block's statements without those that neither ``result`` nor the memory ``written`` depends on."""
    live = _Live(written)
    live.read(result)
    return _needed(block.statements, live)


class _Live:
    """Values that will be read, and memory that will be looked at."""

    def __init__(self, written: Iterable[Storage], values: Iterable[Value] = ()) -> None:
        self.values = set(values)
        self.written = frozenset(written)

    def copy(self) -> _Live:
        return _Live(self.written, self.values)

    def read(self, expr: Expr) -> None:
        self.values.update(expr.read)
        if expr.function is not None:
            self.values.add(expr.function.name)

    def looks_at(self, storage: Storage) -> bool:
        return storage in self.written or any(value.storage is storage for value in self.values)


def _needed(statements: Sequence[Statement], live: _Live) -> list[Statement]:
    """Those that are needed where ``live`` is read after them; ``live`` becomes what is read before them."""
    kept: list[Statement] = []
    for statement in reversed(statements):
        if isinstance(statement, Assign):
            if live.values.isdisjoint(statement.targets):
                continue
            if not statement.again:
                live.values.difference_update(statement.targets)
            live.read(statement.expr)
        elif isinstance(statement, Effect):
            if statement.target is not None and not live.looks_at(statement.target.storage):
                continue
            live.read(statement.expr)
        elif isinstance(statement, Compound):
            left = _compound(statement, live)
            if left is None:
                continue
            kept.append(left)
            continue
        elif isinstance(statement, Function):
            if statement.name not in live.values:
                continue
            inside = _Live(live.written)
            body = _needed(statement.body.statements, inside)
            statement = Function(statement.name, statement.parameters, _block(statement.body, body), statement.inner)
            live.values.discard(statement.name)
            live.values.update(inside.values.difference(statement.parameters))
        else:
            live.read(statement.expr)
        kept.append(statement)
    return kept[::-1]


def _compound(statement: Compound, live: _Live) -> Compound | None:
    after = live.copy()
    live.read(statement.header)  # a loop's is read again after each turn
    body: list[Statement] = []
    orelse: list[Statement] = []
    for _ in range(_ROUNDS):  # what one turn of a loop reads the turn before has to make
        before = live.copy()
        inside = live.copy()
        body = _needed(statement.body.statements, inside)
        otherwise = after.copy()
        orelse = _needed(statement.orelse.statements, otherwise) if statement.orelse is not None else []
        live.values |= (inside.values | otherwise.values) - set(statement.bound)
        if live.values == before.values:
            break
    if not body and not orelse:
        live.values = after.values
        return None
    other = _block(statement.orelse, orelse) if statement.orelse is not None and orelse else None
    return Compound(statement.header, _block(statement.body, body), statement.bound, other)


def _block(old: Block, statements: list[Statement]) -> Block:
    return Block(old.parent, statements, old.values, old.isolated)


def reads(statements: Iterable[Statement]) -> list[Value]:
    """Every value that the statements and all below them read, as often as they do, in order."""
    found: list[Value] = []
    for statement in statements:
        if isinstance(statement, Assign | Effect | Return):
            found += statement.expr.read
            if statement.expr.function is not None:
                found.append(statement.expr.function.name)
        elif isinstance(statement, Compound):
            found += statement.header.read
            found += reads(statement.body.statements)
            found += reads(statement.orelse.statements) if statement.orelse is not None else []
        else:
            found += reads(statement.body.statements)
    return found


def makes(statements: Iterable[Statement]) -> set[Value]:
    """Every value that the statements and all below them give a name to."""
    found: set[Value] = set()
    for statement in statements:
        if isinstance(statement, Assign):
            found.update(statement.targets)
        elif isinstance(statement, Compound):
            found.update(statement.bound)
            found |= makes(statement.body.statements)
            found |= makes(statement.orelse.statements) if statement.orelse is not None else set()
        elif isinstance(statement, Function):
            found.update(statement.parameters)
            found.add(statement.name)
            found |= makes(statement.body.statements)
    return found
