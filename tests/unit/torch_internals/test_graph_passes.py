"""Which pattern of a pass does it, or which operators a pass without patterns takes out."""

import operator
from collections import Counter

import torch
from torch._inductor.pattern_matcher import Arg, CallFunction, PatternMatcherPass, register_graph_pattern
from torch.fx.passes.graph_transform_observer import GraphTransformObserver

from eqfuzz.run.messages.finding_jobs import BisectorResult
from eqfuzz.torch_internals import graph_passes
from eqfuzz.torch_internals.contract import PrivateName
from eqfuzz.torch_internals.graph_passes import change_of, watched_pass
from eqfuzz.triage.findings.stage import Blame


class Adding(torch.nn.Module):
    def forward(self, x):
        return torch.sin(torch.cos(x)) + torch.tan(x)


PATTERNS = PatternMatcherPass("planted")


@register_graph_pattern(CallFunction(torch.sin, Arg()), pass_dict=PATTERNS)
def sine_as_cosine(match, x):
    match.output_node().target = torch.cos


@register_graph_pattern(CallFunction(torch.tan, Arg()), pass_dict=PATTERNS)
def tangent_as_itself(match, x):
    match.output_node().meta["seen"] = True


def fold(module):
    (tangent,) = (node for node in module.graph.nodes if node.target is torch.tan)
    tangent.replace_all_uses_with(tangent.args[0])
    module.graph.erase_node(tangent)


class Compiling:
    """Runs passes over a graph; ``wrong`` looks at what comes out."""

    def __init__(self, wrong):
        self.wrong = wrong
        self.asked = 0

    def __call__(self):
        self.asked += 1
        module = torch.fx.symbolic_trace(Adding())
        GraphTransformObserver(module, "pass_pattern_0").apply_graph_pass(PATTERNS.apply)
        GraphTransformObserver(module, "planted_folding").apply_gm_pass(fold)
        return not self.wrong(Counter(node.target for node in module.graph.nodes))


def test_faulty_pattern_is_named():
    compiling = Compiling(lambda operators: not operators[torch.sin])
    assert change_of("pass_pattern_0", compiling) == "sine_as_cosine"


def test_all_patterns_are_named_where_no_single_one_is_faulty():
    compiling = Compiling(lambda _: True)
    assert change_of("pass_pattern_0", compiling) == "sine_as_cosine, tangent_as_itself"
    assert compiling.asked == 3


def test_folded_operators_are_named():
    compiling = Compiling(lambda operators: not operators[torch.tan])
    assert change_of("planted_folding", compiling) == "tan"
    assert compiling.asked == 1


def test_torch_without_the_hooks_is_not_watched(monkeypatch):
    monkeypatch.setattr(graph_passes, "GRAPH_PASSES", (PrivateName("torch.fx.passes:gone", "watches"),))
    compiling = Compiling(lambda _: True)
    assert change_of("pass_pattern_0", compiling) == ""
    assert compiling.asked == 0


def test_another_pass_is_left_alone():
    with watched_pass("another", without={"sine_as_cosine"}) as seen:
        assert not Compiling(lambda operators: not operators[torch.sin])()
    assert not seen.patterns
    assert not seen.removed
    assert change_of("another", Compiling(operator.not_)) == ""


def test_faulty_part_of_a_pass_is_in_the_place():
    blame = Blame.of(
        BisectorResult(
            backend="inductor",
            subsystem="joint_graph_passes",
            bisect_number=2,
            debug_info="pass_pattern_0",
            change="sine_as_cosine",
        )
    )
    assert blame.in_words() == "Inductor, joint_graph_passes: pass_pattern (sine_as_cosine)"
