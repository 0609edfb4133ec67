"""Sampled configurations: the same from the same seed, of values that JSON keeps, and none that may differ by right."""

import fnmatch
import json
import subprocess
import sys

import pytest
import torch

pytest.importorskip("torch._inductor.fuzzer", reason="torch 2.6 does not sample configurations")

from eqfuzz.run.configs.excluded_options import LEFT_OUT, why_left_out
from eqfuzz.run.configs.named import Config
from eqfuzz.run.configs.options import SAMPLED_MODULES, Option, UnknownOption, default_of, options_of
from eqfuzz.run.configs.sampling import NAME_LENGTH, configured, randomly, tuples, values_of


@pytest.fixture(scope="module")
def options():
    return options_of(tuple(SAMPLED_MODULES))


@pytest.mark.slow
def test_the_seed_decides_in_every_process(options):
    script = (
        "from eqfuzz.run.configs.options import SAMPLED_MODULES, options_of\n"
        "from eqfuzz.run.configs.sampling import randomly, tuples\n"
        "sampled = options_of(tuple(SAMPLED_MODULES)).sampled\n"
        "print([c.model_dump_json() for c in (*tuples(sampled, 2, 30, 3), *randomly(sampled, 5, 0.1, 3))])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    here = [*tuples(options.sampled, 2, 30, 3), *randomly(options.sampled, 5, 0.1, 3)]
    assert done.stdout.strip() == repr([config.model_dump_json() for config in here])
    assert tuples(options.sampled, 2, 30, 3) != tuples(options.sampled, 2, 30, 4)


def test_every_value_survives_json_and_differs_from_torchs(options):
    for config in (*tuples(options.sampled, 1, 500, 0), *randomly(options.sampled, 20, 0.3, 0)):
        assert Config(**json.loads(config.model_dump_json())) == config
        for option, value in values_of(config).items():
            assert repr(value) != repr(default_of(option)), option


def test_every_option_can_be_set(options):
    for config in tuples(options.sampled, 1, 500, 0):
        with config.patched():
            for option, value in values_of(config).items():
                module = torch._dynamo.config if option.module == "dynamo" else torch._inductor.config
                assert getattr(module, option.name) == value, option


def test_options_that_change_results_are_left_out_with_a_reason(options):
    left_out = {str(option): reason for option, reason in options.left_out.items()}
    for name in ("fallback_random", "emulate_precision_casts", "use_fast_math", "keep_output_stride", "debug"):
        assert left_out[name], name
    for name in ("dynamo.disable", "dynamo.suppress_errors", "dynamo.replay_side_effects", "cpp.threads"):
        assert left_out[name], name
    assert {"split_reductions", "max_fusion_size", "epilogue_fusion", "dynamo.specialize_int"} <= set(
        map(str, options.sampled)
    )
    assert not set(options.sampled) & set(options.left_out)
    total = sum(len(module._config) for module in (torch._inductor.config, torch._dynamo.config))
    assert (
        len(options.sampled) + len(options.left_out) == total == len(options.sampled) + sum(options.reasons().values())
    )


def test_every_pattern_of_excluded_options_matches_an_option():
    for module, config_module in (("inductor", torch._inductor.config), ("dynamo", torch._dynamo.config)):
        for reason, patterns in LEFT_OUT[module].items():
            for pattern in patterns:
                assert fnmatch.filter(config_module._config, pattern), (module, reason, pattern)
    assert why_left_out("inductor", "max_fusion_size") == ""


def test_combinations_are_distinct_and_spread(options):
    configs = tuples(options.sampled, 2, 60, 0)
    assert len({config.name for config in configs}) == 60
    assert len({option for config in configs for option in values_of(config)}) == 120
    few = options.sampled[:4]
    assert len(tuples(few, 2, 100, 0)) == 6
    assert len(tuples(few, 2, 5, 0)) == 5


def test_names_list_the_values_and_stay_short(options):
    two = {Option("inductor", "max_fusion_size"): 1, Option("dynamo", "specialize_int"): True}
    assert configured(two).name == "max_fusion_size=1,dynamo.specialize_int=True"
    many = randomly(options.sampled, 10, 0.5, 0)
    assert len({config.name for config in many}) == 10
    assert all(len(config.name) <= NAME_LENGTH + 40 for config in many)


def test_options_are_chosen_by_name(options):
    (chosen,) = options.chosen(["dynamo.specialize_int"])
    assert chosen == Option("dynamo", "specialize_int")
    with pytest.raises(UnknownOption, match="did you mean 'max_fusion_size'"):
        options.chosen(["max_fusoin_size"])
    with pytest.raises(UnknownOption, match="random numbers"):
        options.chosen(["fallback_random"])
