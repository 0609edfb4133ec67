"""The inputs of an exported program: names, dtypes and sizes, and values to run it on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, TensorArgument
from torch.fx import Node

from eqfuzz.imports.exported.values import torch_dtype
from eqfuzz.imports.text.literals import Unsupported
from eqfuzz.imports.text.seed_text import Input
from eqfuzz.program.inputs import Rng

_USUAL = (2, 6, 5, 7, 3, 4)
"""Sizes of symbols without a hint, in the order of their appearance."""

_LARGEST = 64
_PASSES_ON = frozenset("to _to_copy view reshape unsqueeze squeeze contiguous clone long expand slice select".split())
"""Operators whose result has the elements of their first argument."""


@dataclasses.dataclass(frozen=True)
class ExportedInputs:
    """The arguments of a program, flat. None stands for a constant, whose value is in ``constants``.

    ``size_sets``: for each set of inputs, the sizes by their text.
    """

    inputs: tuple[Input | None, ...]
    constants: tuple[Any, ...]
    size_sets: tuple[Mapping[str, int], ...]

    def values(self, number: int) -> tuple[Any, ...]:
        """Values of one set."""
        rng = Rng(number)
        sizes = self.size_sets[number]
        pairs = zip(self.inputs, self.constants, strict=True)
        return tuple(constant if one is None else _drawn(one, sizes, rng) for one, constant in pairs)


def inputs_of(program: ExportedProgram, chosen: Sequence[tuple[str, int]]) -> ExportedInputs:
    """The inputs of a program; ``chosen`` are sizes by the name of their symbol. Raises Unsupported."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    inputs: list[Input | None] = []
    constants: list[Any] = []
    expressions: dict[str, sympy.Expr] = {}
    hints: dict[sympy.Symbol, int] = {}
    for spec in program.graph_signature.input_specs:
        if spec.kind is not InputKind.USER_INPUT:
            continue
        if isinstance(spec.arg, ConstantArgument):
            inputs.append(None)
            constants.append(spec.arg.value)
            continue
        if not isinstance(spec.arg, TensorArgument):
            raise Unsupported(f"the input {spec.arg.name!r}, which is no tensor")
        node = nodes[spec.arg.name]
        inputs.append(_input(node, expressions, hints))
        constants.append(None)
    return ExportedInputs(tuple(inputs), tuple(constants), _size_sets(program, expressions, hints, dict(chosen)))


def _input(node: Node, expressions: dict[str, sympy.Expr], hints: dict[sympy.Symbol, int]) -> Input:
    value: Tensor = node.meta["val"]
    if value.layout is not torch.strided:
        raise Unsupported(f"the input {node.name!r} of layout {value.layout}")
    sizes: list[int | str] = []
    for size in value.shape:
        if isinstance(size, int):
            sizes.append(size)
            continue
        expression = size.node.expr
        if not expression.free_symbols:
            sizes.append(int(expression))
            continue
        expressions[str(expression)] = expression
        if isinstance(expression, sympy.Symbol) and size.node.has_hint():
            hints[expression] = int(size.node.hint)
        sizes.append(str(expression))
    return Input(node.name, torch_dtype(value), tuple(sizes), _classes(node))


def _classes(node: Node) -> int | None:
    """Rows of the smallest table that an input of integers chooses from."""
    rows, waiting, seen = [], [node], set()
    while waiting:
        one = waiting.pop()
        seen.add(one)
        for user in one.users:
            name = str(user.target).split(".")[1] if str(user.target).startswith("aten.") else ""
            if name == "embedding" and user.args[1] is one:
                table = user.args[0]
                rows += [int(table.meta["val"].shape[0])] if isinstance(table, Node) else []
            elif name in _PASSES_ON and user.args[0] is one and user not in seen:
                waiting.append(user)
    return min(rows) if rows else None


def _size_sets(
    program: ExportedProgram,
    expressions: Mapping[str, sympy.Expr],
    hints: Mapping[sympy.Symbol, int],
    chosen: Mapping[str, int],
) -> tuple[dict[str, int], ...]:
    every = [s for e in expressions.values() for s in sorted(e.free_symbols, key=str) if isinstance(s, sympy.Symbol)]
    symbols = list(dict.fromkeys(every))
    if not symbols:
        return ({},)
    first: dict[sympy.Symbol, int] = {}
    second: dict[sympy.Symbol, int] = {}
    for number, symbol in enumerate(symbols):
        low, high = _range(program, symbol)
        size = chosen.get(str(symbol), hints.get(symbol, _USUAL[number % len(_USUAL)]))
        first[symbol] = min(max(size, low), high) if str(symbol) not in chosen else size
        second[symbol] = first[symbol] if str(symbol) in chosen else _next(first[symbol], low, high)
    sets = [{text: int(e.subs([*one.items()])) for text, e in expressions.items()} for one in (first, second)]
    return tuple(one for number, one in enumerate(sets) if one not in sets[:number])


def _range(program: ExportedProgram, symbol: sympy.Symbol) -> tuple[int, int]:
    ranges = program.range_constraints.get(symbol)
    if ranges is None:
        return 2, _LARGEST
    low = int(ranges.lower) if ranges.lower.is_finite else 2
    high = int(ranges.upper) if ranges.upper.is_finite and ranges.upper < 10**9 else max(low, _LARGEST)
    return max(low, 1), high


def _next(size: int, low: int, high: int) -> int:
    return size + 1 if size < high else max(low, size - 1)


def _drawn(one: Input, sizes: Mapping[str, int], rng: Rng) -> Tensor:
    shape = [sizes[size] if isinstance(size, str) else size for size in one.sizes]
    dtype: torch.dtype = getattr(torch, one.dtype)
    if dtype is torch.bool:
        return rng.booleans(*shape)
    if dtype.is_floating_point or dtype.is_complex:
        return rng.normal(*shape, dtype=dtype)
    return rng.integers(0, one.classes or 2, *shape, dtype=dtype)
