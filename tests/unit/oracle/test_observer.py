"""Observations: leaves and their paths, side effects, gradients, exceptions."""

import collections
import dataclasses
import random
import sys

import numpy as np
import pytest
import torch
from torch._inductor import exc as inductor_errors

from eqfuzz.oracle.compare.eager_judge import judge_self
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe import gradients
from eqfuzz.oracle.observe.exceptions import describe, first_line
from eqfuzz.oracle.observe.gradients import cotangent
from eqfuzz.oracle.observe.leaves import leaves, structure
from eqfuzz.oracle.observe.observer import has_drawn, observe, snapshot
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.torch_internals.dynamo import compilations

Pair = collections.namedtuple("Pair", "left right")

needs_inductor_error = pytest.mark.skipif(
    not hasattr(inductor_errors, "InductorError"), reason="torch 2.6 raises what Inductor raised as it is"
)


@dataclasses.dataclass
class Box:
    value: torch.Tensor
    tag: str


def one(function, *args, **kwargs):
    return observe(lambda: function, [Call(args, kwargs)]).calls[0]


def test_paths_are_python_expressions():
    value = [Pair(torch.ones(1), 2), {"a": Box(torch.zeros(2), "t"), 3: (None, np.ones(2))}]
    by_path = dict(leaves(value, "output"))
    assert list(by_path) == [
        "output[0].left",
        "output[0].right",
        "output[1]['a'].value",
        "output[1]['a'].tag",
        "output[1][3][0]",
        "output[1][3][1]",
    ]
    for path, leaf in by_path.items():
        assert eval(path, {"output": value}) is leaf


def test_structure_names_types():
    assert structure((torch.ones(1), {"a": [1, 2.0]})) == "tuple[Tensor, dict['a': list[int, float]]]"
    assert structure([1]) != structure((1,))
    assert structure({2, 1}) == "set"
    assert leaves({2, 1}, "output") == [("output", "set({1, 2})")]


OWN = """
import collections
import torch

class Node:
    def __init__(self, value):
        self.value = value

def program(x):
    node = Node([x])
    node.again = node
    return node, collections.deque([x + 1, 2], 3), collections.defaultdict(list, a=x)

def inputs(rng):
    return (torch.ones(1),)
"""


def test_deques_and_objects_of_the_program_are_traversed():
    loaded = Loaded(recognise(OWN, "seed.py"))
    call = observe(loaded.instance, loaded.calls(0)).calls[0]
    assert [path for path, _ in call.outputs] == [
        "output[0].again",
        "output[0].value[0]",
        "output[1][0]",
        "output[1][1]",
        "output[2]['a']",
    ]
    assert call.structure == (
        "tuple[Node[again: ..., value: list[Tensor]], deque(3)[Tensor, int], defaultdict(list)['a': Tensor]]"
    )


def test_order_of_keys_is_part_of_the_structure():
    first = collections.OrderedDict(a=1, b=2)
    second = collections.OrderedDict(first)
    second.move_to_end("a")
    assert structure(first) != structure(second)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3).t(),
        torch.ones(3, 1).expand(3, 4),
        torch.empty(0, 3),
        torch.tensor(1.5),
        torch.arange(10)[2::3],
        torch.randn(3, dtype=torch.complex64).conj(),
    ],
)
def test_snapshot_keeps_layout_and_values_but_not_storage(tensor):
    copy = snapshot(tensor)
    assert copy.stride() == tensor.stride()
    assert torch.equal(copy, tensor)
    assert copy.numel() == 0 or copy.untyped_storage().data_ptr() != tensor.untyped_storage().data_ptr()


def test_outputs_are_recorded_before_later_mutation():
    def f(x):
        y = x[:2]
        x.add_(1)
        return y

    x = torch.zeros(4)
    calls = [Call((x,), {}), Call((x,), {})]
    observation = observe(lambda: f, calls)
    assert torch.equal(x, torch.zeros(4)), "the given arguments must stay as they were"
    for call in observation.calls:
        assert torch.equal(call.outputs[0][1], torch.ones(2))
        assert torch.equal(dict(call.inputs_after)["args[0]"], torch.ones(4))


