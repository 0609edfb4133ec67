"""Compile configurations: named, extended by TOML, clear errors."""

import json
from pathlib import Path

import pytest
import torch

from eqfuzz.run.configs.fusions import fusion_options
from eqfuzz.run.configs.named import BUILT_IN, PURPOSES, Config, choose, read_configs


def test_the_promised_names_are_built_in():
    promised = {"inductor", "inductor-dynamic", "inductor-fullgraph", "inductor-scalar-outputs", "aot_eager", "eager"}
    promised |= {"inductor-static", "inductor-max-autotune", "inductor-cpp-wrapper", "inductor-reduce-overhead"}
    assert promised <= set(BUILT_IN)
    assert BUILT_IN["inductor"].arguments() == {}
    assert BUILT_IN["inductor-dynamic"].arguments() == {"dynamic": True}
    assert BUILT_IN["inductor-reduce-overhead"].arguments() == {"mode": "reduce-overhead"}
    assert BUILT_IN["inductor-max-autotune"].arguments() == {"mode": "max-autotune"}
    assert BUILT_IN["inductor-torchfuzz"].arguments() == {"fullgraph": True, "dynamic": True}
    assert BUILT_IN["inductor-torchfuzz"].dynamo["capture_scalar_outputs"]


def test_page_has_every_configuration_as_it_is():
    page = (Path(__file__).parents[3] / "docs" / "reference" / "configurations.md").read_text()
    rows = [tuple(cell.strip("` ") for cell in line.split("|")[1:-1]) for line in page.splitlines() if "| `" in line]
    assert rows == [(config.name, PURPOSES[config.name], config.in_words) for config in BUILT_IN.values()]


def test_options_are_patched_and_put_back():
    config = Config(name="x", dynamo={"capture_scalar_outputs": True}, inductor={"max_fusion_size": 3})
    before = torch._dynamo.config.capture_scalar_outputs, torch._inductor.config.max_fusion_size
    with config.patched():
        assert torch._dynamo.config.capture_scalar_outputs
        assert torch._inductor.config.max_fusion_size == 3
        assert torch._inductor.config.fallback_random
    assert (torch._dynamo.config.capture_scalar_outputs, torch._inductor.config.max_fusion_size) == before


def test_a_file_adds_configurations(tmp_path):
    file = tmp_path / "configs.toml"
    file.write_text('[configs.small]\nbackend = "aot_eager"\ndynamic = false\n[configs.small.dynamo]\nverbose = true\n')
    configs = read_configs(file)
    (config,) = choose(["small"], configs)
    assert config.arguments() == {"backend": "aot_eager", "dynamic": False}
    assert config.dynamo == {"verbose": True}
    assert "inductor" in configs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[configs.a]\nbackedn = 'eager'\n", ("backedn", "known keys")),
        ("[configs.a]\nfullgraph = 'perhaps'\n", ("fullgraph",)),
        ("[configs\n", ("not valid TOML",)),
        ("configs = 3\n", ("valid dictionary",)),
        ("[configs.guards]\nbackend = 'eager'\n", ("configs.guards", "another name")),
        ("[configs.a.inductor]\nmax_fusoin_size = 3\n", ("inductor.max_fusoin_size",)),
    ],
)
def test_errors_in_files_are_one_line(tmp_path, text, words):
    file = tmp_path / "configs.toml"
    file.write_text(text)
    with pytest.raises(ValueError) as caught:
        read_configs(file)
    message = str(caught.value)
    assert "\n" not in message, message
    assert str(file) in message, message
    assert all(w in message for w in words), message


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match="aot_eager"):
        choose(["inductr"], BUILT_IN)


def test_configuration_with_options_of_its_own_shares_no_kernels():
    assert BUILT_IN["inductor"].shares_kernels
    assert BUILT_IN["inductor-dynamic"].shares_kernels
    assert BUILT_IN["inductor-fusions"].shares_kernels
    assert not BUILT_IN["aot_eager"].shares_kernels
    for own in ({"mode": "max-autotune"}, {"options": {"cpp.simdlen": 1}}, {"inductor": {"cpp.simdlen": 1}}):
        assert not Config(name="own", **own).shares_kernels


def test_configuration_switches_off_the_component_it_names():
    from torch._inductor.compiler_bisector import CompilerBisector

    config = Config(name="no amin", without=("lowerings", "amin"))
    assert config.arguments() == {}
    assert not config.shares_kernels
    assert Config(**json.loads(config.model_dump_json())) == config
    with config.patched():
        assert CompilerBisector.disable_subsystem("inductor", "lowerings", lambda: "amin_3")
        assert not CompilerBisector.disable_subsystem("inductor", "lowerings", lambda: "amax_3")
        assert not CompilerBisector.disable_subsystem("inductor", "cudagraphs")
    assert not CompilerBisector.disable_subsystem("inductor", "lowerings", lambda: "amin_3")


def test_passes_that_are_off_by_default_are_those_of_torch():
    from torch._inductor.fx_passes import group_batch_fusion, split_cat

    options = fusion_options()
    before = {*split_cat.pre_grad_pass_names, *group_batch_fusion.PRE_GRAD_FUSIONS}
    after = {*split_cat.post_grad_pass_names, *group_batch_fusion.POST_GRAD_FUSIONS}
    assert options["pre_grad_fusion_options"].keys() <= before
    assert options["post_grad_fusion_options"].keys() <= after


def test_equal_small_operators_are_batched():
    from torch._dynamo.utils import counters

    config = BUILT_IN["inductor-fusions"]
    counters.clear()
    with config.patched(), torch._inductor.config.patch(force_disable_caches=True):
        config.compile(lambda x, y: (torch.tanh(x), torch.tanh(y)))(torch.ones(3), torch.ones(3))
    assert counters["inductor"]["batch_tanh"] == 1


def test_suffix_of_a_configuration_is_its_number_of_threads():
    (config,) = choose(["inductor-dynamic@3"], BUILT_IN)
    assert config.name == "inductor-dynamic@3"
    assert config.threads == 3
    assert config.arguments() == {"dynamic": True}
    assert config.inductor == {"cpp.min_chunk_size": 1}
    assert config.shares_kernels
    assert config.with_one_thread() == BUILT_IN["inductor-dynamic"]
    assert Config(**json.loads(config.model_dump_json())) == config
    with config.patched():
        assert torch._inductor.config.cpp.threads == 3
        assert torch._inductor.config.cpp.min_chunk_size == 1
    assert torch._inductor.config.cpp.threads != 3


def test_backend_without_kernels_gets_no_option_of_inductor():
    (config,) = choose(["aot_eager@2"], BUILT_IN)
    assert config.threads == 2
    assert config.inductor == {}
    assert not config.shares_kernels
    assert config.on("eager").threads == 2


@pytest.mark.parametrize(
    "name", ["inductor@1", "inductor@0", "inductor@65", "inductor@x", "inductr@2", "@2", "inductor@"]
)
def test_an_invalid_number_of_threads_is_an_error(name):
    with pytest.raises(ValueError, match=r"known: inductor, .*; each with @2 to @64 for so many threads$"):
        choose([name], BUILT_IN)
