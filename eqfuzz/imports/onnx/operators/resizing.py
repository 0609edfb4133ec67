"""Interpolation to other sizes."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import operator
from eqfuzz.imports.onnx.values import is_number
from eqfuzz.imports.text.literals import Unsupported, sequence

_LINEAR = ("", "linear", "bilinear", "trilinear")
"""Names by the number of spatial dimensions."""


@operator("Resize", "Upsample")
def resize(node: OnnxNode) -> str:
    after, scales = _target(node)
    shape = node.value(0).shape or ()
    changed = [dim for dim, scale in enumerate(scales) if scale != 1 or after[dim] != shape[dim]]
    if not changed:
        return f"{node.tensor(0)}.clone()"
    before = {dim: node.size(0, dim) for dim in changed}
    function = _in_torch(node, before, after, scales)
    return function if function else _by_matrices(node, before, after, scales)


def _target(node: OnnxNode) -> tuple[list[int | None], list[float]]:
    """Sizes and scales of all dimensions; the size of a dimension that stays as it is may be unknown."""
    rank = node.rank(0)
    if node.operator == "Upsample" or node.opset < 11:
        by_attribute = node.operator == "Upsample" and node.opset < 9
        scales = node.attribute("scales") if by_attribute else node.constants(1, "scales")
        return _scaled(node, list(scales))
    axes = [axis % rank for axis in node.attribute("axes", list(range(rank)))]
    constant = node.constant(2)
    if node.has(2) and (constant is None or constant.size):
        by_axis = dict(zip(axes, node.constants(2, "scales"), strict=True))
        return _scaled(node, [by_axis.get(dim, 1.0) for dim in range(rank)])
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        raise Unsupported(f"the policy {policy}")
    items = node.items(3)
    if items is None:
        raise Unsupported("sizes that the model computes")
    sizes: list[int | None] = list(node.value(0).shape or ())
    scales = [1.0] * rank
    for axis, item in zip(axes, items, strict=True):
        if item == f"{node.tensor(0)}.shape[{axis}]":
            continue
        if not is_number(item):
            raise Unsupported("sizes that the model computes")
        sizes[axis] = int(item)
        scales[axis] = int(item) / node.size(0, axis)
    return sizes, scales


def _scaled(node: OnnxNode, scales: list[float]) -> tuple[list[int | None], list[float]]:
    shape = node.value(0).shape or ()
    sizes = [shape[d] if s == 1 else int(np.floor(node.size(0, d) * s)) for d, s in enumerate(scales)]
    return sizes, scales


def _in_torch(node: OnnxNode, before: dict[int, int], after: list[int | None], scales: list[float]) -> str:
    """A call of ``F.interpolate`` where it does the same; else empty."""
    mode, rank = node.attribute("mode", "nearest"), node.rank(0)
    exact = all(abs((after[dim] or 0) - size * scales[dim]) < 1e-6 for dim, size in before.items())
    legacy = node.operator == "Upsample" or node.opset < 11
    transform = "asymmetric" if legacy else node.attribute("coordinate_transformation_mode", "half_pixel")
    rounding = "floor" if legacy else node.attribute("nearest_mode", "round_prefer_floor")
    special = node.attribute("antialias", 0) or node.attribute("exclude_outside", 0)
    sizes = [after[dim] for dim in range(2, rank)]
    spatial_only = 3 <= rank <= 5 and min(before) >= 2 and all(size is not None for size in sizes)
    if not spatial_only or not exact or special or not node.value(0).is_floating:
        return ""
    numbers = [size for size in sizes if size is not None]
    spatial = rank - 2
    size = sequence(numbers)
    if mode == "nearest" and (transform, rounding) == ("asymmetric", "floor"):
        return f'F.interpolate({node.tensor(0)}, size={size}, mode="nearest")'
    if transform == "pytorch_half_pixel" and min(numbers) > 1:
        transform = "half_pixel"
    if transform not in ("half_pixel", "align_corners"):
        return ""
    aligned = ", align_corners=True" if transform == "align_corners" else ""
    if mode == "linear":
        return f'F.interpolate({node.tensor(0)}, size={size}, mode="{_LINEAR[spatial]}"{aligned})'
    if mode == "cubic" and spatial == 2 and node.attribute("cubic_coeff_a", -0.75) == -0.75:
        return f'F.interpolate({node.tensor(0)}, size={size}, mode="bicubic"{aligned})'
    return ""


def _by_matrices(node: OnnxNode, before: dict[int, int], after: list[int | None], scales: list[float]) -> str:
    """A product with a matrix along each dimension; a choice of rows where each row has a single 1."""
    x = node.tensor(0)
    for dim, size in before.items():
        matrix = _matrix(node, size, after[dim] or 0, scales[dim])
        if ((matrix == 0) | (matrix == 1)).all() and (matrix.sum(1) == 1).all():
            rows = node.buffer(matrix.argmax(1).astype(np.int64), "int64", "rows")
            x = f"{x}.index_select({dim}, {rows})"
        else:
            weights = node.buffer(matrix, "float32", "interpolation")
            x = f"({x}.transpose({dim}, -1) @ {weights}.T).transpose({dim}, -1)"
    return x


def _matrix(node: OnnxNode, before: int, after: int, scale: float) -> np.ndarray:
    """Row ``i`` has the weights of the elements that result ``i`` is interpolated from."""
    legacy = node.operator == "Upsample" or node.opset < 11
    transform = node.attribute("coordinate_transformation_mode", "half_pixel")
    if transform.startswith("tf_"):
        raise Unsupported(f"coordinates {transform}")
    if max(before, after) > _LARGEST:
        raise Unsupported(f"more than {_LARGEST} rows")
    names = ("mode", "coordinate_transformation_mode", "nearest_mode", "antialias", "cubic_coeff_a", "exclude_outside")
    attributes = {name: node.attribute(name) for name in names if node.attribute(name) is not None}
    if legacy:
        attributes |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    scaled = after == int(np.floor(before * scale))
    inputs = ["x", "", "scales"] if scaled else ["x", "", "", "sizes"]
    resizing = helper.make_node("Resize", inputs, ["y"], axes=[1], **attributes)
    values = {"x": np.eye(before, dtype=np.float32)}
    values |= {"scales": np.array([scale], np.float32)} if scaled else {"sizes": np.array([after], np.int64)}
    types = {"x": TensorProto.FLOAT, "scales": TensorProto.FLOAT, "sizes": TensorProto.INT64}
    graph = helper.make_graph(
        [resizing],
        "resizing",
        [helper.make_tensor_value_info(name, types[name], values[name].shape) for name in values],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    (columns,) = ReferenceEvaluator(model).run(None, values)
    return np.ascontiguousarray(np.asarray(columns).T)


_LARGEST = 1024
"""Rows of a matrix at most: interpolation that torch does not have is rare, and small."""
