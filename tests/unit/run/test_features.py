"""Features of compiled cells: what they depend on, and what they do not."""

import os
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.run.coverage.features import (
    FeatureCollector,
    compilation_sentences,
    counter_sentences,
    feature,
    layout,
    reason,
    tokens,
)
from eqfuzz.run.coverage.line_coverage import bitmap, traced_lines
from eqfuzz.torch_internals.dynamo import forget_compiled_code

SCRIPT = """
import torch
from eqfuzz.run.coverage.features import FeatureCollector

def program(x):
    y = torch.softmax(x, -1)
    torch._dynamo.graph_break()
    return y.sum(0)

signals = FeatureCollector()
with signals.collecting():
    torch.compile(program, backend="aot_eager")(torch.ones(4, 4))
print(signals.features)
"""


@pytest.mark.slow
def test_features_are_the_same_in_every_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    printed = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        printed.add(done.stdout)
    (features,) = printed
    assert features.count(",") > 5


def test_graphs_are_read_as_inductor_gets_them():
    """A product alone needs no kernel of Inductor's own."""
    forget_compiled_code()
    signals = FeatureCollector()
    with signals.collecting():
        torch.compile(lambda x: torch.mm(torch.mm(x, x).t(), x))(torch.ones(4, 4))
    forget_compiled_code()
    sentences = ["operator aten.mm.default", "pair aten.mm > aten.permute", "pair aten.permute > aten.mm"]
    sentences += ["dtype aten.mm torch.float32", "layout aten.permute permuted", "token extern_kernels.mm"]
    sentences += ["counter stats unique_graphs 1", "counter inductor extern_calls 2"]
    assert {feature(sentence) for sentence in sentences} <= set(signals.features)


def test_error_while_reading_a_graph_is_raised_outside_of_the_compiler(monkeypatch):
    """It is raised where the compiler cannot catch it."""

    def broken(graph):
        raise KeyError("ours")

    monkeypatch.setattr("eqfuzz.run.coverage.features.graph_sentences", broken)
    forget_compiled_code()
    compiled = []
    with pytest.raises(KeyError, match="ours"), FeatureCollector().collecting():
        compiled.append(torch.compile(lambda x: torch.mm(x, x))(torch.ones(4, 4)))
    forget_compiled_code()
    assert len(compiled) == 1


def test_hash_of_a_feature_never_changes():
    """Stores of campaigns hold these numbers."""
    assert feature("token at::vec::maximum") == 7113452795558309202


@settings(deadline=None)
@given(st.text(), st.text())
def test_hashes_are_distinct_and_fit_in_a_signed_number(one, other):
    assert 0 <= feature(one) < 2**63
    assert (feature(one) == feature(other)) == (one == other)


CODE = """
# AOT ID: ['0_inference']
cpp_fused_add_relu_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
#include "/tmp/somewhere/2r/c2rmrj.h"
extern "C"  void kernel(const float* in_ptr0, float* out_ptr0)
{
    #pragma GCC ivdep
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(128L); x0+=static_cast<int64_t>(16L))
    {   // a comment of mine
        auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
        auto tmp1 = at::vec::convert<float,1,half,2>(tmp0);
        auto tmp2 = tmp1 * tmp0;
    }
}
''')
buf0 = empty_strided_cpu((8, 16), (16, 1), torch.float32)
del arg0_1
"""


def test_tokens_leave_out_names_and_numbers_of_one_program():
    written = tokens(CODE)
    assert {"at::vec::Vectorized<float>", "at::vec::convert<float,,half,>", "loadu", "*", "ivdep"} <= written
    assert {"kernel", "in_ptr", "tmp", "x", "buf", "arg", "torch.float32", "empty_strided_cpu"} <= written
    assert {"static_cast<int64_t>"} <= written
    joined = " ".join(written)
    for word in ("somewhere", "mine", "fused", "AOT", "tmp0", "128", "16"):
        assert word not in joined


