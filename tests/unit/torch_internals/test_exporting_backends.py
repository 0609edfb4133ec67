"""Backends that export AOTAutograd's graphs: results, gradients, what they do not take."""

import pytest
import torch

from eqfuzz.oracle.observe.exceptions import describe
from eqfuzz.run.configs.named import BUILT_IN
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.embedded import exporting_backends


def program(x, y):
    h = (x @ y).relu()
    return h.sin().sum(0), h.t()


def operands():
    return (
        torch.linspace(-1, 1, 20).reshape(4, 5).requires_grad_(),
        torch.linspace(0, 1, 30).reshape(5, 6).requires_grad_(),
    )


@pytest.mark.parametrize("name", ["export", pytest.param("aot_inductor", marks=pytest.mark.slow)])
def test_results_and_gradients_are_those_of_eager(name):
    forget_compiled_code()
    config = BUILT_IN[name]
    with config.patched():
        (total, view), own = config.compile(program)(*operands()), operands()
        expected, expected_view = program(*own)
        torch.testing.assert_close(total, expected)
        assert view.stride() == expected_view.stride()
        x, y = operands()
        gradients = torch.autograd.grad(config.compile(program)(x, y)[0].sum(), (x, y))
    torch.testing.assert_close(gradients, torch.autograd.grad(expected.sum(), own))


def test_an_argument_that_is_written_to_is_written_to():
    def f(x):
        x.add_(1)
        return x * 2

    forget_compiled_code()
    x = torch.zeros(3)
    assert torch.equal(BUILT_IN["export"].compile(f)(x), torch.full((3,), 2.0))
    assert torch.equal(x, torch.ones(3))


def test_a_graph_that_takes_sizes_is_unsupported():
    forget_compiled_code()
    dynamic = BUILT_IN["export"].model_copy(update={"dynamic": True})
    with pytest.raises(Exception, match="takes sizes") as caught:
        dynamic.compile(lambda x: x * x.shape[0])(torch.ones(3))
    assert describe(caught.value).origin == "unsupported"


def test_examples_have_the_offset_of_an_argument():
    """AOTInductor takes examples for the arguments, of whose storage the graph may take a view."""
    value = torch.arange(39.0)[3:].as_strided((6, 6), (1, 6), 3)
    example = exporting_backends._zeros_like(value)
    assert example.storage_offset() == 3
    assert example.stride() == (1, 6)
    assert example.untyped_storage().nbytes() >= 39 * 4
    assert exporting_backends._zeros_like(torch.ones(4, 0)[2:]).shape == (2, 0)
