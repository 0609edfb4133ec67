"""What Dynamo counts, and forgets."""

import torch

from eqfuzz.torch_internals.dynamo import compilations, count_unbacked_graphs, dynamo_same, forget_compiled_code


def test_compilations_are_counted():
    forget_compiled_code()
    assert compilations() == {"graphs": 0, "unbacked_graphs": 0, "graph_breaks": 0, "recompiles": 0}

    def broken(x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

    function = torch.compile(broken, backend="eager")
    function(torch.ones(3))
    once = compilations()
    assert once["graphs"] >= 1
    assert once["graph_breaks"] >= 1
    assert once["recompiles"] == 0
    function(torch.ones(3, dtype=torch.float64))
    assert compilations()["recompiles"] >= 1
    forget_compiled_code()
    assert compilations()["graphs"] == 0


def test_graphs_with_unbacked_symbols_are_counted():
    count_unbacked_graphs()
    forget_compiled_code()
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
    assert compilations()["unbacked_graphs"] == 0
    nonzero = torch.compile(lambda x: torch.nonzero(x).sum(), backend="eager")
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        nonzero(torch.ones(3))
    assert compilations()["unbacked_graphs"] == 1
    forget_compiled_code()
    assert compilations()["unbacked_graphs"] == 0


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


def test_dynamo_same_asks_for_a_relative_closeness_and_excuses_what_the_float64_run_excuses():
    values = torch.linspace(1, 2, 20)
    assert dynamo_same(values, values * (1 + 1e-5), values.double())
    assert not dynamo_same(values, values * (1 + 1e-3), values.double())
    assert dynamo_same(values * (1 + 1e-3), values, values.double())
    assert not dynamo_same(values, values.double(), values.double())
