"""Comparisons, logic, choices, casts."""

from __future__ import annotations

from eqfuzz.imports.onnx.dtypes import torch_name
from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import Result, operator

_SIGNS = {
    "Equal": "==",
    "Greater": ">",
    "GreaterOrEqual": ">=",
    "Less": "<",
    "LessOrEqual": "<=",
    "And": "&",
    "Or": "|",
    "Xor": "^",
}


@operator(*_SIGNS)
def compare(node: OnnxNode) -> str:
    return f"{node.operand(0, 1)} {_SIGNS[node.operator]} {node.operand(1, 0)}"


@operator("Not")
def invert(node: OnnxNode) -> str:
    return f"~{node.tensor(0)}"


@operator("Where")
def choose(node: OnnxNode) -> str:
    return f"torch.where({node.tensor(0)}, {node.operand(1, 2)}, {node.operand(2, 1)})"


@operator("Cast")
def cast(node: OnnxNode) -> Result:
    dtype = torch_name(node.attribute("to"))
    if node.value(0).dtype == dtype:
        return node.value(0)
    return f"{node.tensor(0)}.to(torch.{dtype})"


@operator("CastLike")
def cast_like(node: OnnxNode) -> str:
    return f"{node.tensor(0)}.to({node.tensor(1)}.dtype)"


@operator("Identity")
def identity(node: OnnxNode) -> Result:
    return node.value(0)
