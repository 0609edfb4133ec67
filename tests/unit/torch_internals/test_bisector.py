"""Torch's bisector: what it blames, what its names mean, and the compiler without a part of it."""

import json

import pytest
import torch

from eqfuzz.torch_internals.bisector import application, bisected, switched_off
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.options import config_module, values_of


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
def test_applications_of_a_pass_are_named_without_their_number(detail, name):
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

    eager, trials = program(X), []

    def is_right():
        trials.append(torch.equal(compiled(program), eager))
        return trials[-1]

    component = bisected(is_right)
    assert component is not None
    assert (component["backend"], component["subsystem"]) == ("inductor", "lowerings")
    assert application(component["debug_info"]) == "amin"
    assert isinstance(component["bisect_number"], int)
    assert json.loads(json.dumps(component)) == component
    assert False in trials
    assert len(trials) <= 40
    assert not is_right(), "the bisector is still on"


@pytest.mark.slow
def test_nothing_is_at_fault_where_all_is_right():
    assert bisected(lambda: True) is None


@pytest.mark.slow
def test_only_the_backend_is_at_fault_where_it_has_no_subsystems():
    def program(x):
        return x + torch.compiler.is_compiling()

    component = bisected(lambda: torch.equal(program(X), torch.compile(program, backend="eager")(X)))
    assert component is None or component["subsystem"] is None
    component = bisected(lambda: False)
    assert component is not None
    assert component["backend"] == "eager"
    assert component["subsystem"] is None


@pytest.mark.slow
def test_only_the_switched_off_component_is_skipped(wrong_amin):
    def of(name):
        return lambda x: getattr(x.exp(), name)() + getattr(x, name)(0)

    amin, amax = of("amin"), of("amax")
    assert not torch.equal(compiled(amin), amin(X))
    assert not torch.equal(compiled(amax), amax(X))
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


@pytest.mark.parametrize(
    ("subsystem", "module", "option", "value"),
    [
        ("inductor_emulate_precision_casts", "inductor", "emulate_precision_casts", True),
        ("aot_eager_decomp_partition_cse", "functorch", "cse", False),
    ],
)
def test_options_are_switched_off_and_put_back(subsystem: str, module: str, option: str, value: bool):
    before = [values_of(config_module(name)) for name in ("inductor", "functorch")]
    assert getattr(config_module(module), option) is not value
    with switched_off(subsystem, "of no account"):
        assert getattr(config_module(module), option) is value
    assert [values_of(config_module(name)) for name in ("inductor", "functorch")] == before


def test_unknown_subsystem_is_an_error():
    with pytest.raises(ValueError, match="no 'loweringz'"), switched_off("loweringz", "amin"):
        pass
