"""Tensors made from sizes and numbers."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from eqfuzz.imports.onnx.dtypes import torch_name
from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.registry import Result, operator
from eqfuzz.imports.onnx.values import constant_value
from eqfuzz.imports.text.literals import Unsupported, number_text


@operator("Constant")
def constant(node: OnnxNode) -> Result:
    name = node.outputs[0]
    for kind, dtype in (
        ("value_float", "float32"),
        ("value_floats", "float32"),
        ("value_int", "int64"),
        ("value_ints", "int64"),
    ):
        if kind in node.attributes:
            return constant_value(np.array(node.attributes[kind], dtype), dtype, name)
    if "value" in node.attributes:
        tensor = node.attributes["value"]
        return constant_value(numpy_helper.to_array(tensor), torch_name(tensor.data_type), name)
    raise Unsupported(f"a constant of the kind {', '.join(node.attributes)}")


@operator("ConstantOfShape")
def full(node: OnnxNode) -> str:
    tensor = node.attribute("value")
    array = numpy_helper.to_array(tensor) if tensor is not None else np.zeros(1, np.float32)
    dtype = torch_name(tensor.data_type) if tensor is not None else "float32"
    return f"torch.full({node.sizes_text(0)}, {number_text(array.reshape(-1)[0].item())}, dtype=torch.{dtype})"


@operator("Range")
def count(node: OnnxNode) -> str:
    texts = []
    for index in range(3):
        constant, items = node.constant(index), node.items(index)
        if items is not None:
            texts.append(items[0])
        else:
            texts.append(number_text(constant.item()) if constant is not None else f"{node.tensor(index)}.item()")
    return f"torch.arange({', '.join(texts)}, dtype=torch.{node.dtype(0)})"


@operator("EyeLike")
def eye(node: OnnxNode) -> str:
    element_type = node.attribute("dtype")
    dtype = torch_name(element_type) if element_type else node.dtype(0)
    x, offset = node.tensor(0), node.attribute("k", 0)
    ones = f"torch.ones_like({x}, dtype=torch.{dtype})"
    if offset == 0:
        return f"torch.eye({x}.shape[0], {x}.shape[1], dtype=torch.{dtype})"
    return f"{ones}.tril({offset}).triu({offset})"
