"""Values written as source come back bit for bit, with strides and aliasing."""

import base64
import textwrap
import zlib

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.program.call import Call
from eqfuzz.program.literal import UNPACK, CannotDescribe, Writer


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
def test_tensors_come_back(dtype, size, layout, seed):
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


def test_special_values_and_requires_grad():
    tensor = torch.tensor([0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e-45], requires_grad=True)
    complex_ = torch.tensor([complex(1, 2), complex(0, -1.5)])
    back, other = round_trip(tensor, complex_)
    assert back.requires_grad and torch.equal(other, complex_)
    assert torch.equal(back.isnan(), tensor.isnan()) and torch.equal(torch.signbit(back), torch.signbit(tensor))


def test_arguments_that_alias_still_do():
    base = torch.arange(12.0)
    a, b = round_trip(base[2:8], base.view(3, 4).t())
    a.fill_(-1)
    assert (b == -1).sum() == 6


def test_containers_and_scalars():
    value = ({"a": [1, 2.5, (3,)], "b": None}, torch.float16, slice(1, None), "text", float("inf"), {1, 2})
    assert round_trip(*value) == value


def test_what_has_no_source_form_is_named():
    with pytest.raises(CannotDescribe, match="Generator"):
        Writer().value(torch.Generator())
