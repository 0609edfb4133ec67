"""Between AOTAutograd and Inductor, and between Inductor and the code that it generates."""

import pytest
import torch

from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.inductor import code_hook, inductor_backend, takes_one_list
from eqfuzz.torch_internals.options import rounding_as_eager, without_autograd_cache


@pytest.mark.slow
def test_graph_hook_gets_graphs_before_lowering():
    seen, input_types = [], []

    def inner(compile_graph):
        def wrapped(graph, example_inputs, **more):
            seen.append(([str(node.target) for node in graph.graph.nodes if node.op == "call_function"], more))
            compiled = compile_graph(graph, example_inputs, **more)

            def run(inputs):
                input_types.append(type(inputs))
                return compiled(inputs)

            return takes_one_list(run)

        return wrapped

    backend = inductor_backend(inner, None, {"max_autotune": False}, None)
    forget_compiled_code()
    with without_autograd_cache(), rounding_as_eager():
        assert torch.compile(lambda x: x * 3, backend=backend)(torch.tensor(2.0)) == 6
    ((targets, more),) = seen
    assert targets == ["aten.mul.Tensor"]
    assert more["is_inference"]
    assert not more.get("is_backward")
    assert input_types == [list]


@pytest.mark.slow
def test_code_hook_gets_code_before_it_is_built():
    codes = []

    def compile_once():
        forget_compiled_code()
        torch.compile(lambda x: x * 3)(torch.ones(2))

    with code_hook(codes.append), code_hook(lambda code: None):
        compile_once()
    assert codes == []
    with code_hook(codes.append):
        with code_hook(lambda code: None):
            pass
        compile_once()
    compile_once()
    assert len(codes) == 1
    assert "async_compile" in codes[0]
