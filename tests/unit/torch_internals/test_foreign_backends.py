"""Backends that run AOTAutograd's graphs as ONNX in another process: results, gradients, what they do not take."""

import sys

import pytest
import torch

from eqfuzz.oracle.observe.exceptions import describe
from eqfuzz.run.configs.named import BUILT_IN, choose
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.embedded.exporting_backends import UnsupportedGraph
from eqfuzz.torch_internals.embedded.foreign_backends import _refuse_dtypes

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

CONFIG = BUILT_IN["onnxruntime"]


@pytest.fixture(autouse=True)
def interpreter(monkeypatch):
    monkeypatch.setenv("EQFUZZ_ONNXRUNTIME_PYTHON", sys.executable)
    forget_compiled_code()


def compiled(program, *args):
    with CONFIG.patched():
        return CONFIG.compile(program)(*args)


def test_results_layouts_and_gradients_are_those_of_eager():
    def program(x, y):
        h = (x @ y).relu()
        return h.sin().sum(0), h.t(), h.t()

    def operands():
        return (
            torch.linspace(-1, 1, 20).reshape(4, 5).requires_grad_(),
            torch.linspace(0, 1, 30).reshape(5, 6).requires_grad_(),
        )

    own, expected_own = operands(), operands()
    results, expected = compiled(program, *own), program(*expected_own)
    torch.testing.assert_close(results, expected)
    assert [one.stride() for one in results] == [one.stride() for one in expected]
    gradients = torch.autograd.grad(results[0].sum(), own)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected[0].sum(), expected_own))


def test_results_whose_elements_share_memory_are_laid_out_so():
    def program(x):
        return torch.nn.functional.normalize(x, dim=1).sin().sum()

    own, expected_own = (torch.linspace(-1, 1, 24).reshape(4, 6).requires_grad_() for _ in range(2))
    compiled(program, own).backward()
    program(expected_own).backward()
    torch.testing.assert_close(own.grad, expected_own.grad)


def test_dtype_that_a_compiler_computes_in_another_is_unsupported():
    with pytest.raises(UnsupportedGraph, match="openvino computes torch"):
        _refuse_dtypes([torch.zeros(2, dtype=torch.float64)], "openvino")
    _refuse_dtypes([torch.zeros(2, dtype=torch.float64)], "onnxruntime")
    with pytest.raises(UnsupportedGraph, match="complex64"):
        _refuse_dtypes([torch.zeros(2, dtype=torch.complex64)], "onnxruntime")


def test_an_argument_that_is_written_to_is_written_to():
    def program(x):
        x.add_(1)
        return x * 2

    x = torch.zeros(3)
    assert torch.equal(compiled(program, x), torch.full((3,), 2.0))
    assert torch.equal(x, torch.ones(3))


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float16, torch.float64])
def test_dtypes_and_lazy_negation_travel(dtype):
    values = torch.tensor([[0, 1], [1, 1]]).to(dtype)
    assert torch.equal(compiled(lambda x: (x.t().flip(0), x[0, 0]), values)[0], values.t().flip(0))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: x.bfloat16() + 1, r"torch\.bfloat16, which numpy does not have"),
        (lambda x: x + torch.rand(3), "random numbers as torch draws them"),
        (lambda x: torch.special.airy_ai(x), "torch.onnx does not support the graph"),
    ],
)
def test_what_the_backend_does_not_take_is_unsupported(program, message):
    with pytest.raises(Exception, match=message) as caught:
        compiled(program, torch.ones(3))
    assert describe(caught.value).origin == "unsupported"


def test_a_backward_graph_that_it_does_not_take_is_unsupported():
    class Drawn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return torch.special.airy_ai(gradient)

    result = compiled(lambda x: Drawn.apply(x).sum(), torch.ones(3, requires_grad=True))
    with pytest.raises(Exception, match="does not support") as caught:
        result.backward()
    assert describe(caught.value).origin == "unsupported"


def test_a_process_that_dies_is_an_error_of_the_compiler(monkeypatch):
    monkeypatch.setenv("EQFUZZ_OPENVINO_PYTHON", "/bin/false")
    config = BUILT_IN["openvino"]
    with config.patched(), pytest.raises(Exception, match="the process of openvino ended with status 1") as caught:
        config.compile(lambda x: x + 1)(torch.ones(3))
    assert describe(caught.value).origin == "compiler"


def test_a_compiler_that_is_not_installed_is_one_line(monkeypatch):
    monkeypatch.setenv("EQFUZZ_TVM_RELAX_PYTHON", "/nowhere/python")
    with pytest.raises(ValueError, match=r"tvm_relax is not installed: there is no /nowhere/python; make backends"):
        choose(["tvm_relax"], BUILT_IN)
    assert "tvm_relax" not in {config.name for config in choose(["all"], BUILT_IN)}
