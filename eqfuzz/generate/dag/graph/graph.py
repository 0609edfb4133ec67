"""The graph of a program: values, the expressions that compute them, and statements in order of execution."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eqfuzz.generate.dag.values.spec import Range, Spec


@dataclasses.dataclass(eq=False, slots=True)
class Storage:
    """The memory of one or more values.

    ``owned``: the program may write to it. ``saved_for_backward``: a backward pass reads it. ``grad``: gradients flow
    through it.
    """

    owned: bool = False
    saved_for_backward: bool = False
    grad: bool = False


@dataclasses.dataclass(eq=False, slots=True)
class Value:
    """The value of a variable or of an expression.

    Attributes:
        spec: Its size, dtype and what must hold for its elements.
        range: The interval of its elements.
        storage: The memory that it shares with views of it.
        name_hint: The preferred name of its variable.
        name: The text of a value that is not assigned (``self.weight``, a literal).
        contiguous: Whether it is known to be contiguous, as ``view`` requires.
        needs_variable: Whether it is not inlined into another expression.
        read_only: Whether it may not be written to.
        detached: Whether no gradient flows through it, even where one flows through other values of the same memory.
    """

    spec: Spec
    range: Range
    storage: Storage
    name_hint: str = ""
    name: str = ""
    contiguous: bool = False
    needs_variable: bool = False
    read_only: bool = False
    detached: bool = False

    @property
    def grad(self) -> bool:
        """Whether gradients flow through it."""
        return self.storage.grad and not self.detached


@dataclasses.dataclass(eq=False, slots=True)
class Expr:
    """Code with holes: ``{0}`` for ``inputs``, ``{name}`` for ``params``. ``operator`` is the name of its operator.

    With ``function`` it is a call of that function with the inputs, and ``text`` is ignored.
    """

    text: str
    inputs: tuple[Value, ...] = ()
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    operator: str = ""
    function: Function | None = None

    @property
    def read(self) -> tuple[Value, ...]:
        """The inputs that the text names: some forms of an operator omit one."""
        if self.function is not None:
            return self.inputs
        return tuple(value for number, value in enumerate(self.inputs) if f"{{{number}}}" in self.text)


@dataclasses.dataclass(eq=False, slots=True)
class Assign:
    """``targets = expr``; several targets unpack a tuple."""

    targets: tuple[Value, ...]
    expr: Expr
    again: bool = False
    """The variable exists already and is assigned again."""


@dataclasses.dataclass(eq=False, slots=True)
class Effect:
    """An expression statement: it writes to ``target``, or has another side effect."""

    expr: Expr
    target: Value | None = None


@dataclasses.dataclass(eq=False, slots=True)
class Compound:
    """``header:`` and a block below it; ``for``, ``if`` and ``with``. ``orelse`` follows after ``else:``.

    ``bound`` are the values that the header binds.
    """

    header: Expr
    body: Block
    bound: tuple[Value, ...] = ()
    orelse: Block | None = None


@dataclasses.dataclass(eq=False, slots=True)
class Function:
    """A function that the program calls.

    ``inner``: it is defined inside the program and reads its variables; otherwise it is defined before the program, and
    gets the values that it needs as further parameters. ``name`` is a dummy value, so that functions are named as
    variables are.
    """

    name: Value
    parameters: tuple[Value, ...]
    body: Block
    inner: bool


@dataclasses.dataclass(eq=False, slots=True)
class Return:
    expr: Expr


Statement = Assign | Effect | Compound | Function | Return


@dataclasses.dataclass(eq=False, slots=True)
class Block:
    """A sequence of statements, and the values that are defined after it.

    ``isolated``: statements in it must not write to values from outside.
    """

    parent: Block | None = None
    statements: list[Statement] = dataclasses.field(default_factory=list)
    values: list[Value] = dataclasses.field(default_factory=list)
    isolated: bool = False

    def visible(self) -> Iterator[Value]:
        """The values that may be read here, the most recent first."""
        block: Block | None = self
        while block is not None:
            yield from reversed(block.values)
            block = block.parent

    def may_write(self, value: Value) -> bool:
        """Whether statements here may write to the memory of ``value``."""
        block: Block | None = self
        while block is not None:
            if block.isolated:
                outside = block.parent.visible() if block.parent is not None else ()
                return value in block.values and all(other.storage is not value.storage for other in outside)
            if value in block.values:
                return True
            block = block.parent
        return False


@dataclasses.dataclass(eq=False, slots=True)
class Leaf:
    """A leaf: ``kind`` is "input", "parameter" or "buffer"; ``text`` is the code that creates its value."""

    kind: str
    value: Value
    text: str


@dataclasses.dataclass(eq=False, slots=True)
class Graph:
    """A program.

    Attributes:
        leaves: Inputs, parameters and buffers.
        layers: Code that creates each submodule, by its name.
        block: The statements.
        result: The expression that is returned.
        preamble: Lines of code before the program.
        dims: Each changing size with its value in every input set.
        names: Those of its variables, once its code was written.
    """

    leaves: list[Leaf]
    layers: dict[str, str]
    block: Block
    result: Expr
    preamble: tuple[str, ...] = ()
    dims: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    names: dict[Value, str] = dataclasses.field(default_factory=dict)

    @property
    def operators(self) -> list[str]:
        """The names of its operators in the order of use, with repetitions."""
        return [expr.operator for expr in expressions(self.block.statements) if expr.operator]


def expressions(statements: Iterable[Statement]) -> Iterator[Expr]:
    """All expressions of the statements, nested ones included, in order."""
    for statement in statements:
        if isinstance(statement, Compound):
            yield statement.header
            yield from expressions(statement.body.statements)
            if statement.orelse is not None:
                yield from expressions(statement.orelse.statements)
        elif isinstance(statement, Function):
            yield from expressions(statement.body.statements)
        else:
            yield statement.expr
