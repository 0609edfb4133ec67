"""Rewrites of Inductor's graphs: where they apply, and that each graph computes the same before and after."""

import random

import pytest
import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

from eqfuzz.rewrite.graphs.applied_steps import applied_steps
from eqfuzz.rewrite.graphs.graph_rule import shipped_graph_rules
from eqfuzz.rewrite.graphs.graph_step import GraphPoint, GraphStep, draw_steps, graph_declarations
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.embedded import graph_rewriter
from eqfuzz.torch_internals.inductor import code_hook
from eqfuzz.torch_internals.options import patched
from tools.graph_survival import programs

RULES = shipped_graph_rules()
ADDING = ("reductions", "matrices", "images")
"""Programs that add up in another order where an operand has other strides."""

X = torch.arange(24.0).reshape(4, 6) - 7


class CodeWritten(Exception):
    """Raised in place of building code."""


def stop(code):
    raise CodeWritten


def compiled(function, *operands, steps=(), build=True, dynamic=None):
    """The result under the steps, or None where nothing is to be built, and how many were applied."""
    forget_compiled_code()
    with applied_steps(steps) as applied, patched(inductor={"compile_threads": 1}):
        if build:
            return torch.compile(function, dynamic=dynamic)(*operands), len(applied())
        with code_hook(stop), torch.no_grad(), pytest.raises(Exception, match="CodeWritten"):
            torch.compile(function, dynamic=dynamic)(*operands)
        return None, len(applied())


def run_as_it_is(graph, module):
    """The outputs of a graph in eager, on inputs of the sizes that it was traced with."""
    inputs = []
    with unset_fake_temporarily(), torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        for node in graph.nodes:
            if node.op == "placeholder":
                value = node.meta.get("val", node.meta.get("example_value"))
                drawn = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
                inputs.append(
                    drawn.normal_() if value.is_floating_point() else drawn.copy_(torch.randint(1, 3, value.shape))
                )
        return torch.utils._pytree.tree_leaves(torch.fx.GraphModule(module, graph)(*inputs))


def nan_as_zero(value):
    return torch.where(value.isnan(), torch.zeros_like(value), value)


@pytest.fixture
def before_and_after(monkeypatch):
    """The rule and the outputs in eager, before and after, of each rewrite of a graph."""
    pairs = []
    rewrite = graph_rewriter.rewrite_graph

    def watched(graph, form, *arguments, captured=False):
        before = torch.fx.Graph()
        before.output(before.graph_copy(graph, {}))
        for new, old in zip(before.nodes, graph.nodes, strict=True):
            new.meta = old.meta
        done = rewrite(graph, form, *arguments, captured=captured)
        if done:
            graph.lint()
            module = graph.owning_module
            pairs.append((form.__name__, run_as_it_is(before, module), run_as_it_is(graph, module)))
        return done

    monkeypatch.setattr(graph_rewriter, "rewrite_graph", watched)
    return pairs


@pytest.mark.parametrize("point", GraphPoint)
@pytest.mark.parametrize("program", programs(), ids=lambda program: program[0].__name__)
def test_a_graph_computes_the_same_before_and_after(program, point, before_and_after):
    function, operands = program
    steps = [GraphStep(point, one.name, 5) for one in graph_declarations() if point in one.points]
    compiled(function, *operands, steps=steps, build=False)
    assert len(before_and_after) > 20
    for name, before, after in before_and_after:
        for one, other in zip(before, after, strict=True):
            if RULES[name].exact is Exactness.BITWISE and function.__name__ not in ADDING:
                assert torch.equal(nan_as_zero(one), nan_as_zero(other)), name
            else:
                torch.testing.assert_close(one, other, msg=name)


@pytest.mark.parametrize("point", GraphPoint)
def test_a_rewritten_program_gives_equal_results(point):
    def f(x):
        return (x.sin() + 1).sum(0), x.t()

    (total, view), applied = compiled(f, X, steps=[GraphStep(point, "transposed_in_memory")])
    assert applied == 1
    torch.testing.assert_close(total, f(X)[0])
    assert view.stride() == f(X)[1].stride()
    assert view.untyped_storage().data_ptr() == X.untyped_storage().data_ptr()


def test_backward_graphs_are_rewritten_too():
    x = X.clone().requires_grad_()
    forget_compiled_code()
    with applied_steps([GraphStep(GraphPoint.POST_GRAD, "negated_twice")]) as applied:
        torch.compile(lambda x: (x * x.sin()).sum())(x).backward()
    assert len(applied()) == 2
    own = X.clone().requires_grad_()
    (own * own.sin()).sum().backward()
    torch.testing.assert_close(x.grad, own.grad)


def test_operands_that_are_written_to_or_viewed_are_left_alone_in_captured_graphs():
    def f(x):
        y = x.clone()
        y.add_(1)
        view = y.t()
        view.mul_(2)
        return y

    result, _ = compiled(f, X, steps=[GraphStep(GraphPoint.PRE_GRAD, "copied", place) for place in range(6)])
    assert torch.equal(result, f(X))


def test_results_keep_their_strides():
    def f(x):
        return x.transpose(0, 1).sin(), x.cos()

    steps = [GraphStep(point, "row_major", place) for point in GraphPoint for place in range(3)]
    result, applied = compiled(f, torch.rand(3, 4, 5), steps=steps)
    assert applied
    assert [one.stride() for one in result] == [one.stride() for one in f(torch.rand(3, 4, 5))]


def test_graphs_with_symbolic_sizes_are_rewritten():
    def f(x):
        return x.sin() + 1

    steps = [GraphStep(GraphPoint.POST_GRAD, "flattened"), GraphStep(GraphPoint.LOWERING, "joined_of_two")]
    forget_compiled_code()
    with applied_steps(steps) as applied:
        function = torch.compile(f, dynamic=True)
        for x in (X, X[:3], X[:, :2].clone()):
            torch.testing.assert_close(function(x), f(x))
    assert applied() == steps


def test_an_unknown_rule_is_an_error():
    with pytest.raises(KeyError, match="nothing"), applied_steps([GraphStep(GraphPoint.JOINT, "nothing")]):
        pass


def test_drawn_steps_depend_on_the_generator_alone():
    steps = draw_steps(random.Random(3), 200)
    assert steps == draw_steps(random.Random(3), 200)
    assert {step.point for step in steps} == set(GraphPoint)
    operators = {one.name for one in graph_declarations() if one.on}
    assert not [step for step in steps if step.point is GraphPoint.PRE_GRAD and step.rule in operators]
    assert 60 < sum(step.rule in operators for step in steps) < 140
