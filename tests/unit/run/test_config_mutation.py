"""Mutation of configurations: deterministic, one change at a time, each of which can be patched in."""

import random
from pathlib import Path

import pytest
import torch._inductor

from eqfuzz.run.configs.mutation import DISABLED, MOST_STEPS, PASSES, mutate_config
from eqfuzz.run.configs.named import BUILT_IN, DEFAULT_CONFIG, Config, read_configs
from eqfuzz.run.configs.options import Option
from eqfuzz.torch_internals.options import config_module

OPTIONS = (Option("inductor", "max_fusion_size"), Option("dynamo", "specialize_int"))


def chain(seed, count=60, base=DEFAULT_CONFIG):
    rng, configs = random.Random(seed), [base]
    for _ in range(count):
        configs.append(mutate_config(configs[-1], rng, OPTIONS))
    return configs


def test_a_mutation_depends_on_the_generator_alone():
    assert chain(1) == chain(1)
    assert chain(1) != chain(2)


def test_every_kind_of_setting_is_mutated_and_put_back():
    configs = [config for seed in range(6) for config in chain(seed)[1:]]
    assert {len(config.graph) for config in configs} > {0, 1, 5}
    for seen in (
        {option.name in getattr(config, option.module) for option in OPTIONS for config in configs},
        {DISABLED in config.inductor for config in configs},
    ):
        assert seen == {True, False}
    assert all(len(config.graph) <= MOST_STEPS for config in configs)


def test_configurations_have_names_of_their_own():
    configs = [config for seed in range(6) for config in chain(seed)[1:]]
    by_name = {config.name: config for config in configs}
    assert all(by_name[config.name] == config for config in configs)
    assert all(config.name.startswith("mutated-") for config in configs)


def test_a_mutated_configuration_survives_json_and_can_be_used():
    for config in chain(3)[1:12]:
        assert Config(**config.model_dump(mode="json", exclude_defaults=True)) == config
        with config.patched():
            options = config_module("inductor")
            assert getattr(options, DISABLED) == config.inductor.get(DISABLED, "")


def test_random_rewrites_of_a_configuration_are_drawn_first():
    graphs = BUILT_IN["inductor-graphs"]
    mutated = mutate_config(graphs, random.Random(0), ())
    assert not mutated.graph_steps
    assert len(mutated.graph) >= graphs.graph_steps / 4


def test_passes_are_named_as_torch_names_them():
    files = (Path(torch._inductor.__file__).parent / "fx_passes").glob("*.py")
    source = "".join(path.read_text() for path in files)
    assert [name for name in PASSES if name not in source and not name.startswith("pass_pattern_")] == []


def test_an_unknown_rule_or_point_of_a_file_is_one_line(tmp_path):
    file = tmp_path / "configs.toml"
    for step, words in (
        (
            '{ point = "joint", rule = "minus_zer" }',
            "no rule 'minus_zer' in rewrites/graphs, did you mean 'minus_zero'",
        ),
        ('{ point = "nowhere", rule = "minus_zero" }', "graph.0.point: Input should be 'pre-grad'"),
    ):
        file.write_text(f"[configs.a]\ngraph = [{step}]\n")
        with pytest.raises(ValueError, match=words) as caught:
            read_configs(file)
        assert "\n" not in str(caught.value)
