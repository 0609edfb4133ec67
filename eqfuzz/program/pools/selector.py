"""Selectors of seeds: a named pool, or an expression over the structure of a program.

An expression has numbers, ``parameters``, ``layers``, ``count("convolution")`` for how often an ATen operator ran and
``kernels(3)`` for how many convolutions have kernels of that size in each dimension, ``kernels(5, or_larger=True)`` at
least that; compared by ``<``, ``==`` and their like, joined by ``and``, ``or`` and ``not``.
"""

from __future__ import annotations

import ast
import dataclasses
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from eqfuzz.errors import UsageError
from eqfuzz.program.parsing import parse
from eqfuzz.program.pools.structure import ProgramStructure
from eqfuzz.program.suggestions import did_you_mean

_FACTS = ("parameters", "layers")
_FUNCTIONS = ("count", "kernels")
_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


class BadSelector(UsageError):
    """An expression selects nothing sensible. ``str()`` is one line: where, and why."""


@dataclasses.dataclass(frozen=True)
class SeedPool:
    """A pool: the seeds that the ``selector`` takes, and of those the ``share`` with fewest or most weights and layers.

    ``description`` says which in one line. ``share`` is negative for the largest.
    """

    name: str
    description: str
    selector: str = ""
    share: Fraction | None = None


POOLS = {
    pool.name: pool
    for pool in (
        SeedPool("conv1x1", "a convolution with kernels of size 1 in each dimension", "kernels(1)"),
        SeedPool("conv3x3", "a convolution with kernels of size 3 in each dimension", "kernels(3)"),
        SeedPool("conv5x5", "a convolution with kernels of size 5 or larger", "kernels(5, or_larger=True)"),
        SeedPool("small", "the third with fewest weights and layers", share=Fraction(1, 3)),
        SeedPool("big", "the third with most weights and layers", share=Fraction(-1, 3)),
        SeedPool("basic", "all"),
    )
}
"""The pools of Seedzer; its authors sorted models by weights and layers for ``small`` and ``big``."""


class Selector:
    """An expression over a structure. Raises BadSelector."""

    def __init__(self, text: str) -> None:
        try:
            self._expression = _only_expression(parse(text.strip()))
        except (SyntaxError, ValueError) as error:
            raise BadSelector(f"{text!r} is not valid Python: {getattr(error, 'msg', error)}") from None
        # Whatever it cannot compute it cannot compute for an empty program either.
        self(ProgramStructure())

    def __call__(self, structure: ProgramStructure) -> bool:
        return bool(_value(self._expression, structure))


def select(structures: Sequence[ProgramStructure], pool: SeedPool) -> list[int]:
    """Positions of the structures in the pool, in order."""
    takes = Selector(pool.selector) if pool.selector else lambda structure: True
    chosen = [index for index, structure in enumerate(structures) if takes(structure)]
    if pool.share is None:
        return chosen
    by_size = sorted(chosen, key=lambda index: (structures[index].parameters, structures[index].layers, index))
    number = math.ceil(abs(pool.share) * len(chosen))
    return sorted(by_size[:number] if pool.share > 0 else by_size[len(chosen) - number :])


def _only_expression(tree: ast.Module) -> ast.expr:
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        raise SyntaxError("write one expression")
    return tree.body[0].value


def _value(node: ast.expr, structure: ProgramStructure) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id="parameters"):
            return structure.parameters
        case ast.Name(id="layers"):
            return structure.layers
        case ast.Call(func=ast.Name(id="count"), args=[ast.Constant(value=str(name))], keywords=[]):
            return dict(structure.operators).get(name, 0)
        case ast.Call(func=ast.Name(id="kernels"), args=[ast.Constant(value=int(size))], keywords=keywords):
            return _kernels(structure, size, keywords)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, structure)
        case ast.BoolOp(op=joint, values=values):
            results = [bool(_value(value, structure)) for value in values]
            return all(results) if isinstance(joint, ast.And) else any(results)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return _ARITHMETIC[type(op)](_value(left, structure), _value(right, structure))
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
            values = [_value(value, structure) for value in (left, *others)]
            pairs = zip(ops, values[:-1], values[1:], strict=True)
            return all(_COMPARISONS[type(op)](first, second) for op, first, second in pairs)
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)) if name not in (*_FACTS, *_FUNCTIONS):
            raise BadSelector(f"no {name!r} in a structure{did_you_mean(name, (*_FACTS, *_FUNCTIONS))}")
        case _:
            raise BadSelector(
                f"{ast.unparse(node)!r} cannot be computed: use {', '.join(_FACTS)}, count('NAME'), kernels(N)"
            )


def _kernels(structure: ProgramStructure, size: int, keywords: Sequence[ast.keyword]) -> int:
    match keywords:
        case []:
            return sum(set(kernel) == {size} for kernel in structure.kernels)
        case [ast.keyword(arg="or_larger", value=ast.Constant(value=True))]:
            return sum(bool(kernel) and min(kernel) >= size for kernel in structure.kernels)
        case _:
            raise BadSelector("kernels takes a size and or_larger=True")
