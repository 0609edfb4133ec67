"""Mutation of a compile configuration: its rewrites of graphs, its options, its passes, one change at a time."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence

from eqfuzz.rewrite.graphs.graph_step import GraphStep, draw_steps
from eqfuzz.run.configs.fuzzer import SamplingMethod
from eqfuzz.run.configs.named import MUTATED, Config
from eqfuzz.run.configs.options import Option
from eqfuzz.run.configs.sampling import draw_values

PASSES = (
    *("group_batch_fusion_passes", "efficient_conv_bn_eval_pass", "apply_gumbel_max_trick_pass", "remove_noop_ops"),
    *("constant_fold_uniform_value", "pass_pattern_0", "pass_pattern_1", "pass_pattern_2", "reorder_for_locality"),
    *("slice_scatter_chunking", "move_constructors_to_cuda"),
)
"""Passes over graphs that a program compiles right without."""

DISABLED = "disabled_passes"
"""Inductor's option that names passes which are left out."""

MOST_STEPS = 24
NEW_STEPS = 4


def mutate_config(config: Config, rng: random.Random, options: Sequence[Option]) -> Config:
    """The configuration with one change, under a name of its own.

    The changes: rewrites of graphs are added, left out, exchanged or reordered; one of ``options`` gets another value
    by torch's sampler, or its default again; a pass is left out, or no longer.
    """
    changes: list[Callable[[Config, random.Random], Config]] = [_more_steps, _other_pass]
    if config.graph:
        changes += [_fewer_steps, _another_step, _another_order]
    if options:
        changes += [lambda config, rng: _another_option(config, rng, options)]
    mutated = rng.choice(changes)(config.drawn_for(str(rng.getrandbits(32))), rng)
    settings = json.dumps(mutated.model_dump(mode="json", exclude={"name"}), sort_keys=True)
    return mutated.model_copy(update={"name": f"{MUTATED}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"})


def _with_graph(config: Config, steps: Sequence[GraphStep]) -> Config:
    return config.model_copy(update={"graph": tuple(steps)})


def _more_steps(config: Config, rng: random.Random) -> Config:
    steps = [*config.graph, *draw_steps(rng, rng.randint(1, NEW_STEPS))]
    return _with_graph(config, steps[-MOST_STEPS:])


def _fewer_steps(config: Config, rng: random.Random) -> Config:
    fewer = [step for step in config.graph if rng.random() < 0.5]
    return _with_graph(config, fewer)


def _another_step(config: Config, rng: random.Random) -> Config:
    steps = list(config.graph)
    steps[rng.randrange(len(steps))] = draw_steps(rng, 1)[0]
    return _with_graph(config, steps)


def _another_order(config: Config, rng: random.Random) -> Config:
    return _with_graph(config, rng.sample(config.graph, len(config.graph)))


def _other_pass(config: Config, rng: random.Random) -> Config:
    chosen = set(filter(None, config.inductor.get(DISABLED, "").split(",")))
    chosen ^= {rng.choice(PASSES)}
    inductor = {key: value for key, value in config.inductor.items() if key != DISABLED}
    if chosen:
        inductor[DISABLED] = ",".join(sorted(chosen))
    return config.model_copy(update={"inductor": inductor})


def _another_option(config: Config, rng: random.Random, options: Sequence[Option]) -> Config:
    option = rng.choice(list(options))
    values = dict(getattr(config, option.module))
    if option.name in values:
        del values[option.name]
    else:
        values |= {one.name: value for one, value in draw_values([option], SamplingMethod.TOGGLE, rng).items()}
    return config.model_copy(update={option.module: values})
