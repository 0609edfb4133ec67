"""Torch's ``ConfigFuzzer`` with the values in its results: configurations of a function, tried in this process.

Sampling, combinations and the search for a smallest failing set are torch's (``torch._inductor.fuzzer``). Over it: a
result has the values that gave it, state is saved and loaded, options for which torch has no value keep their default,
aliases of options are not changed, and the options, the interpreter's random state and its alarm are afterwards what
they were before. ``eqfuzz config`` is the way
to try configurations on whole programs: each in a process of its own, judged by the oracle.
"""

from __future__ import annotations

import contextlib
import dataclasses
import pickle
import random
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from eqfuzz.run.configs.excluded_options import why_left_out
from eqfuzz.torch_internals import fuzzer as torchs
from eqfuzz.torch_internals.fuzzer import (
    DEFAULT,
    ConfigType,
    FactoryOutputType,
    FactoryType,
    ResultType,
    SamplingMethod,
    Status,
)
from eqfuzz.torch_internals.options import MODULES, config_module, entries_of, fields_of

__all__ = [
    "DEFAULT",
    "MODULE_DEFAULTS",
    "ConfigFuzzer",
    "FactoryOutputType",
    "FactoryType",
    "Results",
    "SamplingMethod",
    "Status",
    "Unkept",
    "visualize_results",
]

_DRAWS = 8
"""Attempts to draw a value: of a union, torch's sampler may know some types only."""


@contextlib.contextmanager
def set_random(seed: int) -> Iterator[None]:
    """Python's own generator, which torch's sampler draws from, at ``seed``; put back afterwards."""
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)


MODULE_DEFAULTS: dict[str, ConfigType] = {
    **torchs.MODULE_DEFAULTS,
    MODULES["dynamo"]: {
        **{name: DEFAULT for name in fields_of(config_module("dynamo")) if why_left_out("dynamo", name)},
        **torchs.MODULE_DEFAULTS[MODULES["dynamo"]],
    },
}
"""Options that are not sampled: torch's, and for Dynamo those that ``why_left_out`` gives a reason for."""


@dataclasses.dataclass(frozen=True)
class Unkept:
    """Stands in a saved state for a value that cannot be pickled."""

    text: str


class Results(ResultType):
    """Torch's results by names of options, and beside them every set of values that was tried, with its status.

    ``always`` are the options that every configuration sets.
    """

    def __init__(self, always: Sequence[str] = ()) -> None:
        super().__init__()
        self.always = frozenset(always)
        self._tried: dict[tuple[str, ...], list[tuple[ConfigType, Status]]] = {}

    def keep(self, config: ConfigType, status: Status) -> None:
        """A configuration's status; an earlier one of the same values is replaced."""
        self.set(tuple(config), status)
        tried = self._tried.setdefault(tuple(sorted(config)), [])
        tried[:] = [(values, status) for values, status in tried if values != config]
        tried.append((dict(config), status))

    def of(self, config: ConfigType) -> Status | None:
        """What exactly these values gave; None where they were not tried."""
        tried = self._tried.get(tuple(sorted(config)), ())
        return next((status for values, status in tried if values == config), None)

    def values(self, combo: Sequence[str]) -> list[tuple[ConfigType, Status]]:
        """All values of these options that were tried, without those that every configuration has."""
        tried = self._tried.get(tuple(sorted({*combo, *self.always})), self._tried.get(tuple(sorted(combo)), []))
        return [({name: values[name] for name in combo}, status) for values, status in tried]

    def lookup(self, combo: Sequence[str]) -> Status | None:
        """The status of these options, named with or without those that every configuration has."""
        status = super().lookup(tuple(combo))
        return status if status is not None else super().lookup(tuple({*combo, *self.always}))

    def tried(self) -> list[tuple[ConfigType, Status]]:
        """Everything tried, in order of the options' names."""
        return [pair for _, pairs in sorted(self._tried.items()) for pair in pairs]


