"""Values written as source come back bit for bit, with strides and aliasing."""

import base64
import textwrap
import zlib

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.oracle.observe.leaf_values import identical
from eqfuzz.oracle.observe.leaves import leaves, structure
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.literal import REMAKE, UNPACK, CannotDescribe, Writer
from eqfuzz.program.load import Loaded


def round_trip(*args):
    writer = Writer()
    body = writer.calls([Call(args, {})])
    namespace = {"torch": torch, "zlib": zlib, "base64": base64}
    exec(UNPACK + "\ndef make():\n" + textwrap.indent(body, "    "), namespace)
    return namespace["make"]()[0][0]


def bits(tensor: torch.Tensor) -> bytes:
    if tensor.numel() == 0:
        return b""
    return tensor.detach().resolve_conj().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes()


FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
DTYPES = [*FLOATS, torch.int8, torch.int64, torch.bool, torch.complex64]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(DTYPES),
    st.lists(st.integers(0, 12), max_size=3),
    st.sampled_from(["dense", "transposed", "sliced", "expanded"]),
    st.integers(0, 2**31),
)
def test_tensors_are_rebuilt_from_source(dtype, size, layout, seed):
    values = np.random.default_rng(seed).standard_normal(size) * 10
    tensor = torch.from_numpy(np.asarray(values)).to(dtype)
    if layout == "transposed" and tensor.dim() >= 2:
        tensor = tensor.transpose(0, 1)
    if layout == "sliced" and tensor.dim() >= 1:
        tensor = tensor[tensor.shape[0] // 2 :]
    if layout == "expanded" and tensor.numel():
        tensor = tensor.unsqueeze(0).expand(3, *tensor.shape)
    (back,) = round_trip(tensor)
    assert (back.dtype, back.shape, back.stride()) == (tensor.dtype, tensor.shape, tensor.stride())
    assert bits(back) == bits(tensor)


def test_special_values_and_requires_grad_are_kept():
    tensor = torch.tensor([0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e-45], requires_grad=True)
    complex_ = torch.tensor([complex(1, 2), complex(0, -1.5)])
    back, other = round_trip(tensor, complex_)
    assert back.requires_grad
    assert torch.equal(other, complex_)
    assert torch.equal(back.isnan(), tensor.isnan())
    assert torch.equal(torch.signbit(back), torch.signbit(tensor))


def test_arguments_that_alias_still_do():
    base = torch.arange(12.0)
    a, b = round_trip(base[2:8], base.view(3, 4).t())
    a.fill_(-1)
    assert (b == -1).sum() == 6


def test_containers_and_scalars_are_kept():
    value = ({"a": [1, 2.5, (3,)], "b": None}, torch.float16, slice(1, None), "text", float("inf"), {1, 2})
    assert round_trip(*value) == value


def test_value_without_source_form_is_named():
    with pytest.raises(CannotDescribe, match="Generator"):
        Writer().value(torch.Generator())


OWN = """
import collections
import dataclasses
import enum
import torch

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass(frozen=True)
class Pair:
    left: object
    right: int


class Colour(enum.Enum):
    RED = 1


class Stack(list):
    def __init__(self, name):
        self.name = name


class Registry(dict):
    pass


class Node:
    def __init__(self, value):
        self.value = value


def program(x):
    return x


def inputs(rng):
    stack = Stack("s")
    stack.append(torch.ones(2))
    pair = Pair(torch.zeros(1), 2)
    ordered = collections.OrderedDict(b=1, a=2)
    ordered.move_to_end("b")
    return (
        ordered,
        collections.defaultdict(list, {"k": [1]}),
        collections.defaultdict(Node),
        collections.Counter("abca"),
        collections.deque([1, torch.ones(2)], maxlen=3),
        Point(torch.ones(1), 2),
        pair,
        stack,
        Registry(a=1),
        Node({"again": pair}),
        Colour.RED,
        frozenset({1, 2}),
        torch.Size([2, 3]),
        range(3),
    )
"""


def test_containers_and_objects_keep_their_types_and_their_order():
    loaded = Loaded(recognise(OWN, "seed.py"))
    (call,) = loaded.calls(0)
    writer = Writer()
    body = writer.calls([call])
    namespace = {**loaded.module.__dict__, "zlib": zlib, "base64": base64}
    exec(REMAKE + "\ndef make():\n" + textwrap.indent(body, "    "), namespace)
    args = namespace["make"]()[0][0]
    assert [type(value) for value in args] == [type(value) for value in call.args]
    for value, back in zip(call.args, args, strict=True):
        assert structure(back) == structure(value)
        pairs = zip(leaves(value, ""), leaves(back, ""), strict=True)
        assert all(a[0] == b[0] and identical(a[1], b[1], signed_zero=True) for a, b in pairs)
    assert args[7].name == "s"
    assert args[4].maxlen == 3
    assert args[2].default_factory is type(args[9])
    assert args[9].value["again"] is args[6]
    assert args[10] is loaded.module.__dict__["Colour"].RED


def test_object_in_two_places_stays_one_object():
    tensor, rows = torch.ones(2), [1, 2]
    first, second, third, other = round_trip(tensor, tensor, [rows, {"rows": rows}], rows)
    assert first is second
    assert third[0] is other
    assert third[1]["rows"] is other


def test_objects_shared_by_calls_are_separate():
    tensor = torch.arange(3.0)
    namespace = {"torch": torch}
    calls = Writer().calls([Call((tensor, tensor[1:]), {}), Call((tensor, tensor[1:]), {})])
    exec("def make():\n" + textwrap.indent(calls, "    "), namespace)
    (one, part), (other, _) = (args for args, _ in namespace["make"]())
    one.fill_(7)
    assert part.tolist() == [7, 7]
    assert other.tolist() == [0, 1, 2]


def test_recursive_value_has_no_source_form():
    loop = []
    loop.append(loop)
    with pytest.raises(CannotDescribe, match="holds itself"):
        Writer().calls([Call((loop,), {})])
