"""Draw operands that a rule admits, for its proof."""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from eqfuzz.rewrite.facts.fact import Fact, fact_of
from eqfuzz.rewrite.facts.preconditions import COMPLEXES, FLOATS, INTEGERS, Operand, Operands
from eqfuzz.rewrite.proof.example import Example
from eqfuzz.rewrite.site import fits_sort

ALL_DTYPES = (*FLOATS, *INTEGERS, torch.bool, *COMPLEXES)
"""The dtypes that operands are drawn from where no precondition narrows them."""

TRIES = 200

_SPECIALS = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e-40, -1e-40, 1e30, -1e30)
_ZEROS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0)
_REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError, NotImplementedError)
"""Exceptions of eager for operands that a left side does not accept; others are drawn then."""


def draw(example: Example, rng: random.Random, dtypes: Sequence[torch.dtype] | None = None) -> dict[str, Any] | None:
    """Live operands by parameter name that meet the sorts and preconditions and that the program accepts in eager.

    ``dtypes`` restricts tensors where the preconditions leave a choice. The same ``rng`` state gives the same
    operands. None when nothing fits in TRIES tries.
    """
    for _ in range(TRIES):
        operands = _propose(example, rng, dtypes or ALL_DTYPES)
        values = {name: _build(operand, rng) for name, operand in operands.items()}
        if admitted(example, values):
            return values
    return None


def admitted(example: Example, values: dict[str, Any]) -> bool:
    """Whether the example accepts these operands: sorts, preconditions and an eager run."""
    visit: dict[str, Fact] = {name: fact_of(value) for name, value in values.items()}
    if not all(fits_sort(visit[name], sort) for name, sort in example.sorts.items()):
        return False
    try:
        result = example.run(values if example.keeps_operands else copy.deepcopy(values))
    except _REFUSALS:
        return False
    visit["result"] = fact_of(result)
    return all(precondition.check(visit) is None for precondition in example.preconditions)


def _propose(example: Example, rng: random.Random, dtypes: Sequence[torch.dtype]) -> Operands:
    base = _base_shape(rng)
    shared = [rng.choice(dtypes)] if rng.random() < 0.6 else list(dtypes)
    operands: Operands = {}
    for name, sort in example.sorts.items():
        chosen = rng.choice(("Tensor", "Tensor", "Number")) if sort == "Operand" else sort
        shape = _broadcast_partner(base, rng) if operands and rng.random() < 0.2 else base
        operand = Operand(sort=chosen, dtypes=list(shared if rng.random() < 0.8 else dtypes), shape=shape)
        operand.strided = rng.random() < 0.4
        operand.requires_grad = rng.random() < 0.4
        operands[name] = operand
    for precondition in example.preconditions:
        precondition.propose(operands, rng)
    return operands


def _base_shape(rng: random.Random) -> tuple[int, ...]:
    kind = rng.random()
    if kind < 0.07:
        return ()
    if kind < 0.15:
        return rng.choice(((1030,), (37, 41), (11, 5, 23)))
    if kind < 0.21:
        return rng.choice(((0,), (0, 3), (4, 0), (2, 0, 3)))
    return tuple(rng.choice((1, 2, 3, 4, 5, 8)) for _ in range(rng.choice((1, 2, 2, 2, 3, 3, 4))))


def _broadcast_partner(shape: tuple[int, ...], rng: random.Random) -> tuple[int, ...]:
    trailing = shape[rng.randrange(len(shape) + 1) :]
    return tuple(1 if rng.random() < 0.3 else size for size in trailing)


def _build(operand: Operand, rng: random.Random) -> Any:
    if operand.value is not None:
        return operand.value
    match operand.sort:
        case "Tensor":
            return _tensor(operand, rng)
        case "Number":
            return _float(operand, rng) if rng.random() < 0.5 else _int(operand, rng)
        case "Float":
            return _float(operand, rng)
        case "Int":
            return _int(operand, rng)
        case "Bool":
            return rng.random() < 0.5
        case "Ints":
            return tuple(rng.choice((1, 2, 3)) for _ in range(rng.choice((1, 2))))
        case "Dtype":
            return rng.choice(operand.dtypes)
        case _:
            return rng.choice((_tensor(operand, rng), _int(operand, rng)))


