"""A program of a case that is ready to be judged: the original or a variant, with what eager did."""

from __future__ import annotations

from collections.abc import Sequence

from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.reference.reference import Reference
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite.derivation import Variant
from eqfuzz.run.devices import DeviceObservation


class LoadedVariant:
    """A variant that is loaded, with the calls it gets, its eager observation of them and, when asked, its reference.

    ``calls`` begins with the seed's own input sets, on which it is compared with the original; further ones come when
    its compiled cells are judged. ``number`` is 0 for the original.
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
        self._samples = 0
        self._abroad: dict[str, DeviceObservation] = {}

    def go_on(self, steps: Sequence[Call]) -> None:
        """Append the ``steps`` that eager finishes, one after the other."""
        calls = [*self.calls, *steps]
        eager = observe(self.loaded.instance, calls)
        while eager.calls[-1].raised is not None and len(eager.calls) > len(self.calls):
            del calls[len(eager.calls) - 1]
            eager = observe(self.loaded.instance, calls)
        if len(calls) > len(self.calls):
            self._take(calls, eager)

    def anew(self) -> LoadedVariant:
        """The same, observed once more in eager, and without a reference."""
        return LoadedVariant(
            self.number, self.variant, self.loaded, self.calls, observe(self.loaded.instance, self.calls)
        )

    def end_with(self, refused: Sequence[Call]) -> None:
        """Append the first of the ``refused`` calls at which eager raises here too."""
        for call in refused:
            calls = [*self.calls, call]
            eager = observe(self.loaded.instance, calls)
            if len(eager.calls) == len(calls) and eager.calls[-1].raised is not None:
                self._take(calls, eager)
                return

    def limit(self, count: int) -> None:
        """Leave the first ``count`` calls; all, where that is 0."""
        if 0 < count < len(self.calls):
            self._take(self.calls[:count], self.eager.first(count))

    def _take(self, calls: list[Call], eager: Observation) -> None:
        self.calls, self.eager, self._reference, self._samples = calls, eager, None, 0
        self._abroad.clear()

    def abroad(self, device: str) -> DeviceObservation:
        """What eager does on another device; kept."""
        if device not in self._abroad:
            self._abroad[device] = DeviceObservation.of(self.loaded.instance, self.calls, self.eager, device)
        return self._abroad[device]

    def has_reference(self, samples: int) -> bool:
        """Whether one of at least so many noisy runs has been made."""
        return self._samples >= samples

    def reference(self, samples: int, seed: int) -> Reference | None:
        """What bounds its errors, from at least so many noisy runs; kept."""
        if not self.has_reference(samples):
            self._reference = reference(self.loaded.instance, self.calls, seed=seed, samples=samples)
            self._samples = samples
        return self._reference
