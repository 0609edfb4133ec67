"""What a written sample does in eager: whether it can be a result of a program, which runs it twice alike."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from eqfuzz.errors import one_line
from eqfuzz.generate.catalogues.text import HELPERS, LIBRARIES, unnumbered
from eqfuzz.oracle.observe import gradients
from eqfuzz.oracle.observe.leaf_values import identical
from eqfuzz.oracle.observe.leaves import leaves, structure, tensors
from eqfuzz.program.inputs import Rng
from eqfuzz.program.load import reseed
from eqfuzz.torch_internals.tensors import version
from eqfuzz.torch_internals.trees import tensors_in

UNINITIALISED = "its result is memory that is not initialised"
NOT_ALIKE = "it is not the same twice in eager"

_INPUT_SEEDS = (1, 2)
"""Further random seeds of inputs with which a sample must run: a program draws its values in another order."""


class Unfit(Exception):
    """A sample is no result of a program in this form; ``str()`` is the reason."""


@dataclasses.dataclass(frozen=True)
class EagerRun:
    """Leaves of a result and gradients, its structure, whether random numbers were drawn, and inputs were changed."""

    structure: str
    leaves: list[tuple[str, Any]]
    gradients: list[tuple[str, Any]]
    draws: bool
    writes: bool

    @property
    def is_finite(self) -> bool:
        """Whether no number is NaN or infinite."""
        return _are_finite((*self.leaves, *self.gradients))

    @property
    def shares(self) -> bool:
        """Whether another result may take the inputs too: they are as before, and no NaN hides another's gradient."""
        return not self.writes and _are_finite(self.gradients)

    def is_like(self, other: EagerRun) -> bool:
        """Whether both have leaves of the same types."""
        return self.structure == other.structure and _types(self) == _types(other)

    def equals(self, other: EagerRun) -> bool:
        """Whether all leaves are the same, bit for bit."""
        pairs = zip((*self.leaves, *self.gradients), (*other.leaves, *other.gradients), strict=True)
        return self.is_like(other) and all(identical(a, b, signed_zero=True) for (_, a), (_, b) in pairs)


class WrittenSample:
    """The source of a sample, ready to be run: ``codes`` draw its tensors by letter."""

    def __init__(self, expression: str, codes: Mapping[str, str], module: str = "") -> None:
        call = unnumbered(expression.removeprefix(module))
        self._module = compile(unnumbered(module), "<module>", "eval") if module else None
        self._expression = compile(f"module{call}" if module else call, "<sample>", "eval")
        self._codes = [(letter, compile(code, f"<{letter}>", "eval")) for letter, code in codes.items()]

    def run(self, seed: int = 0) -> EagerRun:
        """Raises what it raises in eager."""
        scope: dict[str, Any] = {**namespace(), "rng": Rng(seed)}
        for letter, code in self._codes:
            scope[letter] = eval(code, scope)

        def ready() -> Callable[[], Any]:
            if self._module is not None:
                scope["module"] = eval(self._module, scope)
            return lambda: eval(self._expression, scope)

        return run_once(ready, {letter: scope[letter] for letter, _ in self._codes})

    def checked(self, like: EagerRun, *, finite: bool) -> EagerRun:
        """Its run, if it is deterministic and its result is ``like`` that of the catalogue's own sample.

        ``finite``: numbers must be finite too. Raises Unfit, and what it raises in eager.
        """
        first = self.run()
        for seed in _INPUT_SEEDS:
            if not self.run(seed).is_like(like):
                raise Unfit("its result depends on values")
        if not first.is_like(like):
            raise Unfit("its result depends on layouts")
        if finite and not first.is_finite:
            raise Unfit("its result is not finite")
        with _filled_memory():
            filled = self.run()
        if _differs_where_filled(first, filled):
            raise Unfit(UNINITIALISED)
        if not first.equals(self.run()):
            raise Unfit(NOT_ALIKE)
        return first


def run_once(ready: Callable[[], Callable[[], Any]], inputs: Mapping[str, Any]) -> EagerRun:
    """Call what ``ready`` builds, and differentiate its result with respect to the leaves of ``inputs``."""
    reseed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = ready()
        before = torch.default_generator.get_state()
        operands = tensors_in(dict(inputs))
        versions = [version(tensor) for tensor in operands]
        values = [tensor.detach().clone() for tensor in operands]
        result = call()
        draws = not torch.equal(before, torch.default_generator.get_state())
        writes = [version(tensor) for tensor in operands] != versions or _differ(operands, values)
        wrt = gradients.differentiable(dict(inputs), None)
        backward = gradients.plan(result, wrt)
        differentiated = gradients.run(backward) if backward is not None else []
    return EagerRun(structure(result), leaves(result, "output"), differentiated, draws, writes)


def reason_of(error: BaseException) -> str:
    """The reason why a sample is left out, without the numbers that differ from sample to sample."""
    if isinstance(error, Unfit):
        return str(error)
    return one_line(f"raises {type(error).__name__}", 200)


def _are_finite(leaves: Sequence[tuple[str, Any]]) -> bool:
    values = (leaf for _, leaf in leaves if isinstance(leaf, torch.Tensor))
    return all(bool(leaf.isfinite().all()) for leaf in values if leaf.layout is torch.strided)


def _differ(operands: Sequence[torch.Tensor], before: Sequence[torch.Tensor]) -> bool:
    """Whether values have changed: NumPy changes them without a new version."""
    pairs = zip(operands, before, strict=True)
    return any(not identical(one, old, signed_zero=True) for one, old in pairs if one.layout is torch.strided)


def _types(run: EagerRun) -> list[Any]:
    return [(path, leaf.dtype) for path, leaf in run.leaves if isinstance(leaf, torch.Tensor)]


def _differs_where_filled(first: EagerRun, filled: EagerRun) -> bool:
    """Whether memory that the second run has filled with NaN or the largest integer is part of its result."""
    if not filled.is_like(first):
        return False
    for (_, before), (_, after) in zip(tensors_of(first), tensors_of(filled), strict=True):
        if before.shape != after.shape or not before.numel() or before.layout is not torch.strided:
            continue
        is_fill = after != after
        if not (after.dtype.is_floating_point or after.dtype.is_complex):
            top = True if after.dtype == torch.bool else torch.iinfo(after.dtype).max
            is_fill = after == top
        if bool((is_fill & ~((before == after) | ((before != before) & (after != after)))).any()):
            return True
    return False


def tensors_of(run: EagerRun) -> list[tuple[str, torch.Tensor]]:
    """The leaves that are tensors."""
    return [pair for path, leaf in run.leaves for pair in tensors(leaf, path)]


@contextlib.contextmanager
def _filled_memory() -> Iterator[None]:
    """Fill what operators allocate without writing to it."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


_NAMESPACE: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np}
_NAMESPACE |= {name: importlib.import_module(name) for name in LIBRARIES}
for _source in HELPERS.values():
    exec(_source, _NAMESPACE)


def namespace() -> dict[str, Any]:
    """The global names of a program."""
    return dict(_NAMESPACE)
