"""Quantised tensors, computed on integers."""

from __future__ import annotations

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.operators.convolution import convolution
from eqfuzz.imports.onnx.registry import operator
from eqfuzz.imports.onnx.windows import window_of
from eqfuzz.imports.text.literals import Unsupported, sequence

_LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}


def _limits(dtype: str) -> tuple[int, int]:
    if dtype not in _LIMITS:
        raise Unsupported(f"quantisation to {dtype or 'an unknown element type'}")
    return _LIMITS[dtype]


def _along(node: OnnxNode, index: int, rank: int, axis: int) -> str:
    """A scale or zero point of each slice along an axis, in a shape that broadcasts."""
    text = node.tensor(index)
    if node.value(index).rank == 0 or node.value(index).shape == (1,):
        return text
    if node.rank(index) != 1:
        raise Unsupported("blocks of scales")
    return f"{text}.reshape({sequence([-1, *[1] * (rank - 1 - axis)])})"


def _round(text: str, scale: str, zero: str, dtype: str) -> str:
    low, high = _limits(dtype)
    shifted = f"torch.round({text} / {scale}) + {zero}" if zero else f"torch.round({text} / {scale})"
    return f"torch.clamp({shifted}, {low}, {high}).to(torch.{dtype})"


@operator("QuantizeLinear")
def quantise(node: OnnxNode) -> str:
    rank, axis = node.rank(0), node.axis(0, 1)
    dtype = node.dtype(2) if node.has(2) else "uint8"
    if not node.has(2) and node.attribute("output_dtype", 0):
        dtype = node.output_dtypes[0]
    zero = _along(node, 2, rank, axis) if node.has(2) else ""
    return _round(node.tensor(0), _along(node, 1, rank, axis), zero, dtype)


@operator("DequantizeLinear")
def dequantise(node: OnnxNode) -> str:
    rank, axis = node.rank(0), node.axis(0, 1)
    x = f"{node.tensor(0)}.to(torch.{node.dtype(1)})"
    scale = _along(node, 1, rank, axis)
    return f"({x} - {_along(node, 2, rank, axis)}) * {scale}" if node.has(2) else f"{x} * {scale}"


@operator("DynamicQuantizeLinear")
def quantise_dynamically(node: OnnxNode) -> list[str]:
    x = node.tensor(0)
    low = node.local(f"{x}.amin().clamp(max=0)", "low")
    scale = node.local(f"({x}.amax().clamp(min=0) - {low}) / 255", "scale")
    zero = node.local(f"torch.clamp(torch.round(-{low} / {scale}), 0, 255).to(torch.uint8)", "zero")
    return [node.local(_round(x, scale, zero, "uint8"), "quantized"), scale, zero]


def _shifted(node: OnnxNode, index: int, zero: int, *, dtype: str, rows: bool = False) -> str:
    """An integer input minus its zero point."""
    text = f"{node.tensor(index)}.to(torch.{dtype})"
    if not node.has(zero):
        return text
    offset = node.tensor(zero)
    if rows and node.value(zero).rank == 1 and node.value(zero).shape != (1,):
        offset = f"{offset}.reshape({sequence([-1, *[1] * (node.rank(index) - 1)])})"
    return f"({text} - {offset})"


@operator("MatMulInteger")
def multiply(node: OnnxNode) -> str:
    by_row = node.has(2) and node.value(2).rank == 1 and node.value(2).shape != (1,)
    left = f"({node.tensor(0)}.to(torch.int32) - {node.tensor(2)}.unsqueeze(-1))" if by_row else ""
    return f"{left or _shifted(node, 0, 2, dtype='int32')} @ {_shifted(node, 1, 3, dtype='int32')}"


@operator("ConvInteger")
def convolve(node: OnnxNode) -> str:
    window = window_of(node, node.sizes(1)[2:])
    x = _shifted(node, 0, 2, dtype="float64")
    weight = _shifted(node, 1, 3, dtype="float64", rows=True)
    return f"{convolution(node, window, x, weight, '')}.to(torch.int32)"  # torch has no convolution of integers


@operator("QLinearMatMul")
def multiply_quantised(node: OnnxNode) -> str:
    left, right = _shifted(node, 0, 2, dtype="int32"), _shifted(node, 3, 5, dtype="int32")
    if any(node.value(index).rank not in (0, None) and node.value(index).shape != (1,) for index in (1, 2, 4, 5)):
        raise Unsupported("scales of rows or columns")
    product = f"({left} @ {right}) * ({node.tensor(1)} * {node.tensor(4)})"
    return _round(product, node.tensor(6), node.tensor(7), node.dtype(7))


@operator("QLinearConv")
def convolve_quantised(node: OnnxNode) -> str:
    window = window_of(node, node.sizes(3)[2:])
    x = _shifted(node, 0, 2, dtype="float64")
    weight = _shifted(node, 3, 5, dtype="float64", rows=True)
    bias = f"{node.tensor(8)}.to(torch.float64)" if node.has(8) else ""
    scale = _along(node, 4, node.rank(3), 1) if node.has(4) else "1"
    if node.value(4).rank == 1 and node.value(4).shape != (1,):
        scale = f"{node.tensor(4)}.reshape({sequence([-1, *[1] * window.rank])})"
    result = f"{convolution(node, window, x, weight, bias)} * ({node.tensor(1)} * {scale})"
    return _round(result, node.tensor(6), node.tensor(7), node.dtype(7))
