"""Shapes: views, joins, splits, padding, repetition."""

from __future__ import annotations

import math

import numpy as np

from eqfuzz.imports.onnx.node import OnnxNode, sizes_of
from eqfuzz.imports.onnx.registry import Result, operator
from eqfuzz.imports.text.literals import Unsupported, joined, number_text, sequence


@operator("Shape")
def shape(node: OnnxNode) -> Result:
    value = node.value(0)
    if value.rank is None:
        return f"torch.tensor({node.tensor(0)}.shape)"
    first, last, _ = slice(node.attribute("start", 0), node.attribute("end")).indices(value.rank)
    sizes = value.shape or ()
    items = [str(sizes[d]) if sizes[d] is not None else f"{node.tensor(0)}.shape[{d}]" for d in range(first, last)]
    return sizes_of(items)


@operator("Size")
def size(node: OnnxNode) -> Result:
    value = node.value(0)
    if value.shape is not None and value.is_static:
        return sizes_of([str(math.prod(s for s in value.shape if s is not None))], scalar=True)
    return sizes_of([f"{node.tensor(0)}.numel()"], scalar=True)


@operator("Reshape")
def reshape(node: OnnxNode) -> Result:
    if node.opset < 5:
        raise Unsupported("opset 4 and older")
    items = node.items(1)
    if items is None and node.attribute("allowzero", 0):
        return f"{node.tensor(0)}.reshape({node.tensor(1)}.tolist())"
    if items is None:
        return f"{node.function('reshaped')}({node.tensor(0)}, {node.tensor(1)}.tolist())"
    x = node.tensor(0)
    if node.attribute("allowzero", 0):
        return f"{x}.reshape({sequence(items)})"
    own = node.value(0).shape or ()
    sizes = [_copied(x, own, dim) if item == "0" else item for dim, item in enumerate(items)]
    return f"{x}.reshape({sequence(sizes) if sizes else '()'})"


def _copied(x: str, own: tuple[int | None, ...], dim: int) -> str:
    size = own[dim] if dim < len(own) else None
    return f"{x}.shape[{dim}]" if size is None else str(size)


@operator("Flatten")
def flatten(node: OnnxNode) -> str:
    x, axis, rank = node.tensor(0), node.axis(0, 1), node.rank(0)
    if axis == 0:
        return f"{x}.reshape(1, -1)"
    if axis == rank:
        return f"{x}.reshape(-1, 1)"
    after = f"{x}.flatten({axis})" if axis < rank - 1 else x
    return f"{after}.flatten(0, {axis - 1})" if axis > 1 else (after if after != x else f"{x}.reshape({x}.shape)")


@operator("Transpose")
def permute(node: OnnxNode) -> str:
    order = node.attribute("perm")
    if order is None:
        order = list(reversed(range(node.rank(0))))
    return f"{node.tensor(0)}.permute({sequence(order) if order else '()'})"


@operator("Squeeze")
def squeeze(node: OnnxNode) -> str:
    axes = node.axes(0, 1 if node.opset >= 13 else None)
    if axes is None:
        return f"{node.tensor(0)}.squeeze()"
    if not axes:
        return f"{node.tensor(0)}.reshape({node.tensor(0)}.shape)"
    return f"{node.tensor(0)}.squeeze({axes[0] if len(axes) == 1 else sequence(axes)})"


@operator("Unsqueeze")
def unsqueeze(node: OnnxNode) -> str:
    axes = node.attribute("axes") if node.opset < 13 else node.constants(1, "axes")
    x = node.tensor(0)
    if len(axes) == 1:
        return f"{x}.unsqueeze({axes[0]})"
    rank = node.rank(0) + len(axes)
    return x + "".join(f".unsqueeze({axis})" for axis in sorted(axis % rank for axis in axes))


@operator("Concat")
def concatenate(node: OnnxNode) -> str:
    texts = node.tensors()
    joined_texts = f"{texts[0]}," if len(texts) == 1 else joined(texts)
    return f"torch.cat(({joined_texts}), dim={node.axis(0, 1)})"


@operator("Split")
def split(node: OnnxNode) -> list[str]:
    x, axis, count = node.tensor(0), node.axis(0, 0), len(node.outputs)
    sizes = node.attribute("split")
    if sizes is None and node.opset >= 13 and node.has(1):
        sizes = node.constants(1, "sizes")
    if sizes is not None:
        call = f"torch.split({x}, {list(sizes)}, dim={axis})"
    else:
        call = f"torch.chunk({x}, {node.attribute('num_outputs', count)}, dim={axis})"
    return node.program.unpack("Split", count, call)


@operator("Expand")
def expand(node: OnnxNode) -> str:
    items, value = node.items(1), node.value(0)
    x = node.tensor(0)
    if items is not None and value.shape is not None and all(item.lstrip("-").isdigit() for item in items):
        wanted = [int(item) for item in items]
        sizes = _broadcast(value.shape, wanted)
        if sizes is not None:
            return f"{x}.expand({sequence(sizes) if sizes else '()'})"
    text = sequence(items) if items is not None else f"{node.tensor(1)}.tolist()"
    return f"{x}.expand(torch.broadcast_shapes({x}.shape, {text}))"


