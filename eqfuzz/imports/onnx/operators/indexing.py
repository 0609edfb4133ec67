"""Indexing: slices, gathers, scatters, choices of elements."""

from __future__ import annotations

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import operator
from eqfuzz.imports.onnx.values import is_number
from eqfuzz.imports.text.literals import Unsupported, sequence

_BEYOND = 2**31 - 1
"""Ends of slices from here on mean all the rest."""


@operator("Slice")
def cut(node: OnnxNode) -> str:
    if node.opset < 10:
        starts, ends = node.attribute("starts"), node.attribute("ends")
        axes, steps = node.attribute("axes"), None
        starts, ends = [str(s) for s in starts], [str(e) for e in ends]
    else:
        starts, ends = _items(node, 1), _items(node, 2)
        axes = node.constants(3, "axes") if node.has(3) else None
        steps = node.constants(4, "steps") if node.has(4) else None
    axes = list(range(len(starts))) if axes is None else list(axes)
    steps = [1] * len(starts) if steps is None else steps
    if any(axis < 0 for axis in axes):
        axes = [axis % node.rank(0) for axis in axes]
    x = node.tensor(0)
    flipped = [axis for axis, step in zip(axes, steps, strict=True) if step < 0]
    parts = [":"] * (max(axes) + 1)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if step < 0:
            start, end = _mirrored(node, axis, start, end)
        parts[axis] = _slice(start, end, abs(step))
    if flipped:
        x = f"{x}.flip({sequence(flipped)})"
    return f"{x}[{', '.join(parts)}]"


def _items(node: OnnxNode, index: int) -> tuple[str, ...] | list[str]:
    items = node.items(index)
    if items is not None:
        return items
    shape = node.value(index).shape
    if shape is None or shape[0] is None:
        raise Unsupported("starts or ends of unknown number")
    text = node.local(f"{node.tensor(index)}.tolist()", "bounds")
    return [f"{text}[{number}]" for number in range(shape[0])]


def _slice(start: str, end: str, step: int) -> str:
    start = "" if start == "0" else start
    end = "" if is_number(end) and int(end) >= _BEYOND else end
    return f"{start}:{end}" + (f":{step}" if step != 1 else "")


def _mirrored(node: OnnxNode, axis: int, start: str, end: str) -> tuple[str, str]:
    """Start and end in the reversed dimension, of a slice that runs backwards."""
    if not (is_number(start) and is_number(end)):
        raise Unsupported("a slice backwards whose ends are computed")
    first, last = int(start), int(end)
    size = (node.value(0).shape or (None,) * (axis + 1))[axis]
    if size is None:
        if (first == -1 or first >= _BEYOND) and last <= -_BEYOND:
            return "0", str(_BEYOND)
        raise Unsupported("a slice backwards along an unknown size")
    places = range(size)[slice(first, last if last > -_BEYOND else None, -1)]
    return (str(size - 1 - places[0]), str(size - 1 - places[-1] + 1)) if len(places) else ("0", "0")


@operator("Gather")
def gather(node: OnnxNode) -> str:
    axis, indices = node.axis(0, 0), node.value(1)
    if axis < 0:
        axis += node.rank(0)
    x = node.tensor(0)
    constant = indices.constant
    if constant is not None and constant.ndim == 0:
        return f"{x}[{', '.join([':'] * axis + [str(int(constant))])}]"
    text = node.tensor(1) if indices.items is None or constant is not None else f"torch.tensor({list(indices.items)})"
    if indices.items is not None and not indices.shape and constant is None:
        return f"{x}[{', '.join([':'] * axis + [indices.items[0]])}]"
    table = axis == 0 and node.rank(0) == 2 and node.value(0).constant is not None and node.value(0).is_floating
    if table and indices.rank and constant is None and indices.dtype in ("int64", "int32"):
        return f"F.embedding({text}, {x})"
    return f"{x}[{', '.join([':'] * axis + [text])}]"


@operator("GatherElements")
def gather_elements(node: OnnxNode) -> str:
    axis = node.axis(0, 0)
    return f"torch.gather({node.tensor(0)}, {axis}, {_positive(node, axis)})"