def _float(operand: Operand, rng: random.Random) -> float:
    low, high = max(operand.low, -4.0), min(max(operand.high, operand.low), max(operand.low, -4.0) + 8)
    return rng.choice((rng.uniform(low, high), round(rng.uniform(low, high), 1), float(round(rng.uniform(low, high)))))


def _int(operand: Operand, rng: random.Random) -> int:
    low = int(np.ceil(operand.low))
    return rng.randint(low, max(low, int(np.floor(min(operand.high, low + 8)))))


def _tensor(operand: Operand, rng: random.Random) -> torch.Tensor:
    dtype = rng.choice(operand.dtypes)
    generator = np.random.default_rng(rng.getrandbits(64))
    layout = rng.choice(("transposed", "sliced", "stepped", "expanded", "offset")) if operand.strided else "plain"
    tensor = _laid_out(operand.shape, layout, lambda shape: _values(operand, shape, dtype, generator))
    if dtype.is_complex and operand.strided and rng.random() < 0.4:
        tensor = tensor.conj()  # lazily: the conjugate bit is set and memory is as before
    if operand.requires_grad and (dtype.is_floating_point or dtype.is_complex):
        tensor = tensor.detach().requires_grad_()
    return tensor


def _laid_out(shape: tuple[int, ...], layout: str, fill: Any) -> torch.Tensor:
    """A tensor of ``shape`` whose memory is laid out in the way named, from ``fill(shape of the memory)``."""
    if layout == "offset":
        return fill((int(np.prod(shape, dtype=np.int64)) + 3,))[3:].view(shape)
    if not shape or layout == "plain":
        return fill(shape)
    if layout == "transposed":
        return fill((*shape[:-2], shape[-1], shape[-2])).transpose(-1, -2) if len(shape) > 1 else fill(shape)
    if layout == "sliced":
        return fill((*shape[:-1], shape[-1] + 2))[..., 1:-1]
    if layout == "stepped":
        return fill((*shape[:-1], shape[-1] * 2))[..., ::2]
    return fill((1, *shape[1:])).expand(shape)


def _values(
    operand: Operand, shape: tuple[int, ...], dtype: torch.dtype, generator: np.random.Generator
) -> torch.Tensor:
    if dtype is torch.bool:
        return torch.from_numpy(np.asarray(generator.random(shape) < 0.5))
    style = generator.random()
    if not dtype.is_floating_point and not dtype.is_complex:
        return _integers(operand, shape, dtype, generator, extremes=operand.special and style < 0.3)
    if dtype.is_complex:
        parts = dataclasses.replace(operand, dtypes=[torch.float64], special=operand.special and style < 0.5)
        real, imaginary = (_values(parts, shape, torch.float64, generator) for _ in range(2))
        return torch.complex(real, imaginary).to(dtype)
    values = np.asarray(generator.uniform(operand.low, operand.high, shape))
    if operand.integers_only or 0.5 < style < 0.65:
        values = np.clip(np.round(values), np.ceil(operand.low), np.floor(operand.high))
    # Also where specials are not asked for: the preconditions must be able to refuse them.
    pool = _SPECIALS if style < (0.4 if operand.special else 0.1) else _ZEROS if style < 0.5 else ()
    if pool:
        values = np.where(generator.random(shape) < 0.3, generator.choice(np.array(pool), shape), values)
    return torch.from_numpy(np.asarray(values)).to(dtype)


def _integers(
    operand: Operand, shape: tuple[int, ...], dtype: torch.dtype, generator: np.random.Generator, *, extremes: bool
) -> torch.Tensor:
    info = torch.iinfo(dtype)
    low, high = max(int(np.ceil(operand.low)), info.min), min(int(np.floor(operand.high)), info.max)
    values = np.asarray(generator.integers(low, max(low, high) + 1, shape))
    if extremes:
        edges = np.array([info.min, info.max, info.min + 1, 0, -1 if info.min else 1], dtype=np.int64)
        values = np.where(generator.random(shape) < 0.3, generator.choice(edges, shape), values)
    return torch.from_numpy(np.asarray(values)).to(dtype)
