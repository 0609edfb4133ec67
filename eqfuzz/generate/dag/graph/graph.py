"""A program as it is built: values, the expressions that make them, and statements in the order in which they run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eqfuzz.generate.dag.values.spec import Range, Spec


@dataclasses.dataclass(eq=False, slots=True)
class Storage:
    """The memory of one or more values.

    ``owned``: the program may write to it. ``saved``: a backward pass will read it. ``grad``: gradients flow through.
    """

    owned: bool = False
    saved: bool = False
    grad: bool = False


@dataclasses.dataclass(eq=False, slots=True)
class Value:
    """What a variable holds, or an expression gives.

    ``name`` is fixed for what is not assigned (``self.weight``). ``noun`` is what a person would call it.
    ``contiguous``: known to be so, as far as ``view`` needs it. ``pinned``: it needs a variable. ``fixed``: it must
    not be written over. ``cut``: no gradient flows through it, whatever does through others of the same memory.
    """

    spec: Spec
    range: Range
    storage: Storage
    noun: str = ""
    name: str = ""
    contiguous: bool = False
    pinned: bool = False
    fixed: bool = False
    cut: bool = False

    @property
    def grad(self) -> bool:
        """Whether gradients flow through it."""
        return self.storage.grad and not self.cut


@dataclasses.dataclass(eq=False, slots=True)
class Expr:
    """Text with holes: ``{0}`` for ``inputs``, ``{name}`` for ``params``. ``operator`` names what it uses.

    ``function``: a call of it, with the inputs; the text is not looked at.
    """

    text: str
    inputs: tuple[Value, ...] = ()
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    operator: str = ""
    function: Function | None = None

    @property
    def read(self) -> tuple[Value, ...]:
        """The inputs that the text names: some spellings of an operator leave one out."""
        if self.function is not None:
            return self.inputs
        return tuple(value for number, value in enumerate(self.inputs) if f"{{{number}}}" in self.text)


@dataclasses.dataclass(eq=False, slots=True)
class Assign:
    """``targets = expr``; several targets unpack a tuple."""

    targets: tuple[Value, ...]
    expr: Expr
    again: bool = False
    """The variable is there already and gets another value."""


@dataclasses.dataclass(eq=False, slots=True)
class Effect:
    """An expression as a statement: it writes to ``target``, or does something that is not in the values."""

    expr: Expr
    target: Value | None = None


@dataclasses.dataclass(eq=False, slots=True)
class Compound:
    """``header:`` and a block below it; ``for``, ``if`` and ``with``. ``orelse`` follows after ``else:``.

    ``bound`` are the values that the header gives names to.
    """

    header: Expr
    body: Block
    bound: tuple[Value, ...] = ()
    orelse: Block | None = None


@dataclasses.dataclass(eq=False, slots=True)
class Function:
    """A function that the program calls. ``inner``: it stands in the program and sees its variables, otherwise it
    stands before the program and gets what it needs as further parameters.

    ``name`` is a value without a meaning of its own, so that the function is named as variables are.
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
    """Statements that run one after the other, and the values that are there when they have run.

    ``isolated``: what is outside is not to be written to from here.
    """

    parent: Block | None = None
    statements: list[Statement] = dataclasses.field(default_factory=list)
    values: list[Value] = dataclasses.field(default_factory=list)
    isolated: bool = False

    def visible(self) -> Iterator[Value]:
        """The values that may be read here, the latest first."""
        block: Block | None = self
        while block is not None:
            yield from reversed(block.values)
            block = block.parent

    def may_write(self, value: Value) -> bool:
        """Whether statements here may write to its memory."""
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
    """Where values come from: ``kind`` is "input", "parameter" or "buffer"; ``text`` is the code that makes it."""

    kind: str
    value: Value
    text: str


@dataclasses.dataclass(eq=False, slots=True)
class Graph:
    """A whole program: leaves, the submodules by name, the block, what it returns, and how (an expression).

    ``preamble`` are lines that stand before it; ``dims`` the sizes that change, each with its number in every input
    set.
    """

    leaves: list[Leaf]
    layers: dict[str, str]
    block: Block
    result: Expr
    preamble: tuple[str, ...] = ()
    dims: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)

    @property
    def operators(self) -> list[str]:
        """The names of all that it uses, in order; more than once where used so."""
        return [expr.operator for expr in expressions(self.block.statements) if expr.operator]


def expressions(statements: Iterable[Statement]) -> Iterator[Expr]:
    """Every expression of the statements and of all below them, in order."""
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
