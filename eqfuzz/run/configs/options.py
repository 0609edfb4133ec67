"""Options of the compiler that must not change results, so that any difference under them is a defect.

An option is left out where ``why_left_out`` has a reason, where torch's own fuzzer leaves it out, or where
torch's sampler has no value for it that survives JSON and differs from the default.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from eqfuzz.program.suggestions import did_you_mean
from eqfuzz.run.configs.excluded_options import why_left_out
from eqfuzz.run.configs.fuzzer import MODULE_DEFAULTS, SamplingMethod, set_random
from eqfuzz.torch_internals.options import MODULES, config_module, entries_of, fields_of

SAMPLED_MODULES = ("inductor", "dynamo")
"""The config modules whose options are tried, by keys of torch's modules."""

_NO_VALUE = "torch's sampler has no other value for it"
_TEXT = "free text: what would be sampled means nothing"
_NOT_JSON = "its values do not survive JSON (functions, passes, sets)"
_ALIAS = "another name of an option"
_TORCHS = "torch's own fuzzer leaves it out"


@dataclasses.dataclass(frozen=True)
class Option:
    """One option; ``name`` as in torch's config module, ``module`` one of ``SAMPLED_MODULES``."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"dynamo.{self.name}" if self.module == "dynamo" else self.name


class UnknownOption(ValueError):
    """No option that can be sampled has that name; ``str()`` is one line."""


@dataclasses.dataclass(frozen=True)
class SampledOptions:
    """The options that can be sampled, in torch's order, and the reason for each of the others."""

    sampled: tuple[Option, ...]
    left_out: dict[Option, str]

    def reasons(self) -> dict[str, int]:
        """The number of options left out for each reason, largest first."""
        return dict(collections.Counter(self.left_out.values()).most_common())

    def chosen(self, only: Sequence[str]) -> tuple[Option, ...]:
        """The options of these names, all without names. Raises UnknownOption for a name that cannot be sampled."""
        by_name = {str(option): option for option in self.sampled}
        left_out = {str(option): reason for option, reason in self.left_out.items()}
        for name in only:
            if name in left_out:
                raise UnknownOption(f"{name} is not sampled: {left_out[name]}")
            if name not in by_name:
                hint = did_you_mean(name, by_name)
                raise UnknownOption(f"no option {name!r}{hint} (Dynamo's are written dynamo.NAME)")
        return tuple(by_name[name] for name in dict.fromkeys(only)) or self.sampled


def options_of(modules: Sequence[str]) -> SampledOptions:
    """The options of ``modules``, some of ``SAMPLED_MODULES``."""
    sampled: list[Option] = []
    left_out: dict[Option, str] = {}
    for module in modules:
        for name in entries_of(config_module(module)):
            option = Option(module, name)
            reason = _denied(option) or _unsampled(option)
            if reason:
                left_out[option] = reason
            else:
                sampled.append(option)
    return SampledOptions(tuple(sampled), left_out)


def default_of(option: Option) -> Any:
    """Torch's default for it."""
    return entries_of(config_module(option.module))[option.name].default


def sample(option: Option, method: SamplingMethod, rng: random.Random) -> Iterator[Any]:
    """Values that torch's sampler gives for it, without end; the default may be among them.

    Raises ValueError and what the sampler raises for types that it does not know.
    """
    entry = fields_of(config_module(option.module))[option.name]
    draw = SamplingMethod.dispatch(method)
    while True:
        with set_random(rng.getrandbits(64)):
            value = draw(option.name, entry.value_type, entry.default)
        yield value


def survives_json(value: Any) -> bool:
    """Whether it is the same, of the same type, when it comes back from JSON."""
    try:
        back = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return False
    return repr(back) == repr(value)


def _denied(option: Option) -> str:
    torchs = option.name in MODULE_DEFAULTS[MODULES[option.module]]
    return why_left_out(option.module, option.name) or (_TORCHS if torchs else "")


def _unsampled(option: Option) -> str:
    """Why no value can be sampled for it; empty where one can."""
    fields = fields_of(config_module(option.module))
    if option.name not in fields:
        return _ALIAS
    entry = fields[option.name]
    draws = sample(option, SamplingMethod.TOGGLE, random.Random(str(option)))
    try:
        values = [next(draws) for _ in range(4)]
    except (ValueError, TypeError, AttributeError):  # types that torch's sampler does not know
        return _NO_VALUE
    if not all(survives_json(value) for value in values):
        return _NOT_JSON
    if all(value == entry.default for value in values):
        return _NO_VALUE
    if any(map(_has_text, values)) and "Literal" not in str(entry.value_type):
        return _TEXT
    return ""


def _has_text(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_text, [*value, *value.values()]))
    if isinstance(value, list):
        return any(map(_has_text, value))
    return isinstance(value, str)
