"""The contract with torch's private names: they exist and mean what eqfuzz takes them to mean."""

import inspect

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from eqfuzz.program.torch_internals import (
    compilations,
    dynamo_same,
    forget_compiled_code,
    inductor_backend,
    is_inside_transform,
    modes_are_active,
    overloads_of,
    rounding_as_eager,
    storage_key,
    undispatched,
    without_autograd_cache,
)


def test_storage_keys():
    x = torch.ones(4, 4)
    assert storage_key(x) == storage_key(x.t()) == storage_key(x[1:]) == storage_key(x.detach())
    assert storage_key(x) != storage_key(x.clone())


def test_compilations_are_counted():
    forget_compiled_code()
    assert compilations() == {"graphs": 0, "graph_breaks": 0, "recompiles": 0}

    def broken(x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

    function = torch.compile(broken, backend="eager")
    function(torch.ones(3))
    once = compilations()
    assert once["graphs"] >= 1 and once["graph_breaks"] >= 1 and once["recompiles"] == 0
    function(torch.ones(3, dtype=torch.float64))
    assert compilations()["recompiles"] >= 1
    forget_compiled_code()
    assert compilations()["graphs"] == 0


def test_function_transforms():
    seen = []
    torch.vmap(lambda t: seen.append(is_inside_transform(t)) or t)(torch.ones(3))
    torch.func.grad(lambda t: seen.append(is_inside_transform(t)) or t.sum())(torch.ones(3))
    assert seen == [True, True] and not is_inside_transform(torch.ones(3))


def test_modes():
    assert not modes_are_active()
    with TorchDispatchMode():
        assert modes_are_active()
    seen = []
    torch.func.grad(lambda t: seen.append(modes_are_active()) or t.sum())(torch.ones(3))
    assert seen == [True] and not modes_are_active()


def test_compiled_code_is_forgotten():
    compiled = []

    def backend(graph, inputs):
        compiled.append(graph)
        return graph.forward

    function = torch.compile(lambda x: x + 1, backend=backend)
    function(torch.ones(2))
    function(torch.ones(2))
    assert len(compiled) == 1
    forget_compiled_code()
    function(torch.ones(2))
    assert len(compiled) == 2


def test_overloads_and_their_schemas():
    found = {name: (schema, tags) for name, schema, tags in overloads_of("bernoulli")}
    schema, tags = found["bernoulli.p"]
    assert [(a.name, str(a.type), a.kwarg_only) for a in schema.arguments][:2] == [
        ("self", "Tensor", False),
        ("p", "float", False),
    ]
    assert torch.Tag.nondeterministic_seeded in tags
    assert [a.name for a in found["bernoulli.out"][0].arguments if a.is_out] == ["out"]
    assert overloads_of("no_such_operator") == [] and overloads_of("__name__") == []


def test_what_is_dispatched_on_a_bool():
    def names(function):
        return list(inspect.signature(undispatched(function)).parameters)

    assert names(torch.nn.functional.max_pool2d)[:2] == ["input", "kernel_size"]
    assert undispatched(torch.nn.functional.relu) is torch.nn.functional.relu


@pytest.mark.slow
def test_graphs_on_their_way_through_inductor():
    seen, given = [], []

    def inner(compile_graph):
        def wrapped(graph, example_inputs, **more):
            seen.append(([str(node.target) for node in graph.graph.nodes if node.op == "call_function"], more))
            compiled = compile_graph(graph, example_inputs, **more)

            def run(inputs):
                given.append(type(inputs))
                return compiled(inputs)

            run._boxed_call = True
            return run

        return wrapped

    backend = inductor_backend(inner, None, {"max_autotune": False}, None)
    forget_compiled_code()
    with without_autograd_cache(), rounding_as_eager():
        assert torch.compile(lambda x: x * 3, backend=backend)(torch.tensor(2.0)) == 6
    ((targets, more),) = seen
    assert targets == ["aten.mul.Tensor"] and more["is_inference"] and not more.get("is_backward")
    assert given == [list]


def test_dynamo_same_asks_for_a_relative_closeness_and_excuses_what_the_float64_run_excuses():
    values = torch.linspace(1, 2, 20)
    assert dynamo_same(values, values * (1 + 1e-5), values.double())
    assert not dynamo_same(values, values * (1 + 1e-3), values.double())
    assert dynamo_same(values * (1 + 1e-3), values, values.double())
    assert not dynamo_same(values, values.double(), values.double())
