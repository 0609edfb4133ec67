"""Arithmetic on sizes: exporters compute shapes by nodes, which become Python integers in the text."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from eqfuzz.imports.onnx.dtypes import torch_name
from eqfuzz.imports.onnx.node import OnnxNode, item_text, sizes_of
from eqfuzz.imports.onnx.values import OnnxValue, constant_value, is_number

_LONGEST = 60
"""Longer items get a variable: one used twice would double with each use."""


def of_sizes(node: OnnxNode) -> OnnxValue | None:
    """The result of a node whose inputs are all integers computed from sizes; None where it is no such node."""
    function = _FUNCTIONS.get(node.operator)
    values = [value for value in node.inputs if value is not None]
    if function is None or not values or any(value.items is None for value in values):
        return None
    if all(value.constant is not None for value in values):
        return None
    if any(value.dtype not in ("int64", "int32", "bool") for value in values):
        return None
    result = function(node)
    return result if result is None else _named(node, result)


def _named(node: OnnxNode, value: OnnxValue) -> OnnxValue:
    """The value with variables for what is long."""
    items = value.items or ()
    if all(len(item) <= _LONGEST for item in items):
        return value
    named = [node.local(item, "size") if len(item) > _LONGEST else item for item in items]
    return sizes_of(named, scalar=value.shape == ())


def _elementwise(node: OnnxNode) -> OnnxValue | None:
    left, right = node.value(0), node.value(1)
    one, other = left.items or (), right.items or ()
    count = max(len(one), len(other))
    if not {len(one), len(other)} <= {1, count}:
        return None
    pairs = zip(one * (count // len(one)), other * (count // len(other)), strict=True)
    items = [_calculated(node.operator, a, b) for a, b in pairs]
    return sizes_of(items, scalar=left.shape == () and right.shape == ())


_ON_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": lambda a, b: int(a / b),
    "Max": max,
    "Min": min,
}


def _calculated(name: str, left: str, right: str) -> str:
    if is_number(left) and is_number(right):
        return str(_ON_NUMBERS[name](int(left), int(right)))
    neutral = {"Add": "0", "Sub": "0", "Mul": "1", "Div": "1"}.get(name)
    if right == neutral:
        return left
    if left == neutral and name in ("Add", "Mul"):
        return right
    if name in ("Max", "Min"):
        return f"{name.lower()}({left}, {right})"
    sign = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "//"}[name]
    return f"{item_text(left)} {sign} {item_text(right)}"


def _same(node: OnnxNode) -> OnnxValue | None:
    return node.value(0)


def _cast(node: OnnxNode) -> OnnxValue | None:
    return node.value(0) if torch_name(node.attribute("to")) in ("int64", "int32") else None


def _gather(node: OnnxNode) -> OnnxValue | None:
    places, value = node.constant(1), node.value(0)
    if places is None or value.rank != 1 or places.ndim > 1:
        return None
    items = value.items or ()
    return sizes_of([items[int(place)] for place in places.reshape(-1)], scalar=places.ndim == 0)


def _concat(node: OnnxNode) -> OnnxValue | None:
    if any(node.value(index).rank != 1 for index in range(len(node.inputs))):
        return None
    return sizes_of([item for index in range(len(node.inputs)) for item in node.value(index).items or ()])


def _slice(node: OnnxNode) -> OnnxValue | None:
    bounds = [node.constant(index) for index in (1, 2)]
    step = node.constant(4)
    if any(bound is None for bound in bounds) or (node.has(4) and step is None):
        return None
    start, end = (int(bound.reshape(-1)[0]) for bound in bounds if bound is not None)
    stride = 1 if step is None else int(step.reshape(-1)[0])
    return sizes_of((node.value(0).items or ())[start : end if end > -(2**31) else None : stride])


def _unsqueeze(node: OnnxNode) -> OnnxValue | None:
    return sizes_of(node.value(0).items or ()) if node.value(0).rank == 0 else None


def _squeeze(node: OnnxNode) -> OnnxValue | None:
    return sizes_of(node.value(0).items or (), scalar=True) if node.value(0).shape == (1,) else None


def _reshape(node: OnnxNode) -> OnnxValue | None:
    shape = node.constant(1)
    if shape is None or shape.size > 1:
        return None
    return sizes_of(node.value(0).items or (), scalar=shape.size == 0)


def _product(node: OnnxNode) -> OnnxValue | None:
    items = node.value(0).items or ()
    result = "1"
    for item in items:
        result = _calculated("Mul", result, item)
    return sizes_of([result], scalar=not node.attribute("keepdims", 1))


def _equal(node: OnnxNode) -> OnnxValue | None:
    """Whether sizes equal numbers: a size that is computed is never negative."""
    left, right = node.value(0).items or (), node.value(1).items or ()
    count = max(len(left), len(right))
    results: list[bool] = []
    for a, b in zip(left * (count // max(len(left), 1)), right * (count // max(len(right), 1)), strict=True):
        if is_number(a) and is_number(b):
            results.append(int(a) == int(b))
        elif "-1" in (a, b):
            results.append(False)
        else:
            return None
    return constant_value(np.array(results), "bool", "equal")


_FUNCTIONS: dict[str, Callable[[OnnxNode], OnnxValue | None]] = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Max", "Min"), _elementwise),
    "Identity": _same,
    "Cast": _cast,
    "Gather": _gather,
    "Concat": _concat,
    "Slice": _slice,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": _reshape,
    "ReduceProd": _product,
    "Equal": _equal,
}


def chosen_sizes(node: OnnxNode) -> OnnxValue | None:
    """``Where`` under a constant condition, of sizes; None where it is something else."""
    condition = node.constant(0)
    if node.operator != "Where" or condition is None or any(node.value(i).items is None for i in (1, 2)):
        return None
    left, right = node.value(1).items or (), node.value(2).items or ()
    count = max(condition.size, len(left), len(right))
    if not {condition.size, len(left), len(right)} <= {1, count}:
        return None
    parts = [values * (count // len(values)) for values in (tuple(condition.reshape(-1).tolist()), left, right)]
    items = [a if first else b for first, a, b in zip(*parts, strict=True)]
    return sizes_of(items, scalar=condition.ndim == 0 and node.value(1).shape == () and node.value(2).shape == ())
