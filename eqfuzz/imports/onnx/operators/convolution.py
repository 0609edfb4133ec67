"""Convolutions."""

from __future__ import annotations

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import operator
from eqfuzz.imports.onnx.windows import PoolingWindow, equal_or_all, window_of
from eqfuzz.imports.text.literals import joined, sequence


@operator("Conv")
def convolve(node: OnnxNode) -> str:
    window = window_of(node, node.sizes(1)[2:])
    bias = node.tensor(2) if node.has(2) else ""
    return convolution(node, window, node.tensor(0), node.tensor(1), bias)


def convolution(node: OnnxNode, window: PoolingWindow, x: str, weight: str, bias: str) -> str:
    """A convolution of the text ``x`` under the attributes of ``node``."""
    arguments = [x if window.is_symmetric else window.padded(x), weight, bias]
    if set(window.strides) != {1}:
        arguments.append(f"stride={equal_or_all(window.strides)}")
    if window.is_symmetric and window.is_padded:
        arguments.append(f"padding={equal_or_all(window.before)}")
    if set(window.dilations) != {1}:
        arguments.append(f"dilation={equal_or_all(window.dilations)}")
    if node.attribute("group", 1) != 1:
        arguments.append(f"groups={node.attribute('group')}")
    return f"F.conv{window.rank}d({joined(arguments)})"


@operator("ConvTranspose")
def transpose(node: OnnxNode) -> str:
    kernel = node.sizes(1)[2:]
    rank = len(kernel)
    strides = tuple(node.attribute("strides") or [1] * rank)
    dilations = tuple(node.attribute("dilations") or [1] * rank)
    extra = tuple(node.attribute("output_padding") or [0] * rank)
    before, after = _cropped(node, kernel, strides, dilations, extra)
    arguments = [node.tensor(0), node.tensor(1), node.tensor(2) if node.has(2) else ""]
    if set(strides) != {1}:
        arguments.append(f"stride={equal_or_all(strides)}")
    plain = (
        before == after
        and min(before) >= 0
        and all(e < max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True))
    )
    if plain and any(before):
        arguments.append(f"padding={equal_or_all(before)}")
    if plain and any(extra):
        arguments.append(f"output_padding={equal_or_all(extra)}")
    if node.attribute("group", 1) != 1:
        arguments.append(f"groups={node.attribute('group')}")
    if set(dilations) != {1}:
        arguments.append(f"dilation={equal_or_all(dilations)}")
    result = f"F.conv_transpose{rank}d({joined(arguments)})"
    if plain:
        return result
    # Negative padding crops; rows that output_padding adds have only the bias.
    pairs = [p for b, a, e in reversed([*zip(before, after, extra, strict=True)]) for p in (-b, e - a)]
    if any(e > a for a, e in zip(after, extra, strict=True)) and node.has(2):
        unbiased = f"F.conv_transpose{rank}d({joined([*arguments[:2], *arguments[3:]])})"
        return f"F.pad({unbiased}, {sequence(pairs)}) + {node.tensor(2)}.reshape({sequence([-1, *[1] * rank])})"
    return f"F.pad({result}, {sequence(pairs)})"


def _cropped(
    node: OnnxNode,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    extra: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Elements cut off at both ends of each dimension."""
    rank = len(kernel)
    pads = node.attribute("pads") or [0] * (2 * rank)
    automatic = node.attribute("auto_pad", "NOTSET")
    wanted = node.attribute("output_shape")
    if wanted is None and automatic not in ("SAME_UPPER", "SAME_LOWER"):
        if automatic == "VALID":
            pads = [0] * (2 * rank)
        return tuple(pads[:rank]), tuple(pads[rank:])
    before, after = [], []
    for dim in range(rank):
        length = node.size(0, 2 + dim) if wanted is not None else 1
        result = wanted[dim - rank] if wanted is not None else strides[dim]
        total = strides[dim] * (length - 1) + extra[dim] + (kernel[dim] - 1) * dilations[dim] + 1 - result
        half = total // 2
        first = half if automatic == "SAME_UPPER" else total - half
        before.append(first)
        after.append(total - first)
    return tuple(before), tuple(after)
