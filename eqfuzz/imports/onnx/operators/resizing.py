"""Interpolation to other sizes."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import operator
from eqfuzz.imports.onnx.values import Unsupported, sequence

_LINEAR = ("", "linear", "bilinear", "trilinear")
"""Names by the number of spatial dimensions."""


@operator("Resize", "Upsample")
def resize(node: OnnxNode) -> str:
    before = node.sizes(0)
    after, scales = _target(node, before)
    changed = [dim for dim in range(len(before)) if after[dim] != before[dim] or scales[dim] != 1]
    if not changed:
        return f"{node.tensor(0)}.clone()"
    function = _in_torch(node, before, after, scales, changed)
    return function if function else _by_matrices(node, after, scales, changed)


def _target(node: OnnxNode, before: tuple[int, ...]) -> tuple[list[int], list[float]]:
    """Sizes and scales of all dimensions."""
    rank = len(before)
    if node.operator == "Upsample" or node.opset < 11:
        upsample = node.operator == "Upsample" and node.opset < 9
        scales = node.attribute("scales") if upsample else node.constants(1, "scales")
        return [int(np.floor(n * s)) for n, s in zip(before, scales, strict=True)], list(scales)
    axes = [axis % rank for axis in node.attribute("axes", list(range(rank)))]
    if node.has(2) and (node.constant(2) is None or node.constant(2).size):  # type: ignore[union-attr]
        chosen = node.constants(2, "scales")
        scales = dict(zip(axes, chosen, strict=True))
        factors = [scales.get(dim, 1.0) for dim in range(rank)]
        return [int(np.floor(n * s)) for n, s in zip(before, factors, strict=True)], factors
    wanted = dict(zip(axes, node.constants(3, "sizes"), strict=True))
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        raise Unsupported(f"the policy {policy}")
    sizes = [int(wanted.get(dim, before[dim])) for dim in range(rank)]
    return sizes, [a / b for a, b in zip(sizes, before, strict=True)]


def _in_torch(
    node: OnnxNode, before: tuple[int, ...], after: list[int], scales: list[float], changed: list[int]
) -> str:
    """A call of ``F.interpolate`` where it does the same; else empty."""
    mode, rank = node.attribute("mode", "nearest"), len(before)
    exact = all(abs(a - b * s) < 1e-6 for a, b, s in zip(after, before, scales, strict=True))
    legacy = node.operator == "Upsample" or node.opset < 11
    transform = "asymmetric" if legacy else node.attribute("coordinate_transformation_mode", "half_pixel")
    rounding = "floor" if legacy else node.attribute("nearest_mode", "round_prefer_floor")
    special = node.attribute("antialias", 0) or node.attribute("exclude_outside", 0)
    if not 3 <= rank <= 5 or min(changed) < 2 or not exact or special or not node.value(0).is_floating:
        return ""
    spatial = rank - 2
    size = sequence(after[2:])
    if mode == "nearest" and (transform, rounding) == ("asymmetric", "floor"):
        return f'F.interpolate({node.tensor(0)}, size={size}, mode="nearest")'
    if transform == "pytorch_half_pixel" and min(after[2:]) > 1:
        transform = "half_pixel"
    if transform not in ("half_pixel", "align_corners"):
        return ""
    aligned = ", align_corners=True" if transform == "align_corners" else ""
    if mode == "linear":
        return f'F.interpolate({node.tensor(0)}, size={size}, mode="{_LINEAR[spatial]}"{aligned})'
    if mode == "cubic" and spatial == 2 and node.attribute("cubic_coeff_a", -0.75) == -0.75:
        return f'F.interpolate({node.tensor(0)}, size={size}, mode="bicubic"{aligned})'
    return ""


def _by_matrices(node: OnnxNode, after: list[int], scales: list[float], changed: list[int]) -> str:
    """A product with a matrix along each dimension; a choice of rows where each row has a single 1."""
    x = node.tensor(0)
    for dim in changed:
        matrix = _matrix(node, node.size(0, dim), after[dim], scales[dim])
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
