"""Pools."""

from __future__ import annotations

import math

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import operator
from eqfuzz.imports.onnx.windows import PoolingWindow, equal_or_all, window_of
from eqfuzz.imports.text.literals import Unsupported, joined, number_text, sequence


@operator("MaxPool")
def max_pool(node: OnnxNode) -> str | list[str]:
    window = window_of(node, tuple(node.attribute("kernel_shape")))
    x = node.tensor(0)
    # torch refuses padding of more than half a kernel.
    built_in = window.is_symmetric and all(2 * p <= k for p, k in zip(window.before, window.kernel, strict=True))
    if node.uses(1):
        return _with_places(node, window, built_in)
    if not built_in:
        x = window.padded(x, _lowest(node))
    return f"F.max_pool{window.rank}d({joined([x, *_arguments(node, window, built_in=built_in)])})"


def _lowest(node: OnnxNode) -> float:
    if node.value(0).is_floating:
        return -math.inf
    if node.dtype(0) == "uint8":
        return 0
    raise Unsupported("uneven padding of integers")


def _with_places(node: OnnxNode, window: PoolingWindow, built_in: bool) -> list[str]:
    """The second output has places in the whole tensor; torch's are in the plane of a channel."""
    if not built_in or node.attribute("storage_order", 0):
        raise Unsupported("places under uneven padding or in column-major order")
    x = node.tensor(0)
    call = f"F.max_pool{window.rank}d({joined([x, *_arguments(node, window), 'return_indices=True'])})"
    pooled, places = node.program.unpack("MaxPool", 2, call)
    ones = sequence([-1, *[1] * window.rank])
    first = f"torch.arange({x}.shape[0] * {x}.shape[1], device={x}.device).reshape({x}.shape[0], {ones[1:-1]})"
    plane = " * ".join(f"{x}.shape[{2 + dim}]" for dim in range(window.rank))
    return [pooled, node.local(f"{places} + {first} * ({plane})", "places")]


def _arguments(node: OnnxNode, window: PoolingWindow, *, built_in: bool = True) -> list[str]:
    arguments = [equal_or_all(window.kernel), f"stride={equal_or_all(window.strides)}"]
    if built_in and window.is_padded:
        arguments.append(f"padding={equal_or_all(window.before)}")
    if set(window.dilations) != {1}:
        arguments.append(f"dilation={equal_or_all(window.dilations)}")
    if node.attribute("ceil_mode", 0):
        arguments.append("ceil_mode=True")
    return arguments


@operator("AveragePool")
def average_pool(node: OnnxNode) -> str:
    window = window_of(node, tuple(node.attribute("kernel_shape")))
    if set(window.dilations) != {1}:
        raise Unsupported("dilations")
    counted = bool(node.attribute("count_include_pad", 0))
    built_in = window.is_symmetric and all(2 * p <= k for p, k in zip(window.before, window.kernel, strict=True))
    x, function = node.tensor(0), f"F.avg_pool{window.rank}d"
    if built_in:
        uncounted = [] if counted or not window.is_padded else ["count_include_pad=False"]
        return f"{function}({joined([x, *_arguments(node, window), *uncounted])})"
    arguments = _arguments(node, window, built_in=False)
    if counted:
        return f"{function}({joined([window.padded(x), *arguments])})"
    inside = node.local(window.padded(f"torch.ones_like({x})"), "inside")
    return f"{function}({joined([window.padded(x), *arguments])}) / {function}({joined([inside, *arguments])})"


@operator("LpPool")
def lp_pool(node: OnnxNode) -> str:
    window = window_of(node, tuple(node.attribute("kernel_shape")))
    if set(window.dilations) != {1} or node.attribute("ceil_mode", 0):
        raise Unsupported("dilations or ceil_mode")
    power = float(node.attribute("p", 2))
    x = window.padded(f"{node.tensor(0)}.abs()")
    count = math.prod(window.kernel)
    arguments = [f"{x} ** {number_text(power)}", *_arguments(node, window, built_in=False)]
    mean = f"F.avg_pool{window.rank}d({joined(arguments)})"
    return f"({mean} * {count}) ** {number_text(1 / power)}"


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(node: OnnxNode) -> str:
    dims = sequence(range_of(node))
    x = node.tensor(0)
    match node.operator:
        case "GlobalAveragePool":
            return f"{x}.mean(dim={dims}, keepdim=True)"
        case "GlobalMaxPool":
            return f"{x}.amax(dim={dims}, keepdim=True)"
        case _:
            power = float(node.attribute("p", 2))
            powers = f"({x}.abs() ** {number_text(power)}).sum(dim={dims}, keepdim=True)"
            return f"{powers} ** {number_text(1 / power)}"


def range_of(node: OnnxNode) -> list[int]:
    """The spatial dimensions of input 0."""
    return list(range(2, node.rank(0)))