class ConfigFuzzer(torchs.ConfigFuzzer):
    """Torch's, called in the same way; ``results`` has all that this fuzzer has tried, with values.

    What was tried with the same values before, also in a state that was loaded, is not run again but by ``reproduce``.
    """

    def __init__(
        self,
        config_module: Any,
        test_model_fn_factory: FactoryType,
        seed: int,
        default: ConfigType | None = None,
        sm: SamplingMethod = SamplingMethod.TOGGLE,
        test_timeout: int = 3600,
    ) -> None:
        if default is None:
            default = MODULE_DEFAULTS.get(config_module.__name__)
        super().__init__(config_module, test_model_fn_factory, seed, default, sm, test_timeout)
        self._draw = self.sample
        self.fields = fields_of(config_module)
        self.sample = self._value
        # An alias takes no default of its own, and torch's list may name options that this version does not have.
        defaults = {name: v for name, v in self.default.items() if name in entries_of(config_module)}
        self.default = {name: v for name, v in defaults.items() if name in self.fields or v is not DEFAULT}
        self.results = Results(tuple(self.default))
        self._before: dict[str, Any] = {}
        self._again = False

    def reproduce(self, configs: Sequence[ConfigType]) -> Results:
        """Run each of them, whatever is known of it."""
        self._again = True
        try:
            with self._put_back():
                return self._with_values(super().reproduce(configs))
        finally:
            self._again = False

    def reproduce_single(self, config: ConfigType) -> Results:
        return self.reproduce([config])

    def fuzz_n_tuple(self, n: int, max_combinations: int = 1000) -> Results:
        with self._put_back(), set_random(self.seed):
            return self._with_values(super().fuzz_n_tuple(n, max_combinations))

    def bisect(self, num_attempts: int = 100, p: float = 0.5) -> list[ConfigType]:
        with self._put_back(), set_random(self.seed):
            return super().bisect(num_attempts, p)

    def test_config(self, results: ResultType, config: ConfigType) -> Status:
        """Torch's, but by values: it takes a status that it has under the same names for other values, too."""
        status = None if self._again else self.results.of(config)
        if status is None:
            alarm = signal.getsignal(signal.SIGALRM)
            timer = signal.setitimer(signal.ITIMER_REAL, 0)
            state = random.getstate()
            try:
                status = super().test_config(ResultType(), config)
            finally:
                random.setstate(state)  # what the function draws must not decide what is sampled next
                signal.signal(signal.SIGALRM, alarm)
                signal.setitimer(signal.ITIMER_REAL, *timer)  # torch leaves its own alarm set
        results.set(tuple(config), status)
        self.results.keep(config, status)
        return status

    def save_state(self, filename: str = "fuzzer_state.pkl") -> None:
        """Write all results with their values, and the details of failures."""
        tried = [(_picklable(values), status) for values, status in self.results.tried()]
        details = {combo: _picklable(detail) for combo, detail in self.detailed_results.items()}
        Path(filename).write_bytes(pickle.dumps({"results": tried, "detailed_results": details}))

    def load_state(self, filename: str = "fuzzer_state.pkl") -> None:
        """Take over a state that ``save_state`` wrote; like every pickle it runs code, so it must be your own."""
        state = pickle.loads(Path(filename).read_bytes())
        self.results = Results(tuple(self.default))
        for values, status in state["results"]:
            self.results.keep(values, status)
        self.detailed_results = state["detailed_results"]

    def _value(self, name: str, hint: Any, default: Any) -> Any:
        """A sampled value; the default where torch's sampler knows no value of the type."""
        for _ in range(_DRAWS):
            with contextlib.suppress(ValueError, TypeError, AttributeError):  # what it raises for such a type
                return self._draw(name, hint, default)
        return default

    def _set_config(self, field_name: str, value: Any) -> None:
        self._before.setdefault(field_name, getattr(self.config_module, field_name))
        super()._set_config(field_name, value)

    @contextlib.contextmanager
    def _put_back(self) -> Iterator[None]:
        try:
            yield
        finally:
            for name, value in self._before.items():
                setattr(self.config_module, name, value)
            self._before.clear()

    def _with_values(self, ran: ResultType) -> Results:
        """Torch's results of one entry point, with the values."""
        results = Results(tuple(self.default))
        for combo in ran.keys():  # noqa: SIM118 - torch's results are no mapping
            status = ran.lookup(combo)
            assert status is not None
            results.set(combo, status)
            for values, status in self.results._tried.get(combo, ()):
                results.keep(values, status)
        return results


def visualize_results(n: int, results: Results, filename: str = "results.html") -> None:
    """Torch's table of pairs as HTML, with the names of the pairs alone and not those that every configuration has.

    Raises AssertionError for another ``n`` than 2, and without results.
    """
    pairs = ResultType()
    for combo in results.keys():  # noqa: SIM118 - torch's results are no mapping
        pair, status = tuple(name for name in combo if name not in results.always), results.lookup(combo)
        if status is not None and len(pair) == n:
            pairs.set(pair, status)
    torchs.visualize_results(n, pairs, filename)


def _picklable(values: dict[str, Any]) -> dict[str, Any]:
    picklable = {}
    for name, value in values.items():
        if isinstance(value, dict):
            value = _picklable(value)
        try:
            pickle.dumps(value)
        except Exception:  # whatever the value's own method raises: torch's stand-in for a pass raises RuntimeError
            value = Unkept(repr(value))
        picklable[name] = value
    return picklable