def test_observation_has_state_gradients_and_requires_grad():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bn = torch.nn.BatchNorm1d(3)
            self.count = 0

        def forward(self, x, unused):
            self.count += 1
            return self.bn(x), x.detach()

    x, unused = torch.randn(4, 3, requires_grad=True), torch.randn(2, requires_grad=True)
    call = observe(Model, [Call((x, unused), {})]).calls[0]
    state, grads = dict(call.state_after), dict(call.gradients)
    assert state["model.count"] == 1
    assert not torch.equal(state["model.bn.running_mean"], torch.zeros(3))
    assert grads["gradient of args[1]"] is None
    assert call.outputs[0][1].requires_grad
    assert not call.outputs[1][1].requires_grad
    out = Model()(x, unused)[0]
    expected = torch.autograd.grad(out, x, cotangent(out))[0]
    assert torch.equal(grads["gradient of args[0]"], expected)


def test_cotangent_is_fixed_and_different_everywhere():
    along = cotangent(torch.zeros(2, 300, dtype=torch.float64))
    assert along.shape == (2, 300)
    assert along.unique().numel() == 600
    assert along.min() >= 0.5
    assert along.max() < 1.5
    assert cotangent(torch.zeros(2, dtype=torch.float16)).dtype is torch.float16


def test_errors_of_a_plain_sum_of_cotangents_cancel():
    """Equal steps, as those of a ramp, are rounded alike: the errors of 2,048 additions then add up."""
    along = cotangent(torch.zeros(2048))
    total = torch.zeros(())
    for number in along:
        total = total + number
    exact = along.double().sum()
    assert abs(total.double() - exact) < 2048**0.5 * torch.finfo(torch.float32).eps * exact / 4


def test_first_exception_ends_the_observation():
    def f(x):
        if x.sum() > 0:
            raise KeyError("no")
        return x

    observation = observe(
        lambda: f, [Call((torch.zeros(1),), {}), Call((torch.ones(1),), {}), Call((torch.zeros(1),), {})]
    )
    assert len(observation.calls) == 2
    raised = observation.calls[1].raised
    assert raised is not None
    assert (raised.type, raised.origin, raised.by_statement) == ("KeyError", "program", True)


def test_operator_errors_are_not_by_statement():
    raised = one(lambda x: x @ x, torch.ones(2, 3)).raised
    assert raised is not None
    assert raised.origin == "program"
    assert not raised.by_statement


def test_errors_in_backward_are_observed():
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise ZeroDivisionError("in backward")

    call = one(lambda x: Bad.apply(x), torch.ones(1, requires_grad=True))
    assert call.raised is not None
    assert call.raised.type == "ZeroDivisionError"
    assert len(call.outputs) == 1


