"""Preconditions over facts: each gives a reason where it does not hold, and can propose operands that satisfy it."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence

import torch

from eqfuzz.rewrite.facts.fact import Fact

Visit = Mapping[str, Fact]
"""The facts of one evaluation of a site: one per parameter of the rule, and ``result`` for the whole."""

FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
COMPLEXES = (torch.complex64, torch.complex128)


@dataclasses.dataclass
class Operand:
    """The choices left to the sampler for one parameter; preconditions narrow them."""

    sort: str
    """Its sort, see ``sorts``."""
    dtypes: list[torch.dtype] = dataclasses.field(default_factory=lambda: [*FLOATS, *INTEGERS, torch.bool])
    """Those of a tensor, one of which is drawn."""
    shape: tuple[int, ...] = ()
    """That of a tensor."""
    low: float = -4.0
    """Lower bound of the elements, or of the number."""
    high: float = 4.0
    """Upper bound of the elements, or of the number."""
    special: bool = True
    """Whether NaN, infinities and extreme integers are drawn more often."""
    strided: bool = True
    """Whether a tensor may have other strides than a contiguous one."""
    requires_grad: bool = True
    """Whether a floating-point tensor may require gradients."""
    integers_only: bool = False
    """Whether elements are whole numbers, whatever the dtype."""
    value: object = None
    """The value itself where nothing is left to draw; else None."""


Operands = dict[str, Operand]


@dataclasses.dataclass(frozen=True)
class Precondition:
    """A condition on every visit of a site.

    ``check`` returns None or the reason against; ``propose`` narrows operands for the rule's proof. A precondition
    on ``result`` proposes nothing: the sampler draws until it holds. ``allows_copies`` says that whether two
    tensors share memory makes no difference.
    """

    text: str
    check: Callable[[Visit], str | None]
    propose: Callable[[Operands, random.Random], None] = lambda operands, rng: None
    allows_copies: bool = False


def all_of(
    names: Sequence[str], text: str, test: Callable[[Fact], bool], propose: Callable[[Operand], None]
) -> Precondition:
    """The same condition for each named operand."""

    def check(visit: Visit) -> str | None:
        for name in names:
            if not test(visit[name]):
                return f"{name} ({visit[name].describe()}) is not {text}"
        return None

    def narrow(operands: Operands, rng: random.Random) -> None:
        for name in names:
            if name in operands:
                propose(operands[name])

    return Precondition(f"{', '.join(names)}: {text}", check, narrow)


def _dtype_precondition(names: Sequence[str], text: str, allowed: Sequence[torch.dtype]) -> Precondition:
    def propose(operand: Operand) -> None:
        common = [d for d in operand.dtypes if d in allowed]
        operand.dtypes = common or list(allowed)

    return all_of(names, text, lambda f: f.dtype in allowed, propose)


def floating(*names: str) -> Precondition:
    """float32, float64, bfloat16 or float16."""
    return _dtype_precondition(names, "floating", FLOATS)


def full_precision(*names: str) -> Precondition:
    """float32 or float64: half types round between fused operations."""
    return _dtype_precondition(names, "float32 or float64", FLOATS[:2])


def wide(*names: str) -> Precondition:
    """float32, float64 or bfloat16: float16 overflows at 65504, so other orders of evaluation differ."""
    return _dtype_precondition(names, "float32, float64 or bfloat16", FLOATS[:3])


def integral(*names: str) -> Precondition:
    """An integer dtype, not bool."""
    return _dtype_precondition(names, "an integer tensor", INTEGERS)


def boolean(*names: str) -> Precondition:
    return _dtype_precondition(names, "bool", (torch.bool,))


def arithmetic(*names: str) -> Precondition:
    """Integer, floating or complex: anything but bool."""
    return _dtype_precondition(names, "arithmetic (not bool)", (*FLOATS, *INTEGERS, *COMPLEXES))


def real(*names: str) -> Precondition:
    """Integer or floating: ordered numbers, not bool, not complex."""
    return _dtype_precondition(names, "a real number type (not bool)", (*FLOATS, *INTEGERS))


def signed(*names: str) -> Precondition:
    """Floating or a signed integer."""
    return _dtype_precondition(names, "signed", (*FLOATS, *(d for d in INTEGERS if d is not torch.uint8)))


def complex_(*names: str) -> Precondition:
    return _dtype_precondition(names, "complex", COMPLEXES)


def dtype_in(name: str, *allowed: torch.dtype) -> Precondition:
    """The dtype is one of ``allowed``."""
    words = "/".join(str(d).removeprefix("torch.") for d in allowed)
    return _dtype_precondition([name], words, allowed)


def same_dtype(*names: str) -> Precondition:
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

    return Precondition(f"same dtype: {', '.join(names)}", check, propose)


def at_least(name: str, bound: float) -> Precondition:
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

    return Precondition(f"{name} ≥ {bound:g}", check, propose)


def at_most(name: str, bound: float) -> Precondition:
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

    return Precondition(f"{name} ≤ {bound:g}", check, propose)


def away_from_zero(name: str, bound: float = 1e-6) -> Precondition:
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

    return Precondition(f"|{name}| ≥ {bound:g}", check, propose)


def moderate(*names: str, bound: float = 1e3) -> Precondition:
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


def finite(*names: str) -> Precondition:
    """No NaN and no infinity."""

    def propose(operand: Operand) -> None:
        operand.special = False

    return all_of(names, "finite", lambda f: not (f.has_nan or f.has_inf), propose)


def no_nan(*names: str) -> Precondition:
    def propose(operand: Operand) -> None:
        operand.special = False

    return all_of(names, "free of NaN", lambda f: not f.has_nan, propose)


def no_negative_zero(*names: str) -> Precondition:
    def propose(operand: Operand) -> None:
        operand.special = False

    return all_of(names, "free of -0.0", lambda f: not f.has_negative_zero, propose)


def no_grad(*names: str) -> Precondition:
    """No gradient is recorded for it: in-place and ``out=`` forms, rules with other gradients."""

    def propose(operand: Operand) -> None:
        operand.requires_grad = False

    return all_of(names, "free of autograd", lambda f: not f.needs_grad, propose)


def unmutated(*names: str) -> Precondition:
    """Its storage is not written to afterwards, so a copy may stand for a view and a view for a copy."""
    precondition = all_of(names, "left unchanged afterwards", lambda f: not f.mutated, lambda operand: None)
    return dataclasses.replace(precondition, allows_copies=True)


def value_in(name: str, *values: object) -> Precondition:
    """The Python value is one of ``values``."""

    def check(visit: Visit) -> str | None:
        return None if visit[name].value in values else f"{name} = {visit[name].value!r} is not in {values!r}"

    def propose(operands: Operands, rng: random.Random) -> None:
        operands[name].value = rng.choice(values)

    return Precondition(f"{name} in {values!r}", check, propose)


def when(text: str, test: Callable[..., bool], *names: str) -> Precondition:
    """Any other condition, described by ``text``: ``test`` is called with the facts of the named operands.

    It proposes nothing: the sampler draws operands until ``test`` returns true.
    """

    def check(visit: Visit) -> str | None:
        if test(*(visit[n] for n in names)):
            return None
        return f"not {text}: {', '.join(visit[n].describe() for n in names)}"

    return Precondition(text, check)


where = when
"""The former name of ``when``, for rule files written before it was renamed."""
