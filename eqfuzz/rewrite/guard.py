"""Guards: conditions over facts that say *why not*, and how to draw operands that satisfy them."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence

import torch

from eqfuzz.rewrite.fact import Fact

Visit = Mapping[str, Fact]
"""The facts of one evaluation of a site: one per parameter of the rule, and ``result`` for the whole."""

FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
COMPLEXES = (torch.complex64, torch.complex128)


@dataclasses.dataclass
class Operand:
    """What the sampler may still choose for one parameter; guards narrow it."""

    sort: str
    dtypes: list[torch.dtype] = dataclasses.field(default_factory=lambda: [*FLOATS, *INTEGERS, torch.bool])
    shape: tuple[int, ...] = ()
    low: float = -4.0
    high: float = 4.0
    special: bool = True
    strided: bool = True
    requires_grad: bool = True
    integers_only: bool = False
    value: object = None


Operands = dict[str, Operand]


@dataclasses.dataclass(frozen=True)
class Guard:
    """A condition on every visit of a site.

    ``check`` returns None or the reason against; ``propose`` narrows operands for the rule's own test. A guard on
    ``result`` has nothing to propose: the sampler tries until it holds.
    """

    text: str
    check: Callable[[Visit], str | None]
    propose: Callable[[Operands, random.Random], None] = lambda operands, rng: None


def all_of(names: Sequence[str], text: str, test: Callable[[Fact], bool], propose: Callable[[Operand], None]) -> Guard:
    """A guard that asks the same of each named operand."""

    def check(visit: Visit) -> str | None:
        for name in names:
            if not test(visit[name]):
                return f"{name} ({visit[name].describe()}) is not {text}"
        return None

    def narrow(operands: Operands, rng: random.Random) -> None:
        for name in names:
            if name in operands:
                propose(operands[name])

    return Guard(f"{', '.join(names)}: {text}", check, narrow)


def _dtype_guard(names: Sequence[str], text: str, allowed: Sequence[torch.dtype]) -> Guard:
    def propose(operand: Operand) -> None:
        kept = [d for d in operand.dtypes if d in allowed]
        operand.dtypes = kept or list(allowed)

    return all_of(names, text, lambda f: f.dtype in allowed, propose)


def floating(*names: str) -> Guard:
    """float32, float64, bfloat16 or float16."""
    return _dtype_guard(names, "floating", FLOATS)


def full_precision(*names: str) -> Guard:
    """float32 or float64: half types round between fused operations."""
    return _dtype_guard(names, "float32 or float64", FLOATS[:2])


def wide(*names: str) -> Guard:
    """float32, float64 or bfloat16: float16 overflows at 65504, so other orders of evaluation differ."""
    return _dtype_guard(names, "float32, float64 or bfloat16", FLOATS[:3])


def integral(*names: str) -> Guard:
    """An integer dtype, not bool."""
    return _dtype_guard(names, "an integer tensor", INTEGERS)


def boolean(*names: str) -> Guard:
    return _dtype_guard(names, "bool", (torch.bool,))


def arithmetic(*names: str) -> Guard:
    """Integer, floating or complex: anything but bool."""
    return _dtype_guard(names, "arithmetic (not bool)", (*FLOATS, *INTEGERS, *COMPLEXES))


def real(*names: str) -> Guard:
    """Integer or floating: ordered numbers, not bool, not complex."""
    return _dtype_guard(names, "a real number type (not bool)", (*FLOATS, *INTEGERS))


def signed(*names: str) -> Guard:
    """Floating or a signed integer."""
    return _dtype_guard(names, "signed", (*FLOATS, *(d for d in INTEGERS if d is not torch.uint8)))


def complex_(*names: str) -> Guard:
    return _dtype_guard(names, "complex", COMPLEXES)


def dtype_in(name: str, *allowed: torch.dtype) -> Guard:
    """The dtype is one of ``allowed``."""
    words = "/".join(str(d).removeprefix("torch.") for d in allowed)
    return _dtype_guard([name], words, allowed)


def same_dtype(*names: str) -> Guard:
    """All named operands (``result`` allowed) have one dtype."""

    def check(visit: Visit) -> str | None:
        dtypes = {visit[n].dtype for n in names}
        return None if len(dtypes) == 1 else f"dtypes differ: {', '.join(visit[n].describe() for n in names)}"

    def propose(operands: Operands, rng: random.Random) -> None:
        present = [operands[n] for n in names if n in operands]
        common = [d for d in present[0].dtypes if all(d in o.dtypes for o in present)]
        if common:
            chosen = rng.choice(common)
            for operand in present:
                operand.dtypes = [chosen]

    return Guard(f"same dtype: {', '.join(names)}", check, propose)


def sizes(**patterns: str) -> Guard:
    """Shapes by letters: ``sizes(x="n k", y="k m")``; equal letters are equal sizes, digits stand for themselves.

    A leading ``*`` takes any further dimensions in front.
    """
    text = ", ".join(f"{name}: [{pattern}]" for name, pattern in patterns.items())

    def check(visit: Visit) -> str | None:
        known: dict[str, int] = {}
        for name, pattern in patterns.items():
            letters, shape = pattern.split(), visit[name].shape
            tail = letters[1:] if letters[:1] == ["*"] else letters
            fits = len(shape) >= len(tail) if tail is not letters else len(shape) == len(tail)
            sizes_of = shape[len(shape) - len(tail) :]
            if not visit[name].is_tensor or not fits:
                return f"{name} ({visit[name].describe()}) has not the shape [{pattern}]"
            for letter, size in zip(tail, sizes_of, strict=True):
                wanted = int(letter) if letter.isdigit() else known.setdefault(letter, size)
                if wanted != size:
                    return f"{name} ({visit[name].describe()}) has not the shape [{pattern}] in {text}"
        return None

    def propose(operands: Operands, rng: random.Random) -> None:
        chosen: dict[str, int] = {}
        lead = tuple(rng.choice((1, 2, 3)) for _ in range(rng.choice((0, 1, 1, 2))))
        for name, pattern in patterns.items():
            shape: list[int] = []
            for letter in pattern.split():
                if letter == "*":
                    shape += lead
                elif letter.isdigit():
                    shape.append(int(letter))
                else:
                    shape.append(chosen.setdefault(letter, rng.choice((1, 2, 3, 4, 5, 8, 17))))
            if name in operands:
                operands[name].shape = tuple(shape)

    return Guard(text, check, propose)


def same_shape(*names: str) -> Guard:
    """All named operands (``result`` allowed) have one shape: no broadcasting."""

    def check(visit: Visit) -> str | None:
        shapes = {visit[n].shape for n in names}
        return None if len(shapes) == 1 else f"shapes differ: {', '.join(visit[n].describe() for n in names)}"

    def propose(operands: Operands, rng: random.Random) -> None:
        present = [operands[n] for n in names if n in operands]
        for operand in present[1:]:
            operand.shape = present[0].shape

    return Guard(f"same shape: {', '.join(names)}", check, propose)


def rank(name: str, *ranks: int) -> Guard:
    """The number of dimensions is one of ``ranks``."""

    def check(visit: Visit) -> str | None:
        ndim = visit[name].ndim
        return None if ndim in ranks else f"{name} has {ndim} dimensions, not {' or '.join(map(str, ranks))}"

    def propose(operands: Operands, rng: random.Random) -> None:
        operands[name].shape = tuple(rng.choice((1, 2, 3, 5, 8)) for _ in range(rng.choice(ranks)))

    return Guard(f"{name}: rank {'/'.join(map(str, ranks))}", check, propose)


def at_least_rank(name: str, least: int) -> Guard:
    """At least ``least`` dimensions."""

    def check(visit: Visit) -> str | None:
        ndim = visit[name].ndim
        return None if ndim >= least else f"{name} has {ndim} dimensions, fewer than {least}"

    def propose(operands: Operands, rng: random.Random) -> None:
        shape = operands[name].shape
        while len(shape) < least:
            shape = (*shape, rng.choice((1, 2, 3, 5)))
        operands[name].shape = shape

    return Guard(f"{name}: rank ≥ {least}", check, propose)


def non_empty(*names: str) -> Guard:
    """At least one element."""

    def propose(operand: Operand) -> None:
        operand.shape = tuple(max(1, s) for s in operand.shape)

    return all_of(names, "non-empty", lambda f: f.numel > 0, propose)


def matmul_shapes(x: str, y: str, *, batch: bool = False) -> Guard:
    """2-D times 2-D (with ``batch``: 3-D times 3-D with equal batch sizes)."""
    ranks = 3 if batch else 2

    def check(visit: Visit) -> str | None:
        a, b = visit[x].shape, visit[y].shape
        fits = len(a) == len(b) == ranks and a[-1] == b[-2] and a[:-2] == b[:-2]
        return None if fits else f"{list(a)} @ {list(b)} is not a plain {ranks}-D product"

    def propose(operands: Operands, rng: random.Random) -> None:
        n, k, m = (rng.choice((1, 2, 3, 5, 8, 17)) for _ in range(3))
        lead = (rng.choice((1, 2, 3)),) if batch else ()
        operands[x].shape, operands[y].shape = (*lead, n, k), (*lead, k, m)

    return Guard(f"{x} @ {y}: {ranks}-D", check, propose)


def index_into(index: str, name: str, dim: int) -> Guard:
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

    return Guard(f"{index} indexes dimension {dim} of {name}", check, propose)


def at_least(name: str, bound: float) -> Guard:
    """No element below ``bound`` and no infinity; NaN passes."""

    def check(visit: Visit) -> str | None:
        fact = visit[name]
        if fact.has_inf:
            return f"{name} has an infinity"
        low = fact.value if fact.is_number else fact.low
        return None if low is None or low >= bound else f"{name} has an element {low:g} below {bound:g}"

    def propose(operands: Operands, rng: random.Random) -> None:
        if name not in operands:
            return
        operands[name].low = max(operands[name].low, bound)
        operands[name].high = max(operands[name].high, bound + 4)
        operands[name].special = False

    return Guard(f"{name} ≥ {bound:g}", check, propose)


def at_most(name: str, bound: float) -> Guard:
    """No element above ``bound`` and no infinity; NaN passes."""

    def check(visit: Visit) -> str | None:
        fact = visit[name]
        if fact.has_inf:
            return f"{name} has an infinity"
        high = fact.value if fact.is_number else fact.high
        return None if high is None or high <= bound else f"{name} has an element {high:g} above {bound:g}"

    def propose(operands: Operands, rng: random.Random) -> None:
        if name not in operands:
            return
        operands[name].high = min(operands[name].high, bound)
        operands[name].low = min(operands[name].low, bound - 4)
        operands[name].special = False

    return Guard(f"{name} ≤ {bound:g}", check, propose)


def away_from_zero(name: str, bound: float = 1e-6) -> Guard:
    """No finite element with |element| < ``bound``."""

    def check(visit: Visit) -> str | None:
        fact = visit[name]
        smallest = abs(fact.value) if fact.is_number else fact.smallest
        if smallest is not None and smallest < bound:
            return f"{name} has an element {smallest:g} closer to zero than {bound:g}"
        return None

    def propose(operands: Operands, rng: random.Random) -> None:
        if name not in operands:
            return
        operands[name].low, operands[name].special = max(bound * 2, 0.5), False
        if not any(d.is_floating_point for d in operands[name].dtypes):
            operands[name].low = 1

    return Guard(f"|{name}| ≥ {bound:g}", check, propose)


def moderate(*names: str, bound: float = 1e3) -> Guard:
    """Finite, and no element larger than ``bound``: nothing overflows on the way."""

    def test(fact: Fact) -> bool:
        if fact.is_number:
            return abs(fact.value) <= bound
        extremes = [abs(v) for v in (fact.low, fact.high) if v is not None]
        return not (fact.has_nan or fact.has_inf) and all(e <= bound for e in extremes)

    def propose(operand: Operand) -> None:
        operand.special = False
        operand.low, operand.high = max(operand.low, -bound), min(operand.high, bound)

    return all_of(names, f"at most {bound:g} in size", test, propose)


def finite(*names: str) -> Guard:
    """No NaN and no infinity."""

    def propose(operand: Operand) -> None:
        operand.special = False

    return all_of(names, "finite", lambda f: not (f.has_nan or f.has_inf), propose)


def no_nan(*names: str) -> Guard:
    def propose(operand: Operand) -> None:
        operand.special = False

    return all_of(names, "free of NaN", lambda f: not f.has_nan, propose)


def no_negative_zero(*names: str) -> Guard:
    def propose(operand: Operand) -> None:
        operand.special = False

    return all_of(names, "free of -0.0", lambda f: not f.has_negative_zero, propose)


def contiguous(*names: str) -> Guard:
    def propose(operand: Operand) -> None:
        operand.strided = False

    return all_of(names, "contiguous", lambda f: f.contiguous, propose)


def dense(*names: str) -> Guard:
    """No gaps and no overlap between elements, in any order of dimensions: a pointwise copy has the same strides."""

    def test(fact: Fact) -> bool:
        expected = 1
        for stride, size in sorted((st, si) for st, si in zip(fact.stride, fact.shape, strict=True) if si != 1):
            if stride != expected:
                return fact.numel == 0
            expected *= size
        return True

    return all_of(names, "dense", test, lambda operand: None)


def no_grad(*names: str) -> Guard:
    """No gradient is recorded for it: in-place and ``out=`` forms, rules with other gradients."""

    def propose(operand: Operand) -> None:
        operand.requires_grad = False

    return all_of(names, "free of autograd", lambda f: not f.needs_grad, propose)


def unmutated(*names: str) -> Guard:
    """Its storage is not written to afterwards, so a copy may stand for a view and a view for a copy."""
    return all_of(names, "left unchanged afterwards", lambda f: not f.mutated, lambda operand: None)


def dim_of(dim: str, name: str) -> Guard:
    """``dim`` is a valid dimension of ``name``."""

    def check(visit: Visit) -> str | None:
        value, ndim = visit[dim].value, visit[name].ndim
        fits = type(value) is int and -ndim <= value < ndim
        return None if fits else f"{dim} = {value!r} is no dimension of {name} ({visit[name].describe()})"

    def propose(operands: Operands, rng: random.Random) -> None:
        ndim = len(operands[name].shape) if name in operands else 2
        operands[dim].value = rng.randrange(-ndim, ndim) if ndim else 0

    return Guard(f"{dim} is a dimension of {name}", check, propose)


def value_in(name: str, *values: object) -> Guard:
    """The Python value is one of ``values``."""

    def check(visit: Visit) -> str | None:
        return None if visit[name].value in values else f"{name} = {visit[name].value!r} is not in {values!r}"

    def propose(operands: Operands, rng: random.Random) -> None:
        operands[name].value = rng.choice(values)

    return Guard(f"{name} in {values!r}", check, propose)


def where(text: str, test: Callable[..., bool], *names: str) -> Guard:
    """Any other condition, told as ``text``: ``test(*facts)`` over the named facts; the sampler tries till it holds."""

    def check(visit: Visit) -> str | None:
        if test(*(visit[n] for n in names)):
            return None
        return f"not {text}: {', '.join(visit[n].describe() for n in names)}"

    return Guard(text, check)
