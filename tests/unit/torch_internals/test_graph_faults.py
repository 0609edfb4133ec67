"""Faults in lowerings that only rewrites of graphs reach: the front end brings the same idiom in a program away."""

import contextlib
from unittest import mock

import pytest
import torch
from torch._inductor import lowering
from torch._inductor.virtualized import V

from eqfuzz.rewrite.graphs.applied_steps import applied_steps
from eqfuzz.rewrite.graphs.graph_step import GraphPoint, GraphStep
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.inductor import code_hook
from eqfuzz.torch_internals.options import patched, without_graph_caches

aten, prims = torch.ops.aten, torch.ops.prims
X = torch.linspace(-2, 2, 24).reshape(4, 6)


def constant(node, value):
    """Whether an operand is a number, or a tensor that is full of it."""
    if isinstance(node, torch.fx.Node):
        return node.target is aten.full.default and node.args[1] == value
    return node == value


def is_second(value):
    return lambda node: constant(node.args[1], value)


FAULTS = {
    "zero subtracted": (aten.sub.Tensor, is_second(0), "minus_zero", lambda x: x - 0),
    "multiplied by one": (aten.mul.Tensor, is_second(1), "times_one", lambda x: x * 1),
    "multiplied by ones": (aten.mul.Tensor, is_second(1), "times_ones", lambda x: x * torch.ones_like(x)),
    "divided by one": (aten.div.Tensor, is_second(1), "divided_by_one", lambda x: x / 1),
    "negative zero added": (
        aten.add.Tensor,
        is_second(0),
        "plus_negative_zero",
        lambda x: x + torch.full((), -0.0),
    ),
    "narrowed after it was widened": (
        prims.convert_element_type.default,
        lambda node: node.args[0].target is prims.convert_element_type.default,
        "widened_and_narrowed",
        lambda x: x.double().float(),
    ),
}


@contextlib.contextmanager
def planted(operator, condition):
    """The lowering adds one where the condition on its node holds; gives the list of these nodes."""
    met = []
    lower = lowering.lowerings[operator]

    def wrong(*args, **kwargs):
        result = lower(*args, **kwargs)
        if not condition(V.graph.current_node):
            return result
        met.append(V.graph.current_node.name)
        return lowering.lowerings[aten.abs.default](lowering.lowerings[aten.exp.default](result))

    with mock.patch.dict(lowering.lowerings, {operator: wrong}), without_graph_caches():
        yield met


class CodeWritten(Exception):
    """Raised in place of building code."""


def stop(code):
    raise CodeWritten


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_met_by_a_rewrite_of_the_graph_and_not_by_the_program(fault):
    operator, condition, rule, idiom = FAULTS[fault]
    forget_compiled_code()
    with planted(operator, condition) as met, patched(inductor={"compile_threads": 1}):
        with code_hook(stop), pytest.raises(Exception, match="CodeWritten"):
            torch.compile(lambda x: idiom(x.sin()).cos())(X)
        assert not met
        forget_compiled_code()
        with applied_steps([GraphStep(GraphPoint.POST_GRAD, rule, 1)]) as applied:
            wrong = torch.compile(lambda x: x.sin().cos())(X)
        assert applied()
        assert met
    assert not torch.allclose(wrong, X.sin().cos(), rtol=1e-2)
