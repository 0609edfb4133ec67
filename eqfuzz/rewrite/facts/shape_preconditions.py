"""Preconditions on shapes, dimensions and strides."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import torch

from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.preconditions import Operand, Operands, Precondition, Visit, all_of

_LARGE = ((), (1030,), (37, 41), (29, 37, 31), (3, 5, 11, 13), (2, 3, 5, 7, 11))
"""Extents by rank with a thousand elements and more: both the vector loops and their tails run."""


def extents(count: int, rng: random.Random, small: Sequence[int]) -> tuple[int, ...]:
    """``count`` extents, mostly from ``small``, now and then large together."""
    if count < len(_LARGE) and rng.random() < 0.1:
        return _LARGE[count]
    return tuple(rng.choice(small) for _ in range(count))


def sizes(**patterns: str) -> Precondition:
    """Shapes by letters: ``sizes(x="n k", y="k m")``; equal letters are equal sizes, digits stand for themselves.

    A leading ``*`` takes any further dimensions in front.
    """
    text = ", ".join(f"{name}: [{pattern}]" for name, pattern in patterns.items())

    def check(visit: Visit) -> str | None:
        sizes_by_letter: dict[str, int] = {}
        for name, pattern in patterns.items():
            letters, shape = pattern.split(), visit[name].shape
            tail = letters[1:] if letters[:1] == ["*"] else letters
            fits = len(shape) >= len(tail) if tail is not letters else len(shape) == len(tail)
            sizes_of = shape[len(shape) - len(tail) :]
            if not visit[name].is_tensor or not fits:
                return f"{name} ({visit[name].describe()}) has not the shape [{pattern}]"
            for letter, size in zip(tail, sizes_of, strict=True):
                wanted = int(letter) if letter.isdigit() else sizes_by_letter.setdefault(letter, size)
                if wanted != size:
                    return f"{name} ({visit[name].describe()}) has not the shape [{pattern}] in {text}"
        return None

    def propose(operands: Operands, rng: random.Random) -> None:
        chosen: dict[str, int] = {}
        lead = tuple(rng.choice((1, 2, 3)) for _ in range(rng.choice((0, 1, 1, 2))))
        most = max(len(_letters(pattern)) for pattern in patterns.values())
        large = itertools.cycle(_LARGE[min(most, len(_LARGE) - 1)]) if rng.random() < 0.1 else None
        for name, pattern in patterns.items():
            shape: list[int] = []
            for letter in pattern.split():
                if letter == "*":
                    shape += lead
                elif letter.isdigit():
                    shape.append(int(letter))
                else:
                    if letter not in chosen:
                        chosen[letter] = next(large) if large else rng.choice((1, 2, 3, 4, 5, 8, 17))
                    shape.append(chosen[letter])
            if name in operands:
                operands[name].shape = tuple(shape)

    return Precondition(text, check, propose)


def _letters(pattern: str) -> list[str]:
    return [part for part in pattern.split() if part != "*" and not part.isdigit()]


def same_shape(*names: str) -> Precondition:
    """All named operands (``result`` allowed) have one shape: no broadcasting."""

    def check(visit: Visit) -> str | None:
        shapes = {visit[n].shape for n in names}
        return None if len(shapes) == 1 else f"shapes differ: {', '.join(visit[n].describe() for n in names)}"

    def propose(operands: Operands, rng: random.Random) -> None:
        present = [operands[n] for n in names if n in operands]
        for operand in present[1:]:
            operand.shape = present[0].shape

    return Precondition(f"same shape: {', '.join(names)}", check, propose)


def rank(name: str, *ranks: int) -> Precondition:
    """The number of dimensions is one of ``ranks``."""

    def check(visit: Visit) -> str | None:
        ndim = visit[name].ndim
        return None if ndim in ranks else f"{name} has {ndim} dimensions, not {' or '.join(map(str, ranks))}"

    def propose(operands: Operands, rng: random.Random) -> None:
        operands[name].shape = extents(rng.choice(ranks), rng, (1, 2, 3, 5, 8))

    return Precondition(f"{name}: rank {'/'.join(map(str, ranks))}", check, propose)


def at_least_rank(name: str, least: int) -> Precondition:
    """At least ``least`` dimensions."""

    def check(visit: Visit) -> str | None:
        ndim = visit[name].ndim
        return None if ndim >= least else f"{name} has {ndim} dimensions, fewer than {least}"

    def propose(operands: Operands, rng: random.Random) -> None:
        shape = operands[name].shape
        while len(shape) < least:
            shape = (*shape, rng.choice((1, 2, 3, 5)))
        operands[name].shape = shape

    return Precondition(f"{name}: rank ≥ {least}", check, propose)


def non_empty(*names: str) -> Precondition:
    """At least one element."""

    def propose(operand: Operand) -> None:
        operand.shape = tuple(max(1, s) for s in operand.shape)

    return all_of(names, "non-empty", lambda f: f.numel > 0, propose)


def matmul_shapes(x: str, y: str, *, batch: bool = False) -> Precondition:
    """2-D times 2-D (with ``batch``: 3-D times 3-D with equal batch sizes)."""
    ranks = 3 if batch else 2

    def check(visit: Visit) -> str | None:
        a, b = visit[x].shape, visit[y].shape
        fits = len(a) == len(b) == ranks and a[-1] == b[-2] and a[:-2] == b[:-2]
        return None if fits else f"{list(a)} @ {list(b)} is not a plain {ranks}-D product"

    def propose(operands: Operands, rng: random.Random) -> None:
        n, k, m = extents(3, rng, (1, 2, 3, 5, 8, 17))
        lead = (rng.choice((1, 2, 3)),) if batch else ()
        operands[x].shape, operands[y].shape = (*lead, n, k), (*lead, k, m)

    return Precondition(f"{x} @ {y}: {ranks}-D", check, propose)


def index_into(index: str, name: str, dim: int) -> Precondition:
    """``index`` is an int64 tensor of valid non-negative indices into dimension ``dim`` of ``name``."""

    def check(visit: Visit) -> str | None:
        fact, shape = visit[index], visit[name].shape
        if fact.dtype is not torch.int64:
            return f"{index} ({fact.describe()}) is not int64"
        if not -len(shape) <= dim < len(shape):
            return f"{name} ({visit[name].describe()}) has no dimension {dim}"
        inside = fact.low is None or fact.high is None or (fact.low >= 0 and fact.high < shape[dim])
        return None if inside else f"{index} leaves 0 … {shape[dim] - 1}"

    def propose(operands: Operands, rng: random.Random) -> None:
        shape = operands[name].shape
        operands[index].dtypes = [torch.int64]
        operands[index].special = False
        if -len(shape) <= dim < len(shape):
            operands[index].low, operands[index].high = 0, max(0, shape[dim] - 1)

    return Precondition(f"{index} indexes dimension {dim} of {name}", check, propose)


def contiguous(*names: str) -> Precondition:
    def propose(operand: Operand) -> None:
        operand.strided = False

    return all_of(names, "contiguous", lambda f: f.contiguous, propose)


def dense(*names: str) -> Precondition:
    """No gaps and no overlap between elements, in any order of dimensions: a pointwise copy has the same strides."""

    def test(fact: Fact) -> bool:
        expected = 1
        for stride, size in sorted((st, si) for st, si in zip(fact.stride, fact.shape, strict=True) if si != 1):
            if stride != expected:
                return fact.numel == 0
            expected *= size
        return True

    return all_of(names, "dense", test, lambda operand: None)


def dim_of(dim: str, name: str) -> Precondition:
    """``dim`` is a valid dimension of ``name``."""

    def check(visit: Visit) -> str | None:
        value, ndim = visit[dim].value, visit[name].ndim
        fits = type(value) is int and -ndim <= value < ndim
        return None if fits else f"{dim} = {value!r} is no dimension of {name} ({visit[name].describe()})"

    def propose(operands: Operands, rng: random.Random) -> None:
        ndim = len(operands[name].shape) if name in operands else 2
        operands[dim].value = rng.randrange(-ndim, ndim) if ndim else 0

    return Precondition(f"{dim} is a dimension of {name}", check, propose)
