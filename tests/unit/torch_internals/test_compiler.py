"""The contract with torch's private names: they exist and mean what eqfuzz takes them to mean."""

import inspect
import json
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from eqfuzz.torch_internals.bisector import application, bisected, switched_off
from eqfuzz.torch_internals.cpp_kernels import put_builds_in_place_whole
from eqfuzz.torch_internals.dynamo import compilations, dynamo_same, forget_compiled_code
from eqfuzz.torch_internals.inductor import inductor_backend
from eqfuzz.torch_internals.modes import is_inside_transform, modes_are_active
from eqfuzz.torch_internals.operators import overloads_of, undispatched
from eqfuzz.torch_internals.options import rounding_as_eager, without_autograd_cache
from eqfuzz.torch_internals.tensors import storage_key


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


@pytest.mark.parametrize(
    ("detail", "name"),
    [
        ("amin", "amin"),
        ("amin_12", "amin"),
        ("max_pool2d_with_indices_1", "max_pool2d_with_indices"),
        (repr(torch.ops.aten.addcmul.default), "aten.addcmul.default"),
        (repr(torch.ops.aten.sum.dim_IntList), "aten.sum.dim_IntList"),
        ("aten.sum.dim_IntList", "aten.sum.dim_IntList"),
        ("", ""),
    ],
)
def test_applications_are_named_without_their_number(detail, name):
    assert application(detail) == name


@pytest.fixture
def wrong_amin(monkeypatch):
    """Inductor's lowering of amin gives one too much, and that of amax too."""
    from torch._inductor import lowering

    for name in ("amin", "amax"):
        right = lowering.lowerings[getattr(torch.ops.aten, name).default]

        def wrong(*args, right=right, **kwargs):
            return lowering.lowerings[torch.ops.aten.add.Tensor](right(*args, **kwargs), 1)

        monkeypatch.setitem(lowering.lowerings, getattr(torch.ops.aten, name).default, wrong)
    forget_compiled_code()
    yield
    forget_compiled_code()


X = torch.arange(12.0).reshape(3, 4)


def compiled(function, backend="inductor"):
    forget_compiled_code()
    return torch.compile(function, backend=backend)(X)


@pytest.mark.slow
def test_the_bisector_names_the_lowering(wrong_amin):
    def program(x):
        return (x * 2).amin(0) + x.exp().amin()

    eager, asked = program(X), []

    def is_right():
        asked.append(torch.equal(compiled(program), eager))
        return asked[-1]

    found = bisected(is_right)
    assert found is not None and (found["backend"], found["subsystem"]) == ("inductor", "lowerings")
    assert application(found["debug_info"]) == "amin" and isinstance(found["bisect_number"], int)
    assert json.loads(json.dumps(found)) == found
    assert False in asked and len(asked) <= 40
    assert not is_right(), "the bisector is still on"


@pytest.mark.slow
def test_what_is_always_right_has_nothing_to_blame():
    assert bisected(lambda: True) is None


@pytest.mark.slow
def test_the_backend_alone_is_blamed_where_it_has_no_parts():
    def program(x):
        return x + torch.compiler.is_compiling()

    found = bisected(lambda: torch.equal(program(X), torch.compile(program, backend="eager")(X)))
    assert found is None or found["subsystem"] is None
    found = bisected(lambda: False)
    assert found is not None and found["backend"] == "eager" and found["subsystem"] is None


@pytest.mark.slow
def test_what_is_switched_off_is_right_and_only_that(wrong_amin):
    def of(name):
        return lambda x: getattr(x.exp(), name)() + getattr(x, name)(0)

    amin, amax = of("amin"), of("amax")
    assert not torch.equal(compiled(amin), amin(X)) and not torch.equal(compiled(amax), amax(X))
    with switched_off("lowerings", "amin"):
        assert torch.equal(compiled(amin), amin(X))
        assert not torch.equal(compiled(amax), amax(X))
    with switched_off("lowerings", "add"), switched_off("post_grad_passes", "amin"):
        assert not torch.equal(compiled(amin), amin(X))
    assert not torch.equal(compiled(amin), amin(X)), "it is still switched off"


@pytest.mark.slow
def test_decompositions_are_switched_off():
    seen = []

    def backend(graph, inputs):
        from torch._dynamo.backends.common import aot_autograd
        from torch._inductor.decomposition import select_decomp_table

        def look(inner, _):
            seen.append({str(node.target) for node in inner.graph.nodes if node.op == "call_function"})
            return inner.forward

        return aot_autograd(fw_compiler=look, decompositions=select_decomp_table())(graph, inputs)

    def program(x):
        return torch.nn.functional.gelu(x)

    compiled(program, backend)
    with switched_off("decomposition", "aten.gelu.default"):
        compiled(program, backend)
    with switched_off("decomposition", "aten.addcmul.default"):
        compiled(program, backend)
    assert ["aten.gelu.default" in targets for targets in seen] == [False, True, False]


def test_options_are_switched_off_and_put_back():
    import torch._functorch.config as functorch_config
    import torch._inductor.config as inductor_config

    before = inductor_config.layout_optimization, inductor_config.comprehensive_padding, functorch_config.cse
    with switched_off("inductor_layout_optimization", "of no account"):
        assert inductor_config.layout_optimization is False
        assert inductor_config.comprehensive_padding == before[1] and functorch_config.cse == before[2]
    with switched_off("aot_eager_decomp_partition_cse", ""):
        assert functorch_config.cse is False
    assert (inductor_config.layout_optimization, inductor_config.comprehensive_padding, functorch_config.cse) == before


def test_a_part_that_this_torch_does_not_have():
    with pytest.raises(ValueError, match="no 'loweringz'"), switched_off("loweringz", "amin"):
        pass


def test_what_is_built_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    from torch._inductor import cpp_builder

    seen = []

    def compile_half(command, cwd):
        making = command.split(" -o ")[1].split()[0]
        Path(making).write_text("half")
        seen.append((target.exists(), making))
        if len(seen) == 1:
            raise RuntimeError("no room")

    source = tmp_path / "a.cpp"
    source.write_text("int answer() { return 42; }\n")
    monkeypatch.setattr(cpp_builder.CppBuilder, "build", cpp_builder.CppBuilder.build)
    monkeypatch.setattr(cpp_builder, "run_compile_cmd", compile_half)
    put_builds_in_place_whole()
    options = cpp_builder.CppOptions()
    builder = cpp_builder.CppBuilder("a", str(source), options, str(tmp_path))
    target = Path(builder.get_target_file_path())
    command = builder.get_command_line()
    with pytest.raises(RuntimeError, match="no room"):
        builder.build()
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.cpp"]
    builder.build()
    assert [there for there, _ in seen] == [False, False]
    assert target.read_text() == "half"
    assert builder.get_command_line() == command
