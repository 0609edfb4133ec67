"""A loaded program that is ready to be judged: the original or a variant, with its observation in eager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.reference.reference import Reference
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite.derivation import Variant
from eqfuzz.run.devices import DeviceObservation

_WARMING_CALLS = 2
"""Before a program is timed: the first compiles it, the second may compile it for other sizes."""


class LoadedVariant:
    """A variant that is loaded, with its calls, its observation of them in eager and, on request, its reference.

    ``calls`` begins with the seed's input sets, on which it is compared with the original; further ones are appended
    for its compiled cells. ``number`` is 0 for the original.
    """

    def __init__(
        self, number: int, variant: Variant, loaded: Loaded, calls: Sequence[Call], eager: Observation
    ) -> None:
        self.number = number
        self.variant = variant
        self.loaded = loaded
        self.calls = list(calls)
        self.eager = eager
        self._reference: Reference | None = None
        self._on_devices: dict[str, DeviceObservation] = {}

    def append_calls(self, steps: Sequence[Call]) -> None:
        """Append those of ``steps`` that eager completes, one after the other."""
        calls = [*self.calls, *steps]
        eager = observe(self.loaded.instance, calls)
        while eager.calls[-1].raised is not None and len(eager.calls) > len(self.calls):
            del calls[len(eager.calls) - 1]
            eager = observe(self.loaded.instance, calls)
        if len(calls) > len(self.calls):
            self._take(calls, eager)

    def observed_again(self) -> LoadedVariant:
        """The same, observed once more in eager, and without a reference."""
        return LoadedVariant(
            self.number, self.variant, self.loaded, self.calls, observe(self.loaded.instance, self.calls)
        )

    def repeated_call(self, compile: Callable[[Any], Callable[..., Any]] | None = None) -> Callable[[], object]:
        """A function that calls the program on its first inputs, time and again; it has been called twice.

        ``compile`` is applied to the program first. Raises what that and the calls raise.
        """
        target, call = self.loaded.instance(), self.calls[0].copy()
        repeated = partial(compile(target) if compile is not None else target, *call.args, **call.kwargs)
        for _ in range(_WARMING_CALLS):
            repeated()
        return repeated

    def append_refused(self, refused: Sequence[Call]) -> None:
        """Append the first of the ``refused`` calls at which eager raises here too."""
        for call in refused:
            calls = [*self.calls, call]
            eager = observe(self.loaded.instance, calls)
            if len(eager.calls) == len(calls) and eager.calls[-1].raised is not None:
                self._take(calls, eager)
                return

    def limit(self, count: int) -> None:
        """Keep the first ``count`` calls only; all of them where that is 0."""
        if 0 < count < len(self.calls):
            self._take(self.calls[:count], self.eager.first(count))

    def _take(self, calls: list[Call], eager: Observation) -> None:
        self.calls, self.eager, self._reference = calls, eager, None
        self._on_devices.clear()

    def on_device(self, device: str) -> DeviceObservation:
        """The observation of its calls in eager on another device; cached."""
        if device not in self._on_devices:
            self._on_devices[device] = DeviceObservation.of(self.loaded.instance, self.calls, self.eager, device)
        return self._on_devices[device]

    def has_reference(self, samples: int) -> bool:
        """Whether there is one from at least so many noisy runs."""
        return self._reference is not None and self._reference.samples >= samples

    def reference(self, samples: int, seed: int) -> Reference:
        """The bounds of its errors, from at least so many noisy runs; cached."""
        self._reference = reference(
            self.loaded.instance, self.calls, seed=seed, samples=samples, before=self._reference
        )
        return self._reference