def _positive(node: OnnxNode, axis: int) -> str:
    """Indices along an axis, with negative ones counted from its end; torch's functions take none."""
    constant, text = node.constant(1), node.tensor(1)
    if constant is not None and (constant >= 0).all():
        return text if node.dtype(1) == "int64" else f"{text}.long()"
    return f"{text}.long() % {node.tensor(0)}.shape[{axis}]"


@operator("GatherND")
def gather_nd(node: OnnxNode) -> str:
    dims = node.attribute("batch_dims", 0)
    if dims:
        return f"{node.function('gather_nd')}({node.tensor(0)}, {node.tensor(1)}, {dims})"
    return f"{node.tensor(0)}[{node.tensor(1)}.unbind(-1)]"


_REDUCTIONS = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax"}


@operator("ScatterElements", "Scatter")
def scatter_elements(node: OnnxNode) -> str:
    axis, reduction = node.axis(0, 0), node.attribute("reduction", "none")
    x, places, updates = node.tensor(0), _positive(node, axis), node.tensor(2)
    if reduction == "none":
        return f"{x}.scatter({axis}, {places}, {updates})"
    return f'{x}.scatter_reduce({axis}, {places}, {updates}, "{_REDUCTIONS[reduction]}")'


@operator("ScatterND")
def scatter_nd(node: OnnxNode) -> str:
    reduction = node.attribute("reduction", "none")
    x, places, updates = node.tensors()
    if reduction in ("none", "add"):
        accumulate = ", accumulate=True" if reduction == "add" else ""
        return f"{x}.index_put({places}.unbind(-1), {updates}{accumulate})"
    return f'{node.function("scatter_nd")}({x}, {places}, {updates}, "{_REDUCTIONS[reduction]}")'


@operator("Compress")
def compress(node: OnnxNode) -> str:
    x, axis = node.tensor(0), node.attribute("axis")
    chosen = f"{node.tensor(1)}.nonzero().flatten()"
    return f"{x}.flatten()[{chosen}]" if axis is None else f"{x}.index_select({axis}, {chosen})"


@operator("NonZero")
def nonzero(node: OnnxNode) -> str:
    return f"{node.tensor(0)}.nonzero().T"


@operator("OneHot")
def one_hot(node: OnnxNode) -> str:
    rank, axis = node.rank(0), node.attribute("axis", -1)
    axis = axis + rank + 1 if axis < 0 else axis
    depth = int(node.constants(1, "a depth")[0])
    indices = node.local(f"{node.tensor(0)}.long()", "indices") if node.dtype(0) != "int64" else node.tensor(0)
    places = f"torch.where({indices} < 0, {indices} + {depth}, {indices})"
    classes = f"torch.arange({depth}).reshape({sequence([depth, *[1] * (rank - axis)])})"
    values = node.tensor(2)
    return f"torch.where({places}.unsqueeze({axis}) == {classes}, {values}[1], {values}[0])"


@operator("Trilu")
def triangle(node: OnnxNode) -> str:
    function = "triu" if node.attribute("upper", 1) else "tril"
    if not node.has(1):
        return f"torch.{function}({node.tensor(0)})"
    items = node.items(1)
    diagonal = items[0] if items is not None else f"int({node.tensor(1)})"
    return f"torch.{function}({node.tensor(0)}{'' if diagonal == '0' else f', {diagonal}'})"


@operator("ReverseSequence")
def reverse_sequence(node: OnnxNode) -> str:
    time, batch = node.attribute("time_axis", 0), node.attribute("batch_axis", 1)
    return f"{node.function('reverse_sequence')}({node.tensor(0)}, {node.tensor(1)}, {time}, {batch})"


@operator("GridSample")
def grid_sample(node: OnnxNode) -> str:
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(
        node.attribute("mode", "linear"), node.attribute("mode", "linear")
    )
    padding, aligned = node.attribute("padding_mode", "zeros"), bool(node.attribute("align_corners", 0))
    if mode == "bicubic" and node.rank(0) != 4:
        raise Unsupported("cubic interpolation in three dimensions")
    options = f'mode="{mode}", padding_mode="{padding}", align_corners={aligned}'
    return f"F.grid_sample({node.tensor(0)}, {node.tensor(1)}, {options})"
