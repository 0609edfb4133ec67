"""Faults to plant in observations: an error in one element or one property, such as a wrong compiler could cause."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch

from eqfuzz.oracle.observe.observation import CallObservation, Leaves, Observation, Raised
from eqfuzz.oracle.observe.observer import snapshot
from eqfuzz.oracle.reference.reference import LeafReference, Reference

LEAST_ULPS = 2
"""Smaller errors are no faults: two legal kernels may differ by as much."""

_BITS = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
}

_MOST_EXACT = {torch.float64: 2.0**52, torch.float32: 2.0**23, torch.float16: 2.0**10, torch.bfloat16: 2.0**7}
"""Below this limit a float dtype represents all whole numbers."""

_OTHER_DTYPE = {
    torch.float64: torch.float32,
    torch.float32: torch.float64,
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
}


@dataclasses.dataclass(frozen=True)
class PlantedFault:
    """An observation with one fault. ``leaf`` is the group and position of the faulty leaf, if there is one."""

    observation: Observation
    leaf: tuple[str, int] | None = None


@dataclasses.dataclass(frozen=True)
class ElementFault:
    """A wrong number in one element.

    Attributes:
        name: The fault's name in tables.
        where: A mask of the elements that can have it.
        number: The wrong number, from the values as float64, the element's flat position and a random generator.
        eager_pair: The fault is compared between two eager runs only.
        whole: It is planted in leaves of whole numbers, integers included.
    """

    name: str
    where: Callable[[torch.Tensor], torch.Tensor]
    number: Callable[[torch.Tensor, int, random.Random], float]
    eager_pair: bool = False
    whole: bool = False

    def plant(
        self,
        run: Observation,
        group: str,
        dtype: torch.dtype,
        rng: random.Random,
        eager: Observation | None = None,
        reference: Reference | None = None,
    ) -> PlantedFault | None:
        """Plant the fault in a random element of a random leaf of ``group``; None if no element can have it.

        A number closer than ``LEAST_ULPS`` to the run's own or to ``eager``'s is no fault, nor is an error
        no larger than the rounding error that ``eager``'s number has according to ``reference``.
        """
        leaves = getattr(run.calls[0], group)
        numbers = {} if eager is None else dict(getattr(eager.calls[0], group))
        references = {} if reference is None else dict(getattr(reference.calls[0], group))
        fits = _is_whole if self.whole else _plantable
        places = [place for place, (_, value) in enumerate(leaves) if fits(value, dtype)]
        rng.shuffle(places)
        for place in places:
            path, old = leaves[place]
            flat = old.detach().double().reshape(-1)
            candidates = self.where(flat).nonzero().reshape(-1).tolist()
            for element in rng.sample(candidates, min(len(candidates), 4)):
                new = _with_number(old, element, self.number(flat, element, rng))
                number = numbers.get(path, old)
                if self.eager_pair or not (
                    any(_close(value, new, element) for value in (old, number))
                    or _is_rounding(new, number, references.get(path), element)
                ):
                    return PlantedFault(_with_leaf(run, group, place, new), (group, place))
        return None


@dataclasses.dataclass(frozen=True)
class PropertyFault:
    """A wrong property: ``change`` returns the call with it and the position of the faulty leaf; None if impossible."""

    eager_pair: ClassVar[bool] = False

    name: str
    change: Callable[[CallObservation, torch.dtype, random.Random], tuple[CallObservation, int | None] | None]

    def plant(
        self,
        run: Observation,
        group: str,
        dtype: torch.dtype,
        rng: random.Random,
        eager: Observation | None = None,
        reference: Reference | None = None,
    ) -> PlantedFault | None:
        """Plant the fault in the first call; ``group`` is "outputs"."""
        changed = self.change(run.calls[0], dtype, rng)
        if changed is None:
            return None
        call, place = changed
        return PlantedFault(Observation([call]), None if place is None else (group, place))


Fault = ElementFault | PropertyFault


def ulps_apart(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """The distance in ulps of the elements of two finite tensors of one float dtype."""
    return (_ordered(first) - _ordered(second)).abs()


def relative(error: float) -> ElementFault:
    """One element differs by ``error`` times its value, up or down."""

    def number(values: torch.Tensor, element: int, rng: random.Random) -> float:
        return float(values[element]) * (1.0 + rng.choice((-1.0, 1.0)) * error)

    return ElementFault(f"relative error {error:.0e}".replace("e-0", "e-"), _nonzero, number)


def _nonzero(values: torch.Tensor) -> torch.Tensor:
    return values.isfinite() & (values != 0)


def off_by(least: int, most: int) -> ElementFault:
    """A whole number is too large or too small by ``least`` to ``most``."""

    def number(values: torch.Tensor, element: int, rng: random.Random) -> float:
        return float(values[element]) + rng.choice((-1, 1)) * rng.randint(least, most)

    name = f"whole number off by {least}" + (f" to {most}" if most > least else "")
    return ElementFault(name, torch.isfinite, number, whole=True)


def _has_neighbour(values: torch.Tensor) -> torch.Tensor:
    return values.isfinite() & values.roll(-1).isfinite() & (values != values.roll(-1))


def _neighbour(values: torch.Tensor, element: int, rng: random.Random) -> float:
    return float(values[(element + 1) % len(values)])


def _other_zero(values: torch.Tensor, element: int, rng: random.Random) -> float:
    return 0.0 if bool(values[element].signbit()) else -0.0


def _wrong_dtype(
    call: CallObservation, dtype: torch.dtype, rng: random.Random
) -> tuple[CallObservation, int | None] | None:
    return _in_one_output(call, dtype, rng, lambda value: value.to(_OTHER_DTYPE[dtype]))


def _wrong_stride(
    call: CallObservation, dtype: torch.dtype, rng: random.Random
) -> tuple[CallObservation, int | None] | None:
    def relaid(value: torch.Tensor) -> torch.Tensor | None:
        wide = [dim for dim, size in enumerate(value.shape) if size > 1]
        if len(wide) < 2:
            return None
        first, last = wide[0], wide[-1]
        new = value.transpose(first, last).contiguous().transpose(first, last)
        return new if new.stride() != value.stride() else value.contiguous()

    return _in_one_output(call, dtype, rng, relaid)


def _wrong_aliasing(
    call: CallObservation, dtype: torch.dtype, rng: random.Random
) -> tuple[CallObservation, int | None] | None:
    if not call.outputs:
        return None
    shared: Leaves = call.shared[:-1] if call.shared else [(f"{call.outputs[0][0]} and args[0]", "at 0")]
    return dataclasses.replace(call, shared=shared), None


def _wrong_mutation(
    call: CallObservation, dtype: torch.dtype, rng: random.Random
) -> tuple[CallObservation, int | None] | None:
    places = [place for place, (_, value) in enumerate(call.inputs_after) if _plantable(value, dtype)]
    if not places:
        return None
    place = rng.choice(places)
    old = call.inputs_after[place][1]
    element = rng.randrange(old.numel())
    flat = old.detach().double().reshape(-1)
    new = _with_number(old, element, float(flat[element]) * 2 + 1)
    if not bool(flat[element].isfinite()) or _close(old, new, element):
        return None
    return dataclasses.replace(call, inputs_after=_replaced(call.inputs_after, place, new)), None


def _exception(call: CallObservation, dtype: torch.dtype, rng: random.Random) -> tuple[CallObservation, int | None]:
    raised = Raised("RuntimeError", "planted", origin="program")
    return CallObservation(label=call.label, raised=raised), None


RELATIVE = tuple(relative(10.0**-power) for power in range(2, 7))

ELEMENT_FAULTS = (
    *RELATIVE,
    ElementFault("zeroed", _nonzero, lambda values, element, rng: 0.0),
    ElementFault("neighbour's value", _has_neighbour, _neighbour),
    ElementFault("number becomes NaN", torch.isfinite, lambda values, element, rng: float("nan")),
    ElementFault("NaN becomes number", torch.isnan, lambda values, element, rng: 1.0),
)

WHOLE_FAULTS = (off_by(1, 1), off_by(2, 4))

SIGN_OF_ZERO = ElementFault("sign of zero", lambda values: values == 0, _other_zero, eager_pair=True)

PROPERTY_FAULTS = (
    PropertyFault("wrong dtype", _wrong_dtype),
    PropertyFault("wrong stride", _wrong_stride),
    PropertyFault("wrong aliasing", _wrong_aliasing),
    PropertyFault("mutated input", _wrong_mutation),
    PropertyFault("exception", _exception),
)


def planned(group: str) -> Sequence[Fault]:
    """The faults planted in ``group``; those of properties in outputs only."""
    return (*ELEMENT_FAULTS, *WHOLE_FAULTS, SIGN_OF_ZERO, *PROPERTY_FAULTS) if group == "outputs" else ELEMENT_FAULTS


def _in_one_output(
    call: CallObservation,
    dtype: torch.dtype,
    rng: random.Random,
    change: Callable[[torch.Tensor], torch.Tensor | None],
) -> tuple[CallObservation, int | None] | None:
    places = [place for place, (_, value) in enumerate(call.outputs) if _plantable(value, dtype)]
    rng.shuffle(places)
    for place in places:
        old = call.outputs[place][1]
        new = change(old.detach())
        if new is not None and (new.dtype, new.stride()) != (old.dtype, old.stride()):
            outputs = _replaced(call.outputs, place, new.requires_grad_(old.requires_grad))
            return dataclasses.replace(call, outputs=outputs), place
    return None


def _plantable(value: Any, dtype: torch.dtype) -> bool:
    """Whether it is a tensor of ``dtype`` whose elements all have their own memory."""
    return isinstance(value, torch.Tensor) and value.dtype is dtype and _has_own_elements(value)


def _is_whole(value: Any, dtype: torch.dtype) -> bool:
    """Whether it is an integer tensor, or one of ``dtype`` with different whole numbers only."""
    if not isinstance(value, torch.Tensor) or value.dtype is torch.bool or value.is_complex():
        return False
    if value.is_floating_point():
        flat = value.detach().double()
        whole = value.dtype is dtype and bool((flat == flat.round()).all()) and len(flat.unique()) > 1
        return whole and float(flat.abs().max()) < _MOST_EXACT[dtype] and _has_own_elements(value)
    return _has_own_elements(value)


def _has_own_elements(value: torch.Tensor) -> bool:
    if not value.numel():
        return False
    return all(stride or size < 2 for size, stride in zip(value.shape, value.stride(), strict=True))


def _with_number(old: torch.Tensor, element: int, number: float) -> torch.Tensor:
    new = snapshot(old)
    with torch.no_grad():
        new[_index(old, element)] = torch.tensor(number, dtype=torch.float64).to(old.dtype)
    return new


def _close(old: torch.Tensor, new: torch.Tensor, element: int) -> bool:
    index = _index(old, element)
    before, after = old.detach()[index], new.detach()[index]
    if not old.is_floating_point():
        return bool(before == after)
    if not bool(before.isfinite()) or not bool(after.isfinite()):
        return False
    return int(ulps_apart(before, after)) < LEAST_ULPS


def _is_rounding(new: torch.Tensor, eager: torch.Tensor, reference: LeafReference | None, element: int) -> bool:
    """Whether ``new`` is no farther from ``eager`` than ``eager`` from the reference; False without a reference."""
    right = None if reference is None or reference.unknown else reference.value
    if not isinstance(right, torch.Tensor) or not new.shape == eager.shape == right.shape:
        return False
    number, rounded, exact = (value.detach()[_index(new, element)] for value in (new, eager, right))
    return bool((number - rounded).abs() <= (rounded - exact).abs())


def _index(value: torch.Tensor, element: int) -> tuple[int, ...]:
    return tuple(int(part) for part in torch.unravel_index(torch.tensor(element), value.shape))


def _with_leaf(run: Observation, group: str, place: int, new: torch.Tensor) -> Observation:
    call = run.calls[0]
    return Observation([dataclasses.replace(call, **{group: _replaced(getattr(call, group), place, new)})])


def _replaced(leaves: Leaves, place: int, new: torch.Tensor) -> Leaves:
    return [(path, new if number == place else value) for number, (path, value) in enumerate(leaves)]


def _ordered(value: torch.Tensor) -> torch.Tensor:
    """The floats as integers of the same order: neighbours differ by one, both zeros are 0."""
    bits = value.detach().contiguous().view(_BITS[value.dtype]).to(torch.int64)
    lowest = -(2**63) if value.dtype is torch.float64 else -(2 ** (8 * value.element_size() - 1))
    return torch.where(bits < 0, lowest - bits, bits)
