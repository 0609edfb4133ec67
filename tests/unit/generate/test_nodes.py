"""Nodes of program graphs: what each depends on, in topological order; and the picture drawn from them."""

import re

import pytest

from eqfuzz.generate.dag.generate import ProgramGenerator
from eqfuzz.generate.dag.graph.graph import Assign, Block, Compound, Effect, Expr, Graph, Leaf, Storage, Value
from eqfuzz.generate.dag.graph.graphviz import dot
from eqfuzz.generate.dag.graph.nodes import NodeGraph
from eqfuzz.generate.dag.template import shipped_templates
from eqfuzz.generate.dag.values.spec import Range, Spec

TEMPLATES = shipped_templates()


def value(name, storage=None):
    return Value(Spec((2,), "float32"), Range(0, 1), storage or Storage(), name=name)


def graph_of(leaves, statements, *results):
    return Graph([Leaf("input", one, "") for one in leaves], {}, Block(statements=statements), Expr("", results))


def read(*values, operator="torch.add"):
    return Expr("".join(f"{{{number}}}" for number in range(len(values))), values, operator=operator)


def inputs_by_name(graph):
    nodes = NodeGraph.of(graph).nodes
    return {
        node.name or node.operator or node.kind: {nodes[one].name or nodes[one].operator for one in node.inputs}
        for node in nodes.values()
    }


def test_value_of_a_branch_depends_on_both_sides_and_the_test():
    x, y, chosen, result = value("x"), value("y"), value("chosen"), value("result")
    first, other = Assign((chosen,), read(x, operator="torch.sin")), Assign((chosen,), read(y, operator="torch.cos"))
    test = Compound(read(x, operator="if values"), Block(statements=[first]), orelse=Block(statements=[other]))
    graph = graph_of([x, y], [test, Assign((result,), read(chosen))], result)
    graph.result = read(result, operator="")
    picture = dot(NodeGraph.of(graph), "picture")
    ids = {
        name: re.search(rf'(n\d+) \[label="{name}', picture)[1]
        for name in ("chosen = torch.sin", "chosen = torch.cos", "result", "if values")
    }
    for source in ("chosen = torch.sin", "chosen = torch.cos", "if values"):
        assert f"{ids[source]} -> {ids['result']};" in picture


def test_reader_of_a_view_depends_on_writes_to_what_it_views():
    memory = Storage()
    x, view, result = value("x"), value("view", memory), value("result")
    base = value("base", memory)
    statements = [
        Assign((base,), read(x)),
        Assign((view,), read(base, operator="torch.view")),
        Effect(read(base, x, operator="torch.mul"), base),
        Assign((result,), read(view)),
    ]
    graph = graph_of([x], statements, result)
    nodes = NodeGraph.of(graph)
    reader = next(node for node in nodes.nodes.values() if node.name == "result")
    assert {nodes.nodes[one].kind for one in reader.inputs} == {"operator", "write"}


@pytest.mark.parametrize("template", TEMPLATES)
def test_nodes_are_in_topological_order_with_the_operators_of_the_program(template):
    generator = ProgramGenerator(TEMPLATES[template])
    for seed in range(40):
        program = generator.generate(seed)
        nodes = NodeGraph.of(program.graph)
        before = set()
        for node in nodes.nodes.values():
            assert before.issuperset(node.inputs)
            assert before.issuperset(node.blocks)
            before.add(node.id)
        assert nodes.topological_order[-1] == nodes.root
        assert [node.operator for node in nodes.nodes.values() if node.operator] == list(program.operators)
        assert all(not nodes.nodes[leaf].inputs for leaf in nodes.leaves)
        assert nodes.depth >= 1


@pytest.mark.parametrize("template", ["default", "control-flow", "inplace-alias"])
def test_inputs_have_the_names_of_the_parameters(template):
    generator = ProgramGenerator(TEMPLATES[template])
    for seed in range(40):
        program = generator.generate(seed)
        parameters = re.search(r"def (?:program|forward)\((.*)\):", program.source)[1].split(", ")
        nodes = NodeGraph.of(program.graph).nodes.values()
        names = [node.name for node in nodes if node.kind == "input"]
        dims = set(program.graph.dims)
        assert names == [name for name in parameters if name not in {"", "self", *dims}], program.source


def test_graph_has_the_result_that_was_asked_for():
    import random

    from eqfuzz.generate.dag.graph.code import code
    from eqfuzz.generate.dag.values.draw import Draw
    from eqfuzz.program.formats import recognise
    from eqfuzz.program.load import Loaded

    generator = ProgramGenerator(TEMPLATES["default"].model_copy(update={"dynamic": 0.0}))
    for seed in range(20):
        draw = Draw(random.Random(seed))
        spec = generator.spec(draw) if seed % 2 else Spec((2, 3), "float32")
        graph = generator.graph_of(spec, draw)
        assert graph.operators
        loaded = Loaded(recognise(code(graph, draw, "A program."), "asked"))
        (call,) = loaded.calls(seed=0)
        result = loaded.instance()(*call.args, **call.kwargs)
        assert list(result.shape) == list(spec.size)
        assert str(result.dtype) == f"torch.{spec.dtype}"