@settings(deadline=None)
@given(st.integers(0, 99), st.integers(0, 99), st.sampled_from(["add", "mul_relu", "_softmax", "backward_0"]))
def test_numbers_and_names_of_kernels_do_not_count(first, second, operators):
    renumbered = CODE.replace("tmp0", f"tmp{first + 3}").replace("buf0", f"buf{second}").replace("128L", f"{second}L")
    assert tokens(renumbered.replace("add_relu_0", f"{operators}_{first}")) == tokens(CODE)


def test_names_and_numbers_of_the_program_are_removed_from_messages():
    text = "Call to `f.g` with 'x' of <class 'M'> at 0x7f00 failed 12 times  # file.py:3\n  Explanation: more"
    assert reason(text) == "Call to _ with _ of _ at 0 failed 0 times"


def test_counters_count_by_order_of_magnitude_without_caches_and_names_of_the_program():
    counts = {
        "inductor": {"pattern_matcher_count": 5, "fxgraph_cache_miss": 1, "benchmarking.f": 3, "zero": 0},
        "aten_mm_info": {"aten.mm_8_16_8": 1, "aten.mm_2_4_8": 1},
        "resumes": {"torch_dynamo_resume_in_mine_at_8": 1},
    }
    sentences = {sentence for sentence in counter_sentences(counts) if sentence}
    expected = {"counter inductor pattern_matcher_count 3", "counter aten_mm_info aten.mm_0_0_0 2", "counter resumes 1"}
    assert sentences == expected


def test_compiled_frame_has_features_of_guards_restarts_and_recompilations():
    metrics = {"guard_count": 9, "restart_reasons": {"Call to `f`\nmore"}, "recompile_reason": "0/0: 'x' is 3"}
    sentences = {sentence for sentence in compilation_sentences(metrics) if sentence}
    assert sentences == {"frame guard_count 4", "frame restart Call to _", "frame recompile_reason 0/0: _ is 0"}


@pytest.mark.parametrize(
    ("tensor", "name"),
    [
        (torch.ones(2, 3, 4), "contiguous"),
        (torch.ones(1, 3).t(), "contiguous"),
        (torch.ones(2, 3).t(), "permuted"),
        (torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last), "permuted"),
        (torch.ones(3, 1).expand(3, 4), "expanded"),
        (torch.ones(4, 4)[:, ::2], "gaps"),
        (torch.ones(0, 4), "empty"),
        (torch.ones(()), "contiguous"),
    ],
)
def test_layout_of_a_tensor_is_named(tensor, name):
    assert layout(tensor.shape, tensor.stride()) == name


@settings(deadline=None)
@given(st.permutations(range(4)), st.lists(st.integers(1, 4), min_size=4, max_size=4))
def test_dense_layouts_are_those_that_torch_calls_dense(order, sizes):
    tensor = torch.empty(sizes).permute(*order)
    kind = layout(tensor.shape, tensor.stride())
    assert kind == ("contiguous" if tensor.is_contiguous() else "permuted")


def test_counts_from_before_the_collection_are_ignored():
    from torch._dynamo.utils import counters

    forget_compiled_code()
    counters["inductor"]["pattern_matcher_count"] = 100
    signals = FeatureCollector()
    with signals.collecting():
        counters["inductor"]["pattern_matcher_count"] += 2
    forget_compiled_code()
    assert signals.features == [feature("counter inductor pattern_matcher_count 2")]


@settings(deadline=None)
@given(st.lists(st.integers(0, 3000)))
def test_bitmap_has_the_bit_of_each_line(lines):
    bits = bitmap(lines)
    assert {n for n in range(3001) if bits >> n & 1} == set(lines)


def test_only_lines_of_the_compiler_are_traced():
    texts: dict[str, str] = {}
    forget_compiled_code()
    with traced_lines(texts):
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
    forget_compiled_code()
    assert "_dynamo/symbolic_convert.py" in texts
    assert int(texts["_dynamo/symbolic_convert.py"], 16).bit_count() > 100
    assert not any("/" not in file or file.startswith(("..", "nn")) for file in texts)
    assert sys.gettrace() is None