@needs_inductor_error
def test_exceptions_have_the_origin_of_their_class():
    import torch._dynamo.exc as exc
    from torch._inductor.exc import InductorError, LoweringException

    assert describe(MemoryError()).out_of_memory
    assert describe(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")).out_of_memory
    assert describe(exc.InternalTorchDynamoError("x")).origin == "compiler"
    assert describe(InductorError(AssertionError("inner"), None)).origin == "compiler"
    assert describe(LoweringException(KeyError("k"), "target", [], {})).origin == "compiler"
    assert describe(exc.UserError(exc.UserErrorType.INVALID_INPUT, "m")).origin == "unsupported"
    assert describe(ValueError("m")).origin == "program"
    wrapped = exc.TorchRuntimeError("Dynamo failed to run FX node", ["", ""]) if _two_arguments(exc) else None
    if wrapped is not None:
        assert describe(wrapped).origin == "program"


def _two_arguments(exc):
    import inspect

    return len(inspect.signature(exc.TorchRuntimeError.__init__).parameters) > 2


def test_messages_lose_addresses_and_paths():
    assert first_line("\n<f at 0x7f00dead> in /home/me/x/y.py\nmore") == "<f at 0x…> in <path>"
    assert first_line("backend='inductor' raised:\nTypeError: \nA Boolean argument") == "TypeError: A Boolean argument"


@needs_inductor_error
def test_stated_lack_of_support_is_no_crash():
    from torch._inductor.exc import InductorError

    words = "aot_autograd() does not yet handle non-differentiable view input mutations."
    assert describe(InductorError(AssertionError(words), None)).origin == "unsupported"
    assert describe(InductorError(AssertionError("reduce() of empty iterable"), None)).origin == "compiler"


CUBED = """
import torch

second_backward = True


def inputs(rng):
    return (rng.normal(5, dtype=torch.float64, requires_grad=True),)


def program(x):
    return x**3
"""


def test_second_gradients_are_computed_on_request():
    loaded = Loaded(recognise(CUBED, "seed.py"))
    (call,) = loaded.calls(0)
    gradients = dict(observe(loaded.instance, [call]).calls[0].gradients)
    x = call.args[0].detach()
    first, second = cotangent(x), cotangent(x)
    torch.testing.assert_close(gradients["gradient of args[0]"], 3 * x**2 * first)
    torch.testing.assert_close(gradients["second gradient of args[0]"], 6 * x * first * second)
    measured = dict(reference(loaded.instance, [call]).calls[0].gradients)
    torch.testing.assert_close(measured["second gradient of args[0]"].value, 6 * x * first * second)


def test_second_backward_of_compiled_code_is_unsupported():
    loaded = Loaded(recognise(CUBED, "seed.py"))
    compiled = observe(loaded.instance, loaded.calls(0), transform=lambda f: torch.compile(f, backend="aot_eager"))
    raised = compiled.calls[0].raised
    assert raised is not None, raised
    assert raised.origin == "unsupported", raised


def test_recursion_limit_does_not_depend_on_the_depth_of_the_observer():
    def below(levels):
        if levels:
            return below(levels - 1)
        return observe(lambda: lambda x: sys.getrecursionlimit(), [Call((torch.ones(1),), {})]).calls[0].outputs[0][1]

    limit = sys.getrecursionlimit()
    assert below(200) - below(0) == 200
    assert below(0) > limit
    assert sys.getrecursionlimit() == limit


def test_calls_draw_different_numbers_reproducibly():
    def draw(x):
        return torch.rand(3), random.random(), np.random.rand()

    calls = [Call((torch.ones(1),), {}) for _ in range(2)]
    first, second = (observe(lambda: draw, calls) for _ in range(2))
    values = [[leaf for _, leaf in call.outputs] for call in first.calls]
    assert not any(np.array_equal(one, other) for one, other in zip(*values, strict=True))
    assert judge_self(first, second).kind is VerdictKind.AGREE
    assert has_drawn(first)
    assert not has_drawn(observe(lambda: torch.exp, calls))


def test_code_compiled_by_eager_operators_is_discarded():
    def choose(x):
        return torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a - 1, (x,))

    observe(lambda: choose, [Call((torch.ones(3),), {})])
    before = compilations()["graphs"]
    observe(lambda: choose, [Call((torch.ones(4),), {})])
    assert before == compilations()["graphs"] == 1


def test_warnings_of_operators_are_ignored():
    loaded = Loaded(
        recognise(
            """
import warnings
import torch

def program(x):
    warnings.warn("mine")
    torch.meshgrid(x, x)
    return torch.std(x[:1])

def inputs(rng):
    yield rng.normal(3)
""",
            "warns.py",
        )
    )
    (call,) = observe(loaded.instance, loaded.calls(0)).calls
    assert call.warned == ["UserWarning: mine"]


def test_modes_changed_by_a_program_are_restored():
    def program(x):
        y = x * (2 if torch.is_grad_enabled() else 3) + torch.ones(1)
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        return y

    for _ in range(2):
        first, second = observe(lambda: program, [Call((torch.ones(2),), {})] * 2).calls
        assert first.outputs[0][1].tolist() == [3.0, 3.0]
        assert first.outputs[0][1].dtype is torch.float32
        assert second.outputs[0][1].tolist() == [4.0, 4.0]
        assert second.outputs[0][1].dtype is torch.float64
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() is torch.float32


def test_gradients_that_are_kept_one_by_one_are_the_same():
    weight, bias, unused, rows = (torch.randn(size, requires_grad=True) for size in ((3, 4), (4,), (2,), (5, 2)))
    data = torch.randn(2, 3)

    def backward() -> gradients.Backward:
        result = (data @ weight + bias).tanh() * weight.sum()
        picked = torch.nn.functional.embedding(torch.tensor([1, 1, 3]), rows, sparse=True)
        wrt = [("weight", weight), ("bias", bias), ("unused", unused), ("rows", rows)]
        plan = gradients.plan((result, picked), wrt)
        assert plan is not None
        return plan

    expected = gradients.run(backward())
    pairs = gradients.run_keeping(backward(), lambda leaf: None if leaf is None else leaf.to_dense().clone())
    assert [path for path, _ in pairs] == [path for path, _ in expected]
    for (_, one), (_, other) in zip(pairs, expected, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.equal(one, other.to_dense())