def _broadcast(sizes: tuple[int | None, ...], wanted: list[int]) -> list[int] | None:
    """The shape after broadcasting in both directions; None where sizes that matter are unknown."""
    rank = max(len(sizes), len(wanted))
    left = [1] * (rank - len(sizes)) + [*sizes]
    right = [1] * (rank - len(wanted)) + wanted
    result: list[int] = []
    for one, other in zip(left, right, strict=True):
        if other != 1:
            result.append(other)
        elif one is not None:
            result.append(one)
        else:
            return None
    return result


@operator("Tile")
def tile(node: OnnxNode) -> str:
    return f"{node.tensor(0)}.repeat({node.sizes_text(1)})"


@operator("Pad")
def pad(node: OnnxNode) -> str:
    mode = node.attribute("mode", "constant")
    rank = node.rank(0)
    pads = node.attribute("pads") if node.opset < 11 else node.constants(1, "padding")
    axes = node.constants(3, "axes") if node.has(3) else range(rank)
    before, after = [0] * rank, [0] * rank
    for number, axis in enumerate(axes):
        before[axis], after[axis] = pads[number], pads[number + len(pads) // 2]
    x = node.tensor(0)
    if not any((*before, *after)):
        return f"{x}.clone()"
    if mode == "constant":
        value = node.attribute("value", 0.0) if node.opset < 11 else _padding_value(node)
        filled = f", value={value}" if value not in ("0", "0.0", "False", 0.0) else ""
        return f"F.pad({x}, {_pairs(before, after)}{filled})"
    padded = [dim for dim in range(rank) if before[dim] or after[dim]]
    first = padded[0]
    negative = min((*before, *after)) < 0
    if mode in ("reflect", "edge") and _in_torch(rank, first) and not negative and node.value(0).is_floating:
        mode = "replicate" if mode == "edge" else mode
        spatial = min(2, rank - 1)  # torch takes a pair for each dimension from here on, zeros too
        return f'F.pad({x}, {_every_pair(before[spatial:], after[spatial:])}, mode="{mode}")'
    return _gathered(node, x, before, after, mode)


def _in_torch(rank: int, first: int) -> bool:
    """Whether ``F.pad`` has the modes besides ``constant`` for padding from dimension ``first`` on."""
    return (3 <= rank <= 5 and first >= 2) or (rank == 2 and first == 1)


def _padding_value(node: OnnxNode) -> str:
    if not node.has(2):
        return "0"
    constant = node.constant(2)
    if constant is None:
        return f"{node.tensor(2)}.item()"
    return number_text(constant.reshape(-1)[0].item())


def _every_pair(before: list[int], after: list[int]) -> str:
    return sequence([p for pair in reversed([*zip(before, after, strict=True)]) for p in pair])


def _pairs(before: list[int], after: list[int]) -> str:
    """The argument of ``F.pad`` without zeros for the first dimensions."""
    pairs = [p for pair in reversed([*zip(before, after, strict=True)]) for p in pair]
    while len(pairs) > 2 and not any(pairs[-2:]):
        del pairs[-2:]
    return sequence(pairs)


def _gathered(node: OnnxNode, x: str, before: list[int], after: list[int], mode: str) -> str:
    """Padding as a choice of rows, for what ``F.pad`` does not do."""
    for dim, (first, last) in enumerate(zip(before, after, strict=True)):
        if first or last:
            places = np.arange(node.size(0, dim))
            places = places[max(-first, 0) : len(places) - max(-last, 0)]
            rows = np.pad(places, (max(first, 0), max(last, 0)), mode=mode)  # type: ignore[call-overload]
            x = f"{x}.index_select({dim}, {node.buffer(rows.astype(np.int64), 'int64', 'rows')})"
    return x


@operator("DepthToSpace")
def depth_to_space(node: OnnxNode) -> str:
    x, block = node.tensor(0), node.attribute("blocksize")
    if node.attribute("mode", "DCR") == "CRD":
        return f"F.pixel_shuffle({x}, {block})"
    n, c, h, w = _sizes(node, x)
    depth = _divided(c, block * block)
    parts = f"{x}.reshape({n}, {block}, {block}, {depth}, {h}, {w}).permute(0, 3, 4, 1, 5, 2)"
    return f"{parts}.reshape({n}, {depth}, {_times(h, block)}, {_times(w, block)})"


@operator("SpaceToDepth")
def space_to_depth(node: OnnxNode) -> str:
    x, block = node.tensor(0), node.attribute("blocksize")
    if node.attribute("mode", "DCR") == "CRD":
        return f"F.pixel_unshuffle({x}, {block})"
    n, c, h, w = _sizes(node, x)
    high, wide = _divided(h, block), _divided(w, block)
    parts = f"{x}.reshape({n}, {c}, {high}, {block}, {wide}, {block}).permute(0, 3, 5, 1, 2, 4)"
    return f"{parts}.reshape({n}, {_times(c, block * block)}, {high}, {wide})"


def _sizes(node: OnnxNode, x: str) -> list[str]:
    sizes = node.value(0).shape or (None,) * 4
    return [f"{x}.shape[{dim}]" if size is None else str(size) for dim, size in enumerate(sizes)]


def _divided(size: str, by: int) -> str:
    return str(int(size) // by) if size.isdigit() else f"{size} // {by}"


def _times(size: str, by: int) -> str:
    return str(int(size) * by) if size.isdigit() else f"{size} * {by}"
