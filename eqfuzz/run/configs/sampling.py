"""Sampled compile configurations: values of torch's sampler for a few options at a time."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eqfuzz.run.configs.fuzzer import SamplingMethod
from eqfuzz.run.configs.named import Config
from eqfuzz.run.configs.options import Option, default_of, sample

NAME_LENGTH = 80
"""Characters of a name that lists all values; a longer one has the first of them and a digest of all."""

DRAWS = 8
"""Attempts to draw a value that is not the default; a type may have few others."""

Values = Mapping[Option, Any]


def tuples(options: Sequence[Option], n: int, limit: int, seed: int) -> list[Config]:
    """Configurations of ``n`` options each that are toggled together, ``limit`` at most and no combination twice.

    If not all combinations fit, every option is used before one is used again.
    """
    rng = random.Random(f"tuples {seed}")
    chosen = itertools.islice(_combinations(options, n, limit, rng), limit)
    drawn = (draw_values(combination, SamplingMethod.TOGGLE, rng) for combination in chosen)
    return [configured(values) for values in drawn if values]


def randomly(options: Sequence[Option], attempts: int, p: float, seed: int) -> list[Config]:
    """``attempts`` configurations in which each option has, with probability ``p``, a random value."""
    rng = random.Random(f"random {seed}")
    configs: dict[str, Config] = {}
    for _ in range(attempts):
        chosen = [option for option in options if rng.random() < p]
        values = draw_values(chosen, SamplingMethod.RANDOM, rng)
        if values:
            config = configured(values)
            configs.setdefault(config.name, config)
    return list(configs.values())


def configured(values: Values) -> Config:
    """The configuration with these values, Inductor as the backend."""
    by_module: dict[str, dict[str, Any]] = {"inductor": {}, "dynamo": {}}
    for option, value in values.items():
        by_module[option.module][option.name] = value
    return Config(name=_name(values), inductor=by_module["inductor"], dynamo=by_module["dynamo"])


def values_of(config: Config) -> dict[Option, Any]:
    """The options that a configuration sets, with their values."""
    inductor = {Option("inductor", name): value for name, value in config.inductor.items()}
    return inductor | {Option("dynamo", name): value for name, value in config.dynamo.items()}


def draw_values(options: Sequence[Option], method: SamplingMethod, rng: random.Random) -> dict[Option, Any]:
    """A value for each option that differs from its default; options for which none was drawn are left out."""
    values: dict[Option, Any] = {}
    for option in options:
        default = default_of(option)
        for value in itertools.islice(sample(option, method, rng), DRAWS):
            if value != default or type(value) is not type(default):
                values[option] = value
                break
    return values


def _combinations(options: Sequence[Option], n: int, limit: int, rng: random.Random) -> Iterator[tuple[Option, ...]]:
    if math.comb(len(options), n) <= 4 * limit:
        every = list(itertools.combinations(options, n))
        rng.shuffle(every)
        yield from every
        return
    seen: set[tuple[int, ...]] = set()
    while True:
        order = list(range(len(options)))
        rng.shuffle(order)
        for first in range(0, len(order) - n + 1, n):
            key = tuple(sorted(order[first : first + n]))
            if key not in seen:
                seen.add(key)
                yield tuple(options[index] for index in key)


def _name(values: Values) -> str:
    parts = [f"{option}={value}" for option, value in values.items()]
    whole = ",".join(parts)
    if len(whole) <= NAME_LENGTH:
        return whole
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]
    return f"{parts[0][:NAME_LENGTH]},… {len(parts)} options {digest}"
