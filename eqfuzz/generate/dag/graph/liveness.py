"""Removal of dead code: statements that neither the result nor written memory depends on."""

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
    """The statements of ``block`` that ``result`` or the memory ``written`` depends on."""
    live = _Live(written)
    live.read(result)
    return _needed(block.statements, live)


class _Live:
    """The live values, and the memory whose final contents are observed."""

    def __init__(self, written: Iterable[Storage], values: Iterable[Value] = ()) -> None:
        self.values = set(values)
        self.written = frozenset(written)

    def copy(self) -> _Live:
        return _Live(self.written, self.values)

    def read(self, expr: Expr) -> None:
        self.values.update(expr.read)
        if expr.function is not None:
            self.values.add(expr.function.name)

    def observes(self, storage: Storage) -> bool:
        return storage in self.written or any(value.storage is storage for value in self.values)


def _needed(statements: Sequence[Statement], live: _Live) -> list[Statement]:
    """The needed statements where ``live`` is live after them; updates ``live`` to what is live before them."""
    needed: list[Statement] = []
    for statement in reversed(statements):
        if isinstance(statement, Assign):
            if live.values.isdisjoint(statement.targets):
                continue
            if not statement.again:
                live.values.difference_update(statement.targets)
            live.read(statement.expr)
        elif isinstance(statement, Effect):
            if statement.target is not None and not live.observes(statement.target.storage):
                continue
            live.read(statement.expr)
        elif isinstance(statement, Compound):
            remaining = _compound(statement, live)
            if remaining is None:
                continue
            needed.append(remaining)
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
        needed.append(statement)
    return needed[::-1]


def _compound(statement: Compound, live: _Live) -> Compound | None:
    after = live.copy()
    live.read(statement.header)  # a loop evaluates its header again after each iteration
    body: list[Statement] = []
    orelse: list[Statement] = []
    for _ in range(_ROUNDS):  # an iteration of a loop reads values of the previous one
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
    """The values that the statements read, nested ones included, in order and with repetitions."""
    values: list[Value] = []
    for statement in statements:
        if isinstance(statement, Assign | Effect | Return):
            values += statement.expr.read
            if statement.expr.function is not None:
                values.append(statement.expr.function.name)
        elif isinstance(statement, Compound):
            values += statement.header.read
            values += reads(statement.body.statements)
            values += reads(statement.orelse.statements) if statement.orelse is not None else []
        else:
            values += reads(statement.body.statements)
    return values


def makes(statements: Iterable[Statement]) -> set[Value]:
    """The values that the statements bind, nested ones included."""
    values: set[Value] = set()
    for statement in statements:
        if isinstance(statement, Assign):
            values.update(statement.targets)
        elif isinstance(statement, Compound):
            values.update(statement.bound)
            values |= makes(statement.body.statements)
            values |= makes(statement.orelse.statements) if statement.orelse is not None else set()
        elif isinstance(statement, Function):
            values.update(statement.parameters)
            values.add(statement.name)
            values |= makes(statement.body.statements)
    return values
