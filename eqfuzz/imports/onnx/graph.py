"""Translation of a graph, node by node."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from eqfuzz.imports.onnx.dtypes import torch_name
from eqfuzz.imports.onnx.function_texts import function_texts
from eqfuzz.imports.onnx.model import opset_of
from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.onnx_text import OnnxText
from eqfuzz.imports.onnx.registry import Result, translations
from eqfuzz.imports.onnx.sizes import chosen_sizes, of_sizes
from eqfuzz.imports.onnx.values import OnnxValue, Shape, constant_value
from eqfuzz.imports.text.literals import Unsupported
from eqfuzz.imports.text.seed_text import Input, TranslatedGraph

MOST_FOLDED = 4096
"""Elements of a constant that is computed from constants while the model is read, at most."""

_MADE_BY_SIZES = frozenset({"ConstantOfShape", "Range", "Expand", "Tile", "OneHot", "EyeLike", "Pad", "Resize"})
"""Operators whose result may be large although their inputs are small."""


class UnsupportedOperators(Unsupported):
    """A model has operators without a translation. ``str()`` names each with its count."""

    def __init__(self, counts: dict[str, int]) -> None:
        super().__init__("unsupported operators: " + ", ".join(f"{name} ({n})" for name, n in sorted(counts.items())))


def translate(model: onnx.ModelProto) -> TranslatedGraph:
    """Translate the graph of a model that is ``prepared``. Raises Unsupported."""
    graph = model.graph
    counts = collections.Counter(_full_name(node) for node in graph.node)
    unknown = {name: count for name, count in counts.items() if name not in translations()}
    if unknown:
        raise UnsupportedOperators(unknown)
    return _GraphTranslator(graph, opset_of(model)).translate(dict(counts))


def _full_name(node: onnx.NodeProto) -> str:
    return node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"


class _GraphTranslator:
    def __init__(self, graph: onnx.GraphProto, opset: int) -> None:
        self._graph = graph
        self._opset = opset
        self._program = OnnxText()
        self._types = {info.name: info for info in (*graph.value_info, *graph.output, *graph.input)}
        self._uses = {name for node in graph.node for name in node.input} | {output.name for output in graph.output}
        self._values: dict[str, OnnxValue] = {}

    def translate(self, counts: dict[str, int]) -> TranslatedGraph:
        weights = {tensor.name for tensor in self._graph.initializer}
        inputs = [self._input(info) for info in self._graph.input if info.name not in weights]
        if self._graph.sparse_initializer:
            raise Unsupported("sparse weights")
        for tensor in self._graph.initializer:
            array = numpy_helper.to_array(tensor)
            self._values[tensor.name] = constant_value(array, torch_name(tensor.data_type), tensor.name)
        for node in self._graph.node:
            try:
                self._add(node)
            except Unsupported as error:
                name = node.name or (node.output[0] if node.output else "")
                raise Unsupported(f"unsupported {_full_name(node)} ({name!r}): {error}") from None
        results = tuple(self._program.tensor(self._read(output.name)) for output in self._graph.output)
        functions = function_texts(self._program.functions)
        return TranslatedGraph(self._program, tuple(inputs), results, counts, functions)

    def _input(self, info: onnx.ValueInfoProto) -> Input:
        if not info.type.HasField("tensor_type"):
            raise Unsupported(f"input {info.name!r} is no tensor")
        tensor = info.type.tensor_type
        if not tensor.HasField("shape"):
            raise Unsupported(f"input {info.name!r} has no shape")
        name = self._program.argument(info.name)
        dtype, shape = self._type_of(info.name)
        self._values[info.name] = OnnxValue(name, dtype, shape)
        sizes = tuple(
            d.dim_value if d.HasField("dim_value") else d.dim_param or f"{name}_{number}"
            for number, d in enumerate(tensor.shape.dim)
        )
        return Input(name, dtype, sizes, self._classes(info.name))

    def _classes(self, name: str) -> int | None:
        """Rows of the smallest table that an input of integers is an index into."""
        tables = {tensor.name: tuple(tensor.dims) for tensor in self._graph.initializer}
        indices, rows = {name}, []
        for node in self._graph.node:
            if node.op_type in ("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze") and node.input[0] in indices:
                indices.add(node.output[0])
            if node.op_type == "Gather" and node.input[1] in indices and node.input[0] in tables:
                axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
                rows.append(tables[node.input[0]][axis])
        return min(rows) if rows else None

    def _type_of(self, name: str) -> tuple[str, Shape | None]:
        info = self._types.get(name)
        if info is None or not info.type.HasField("tensor_type"):
            return "", None
        tensor = info.type.tensor_type
        shape = None
        if tensor.HasField("shape"):
            shape = tuple(d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim)
        return torch_name(tensor.elem_type), shape

    def _read(self, name: str) -> OnnxValue:
        if name not in self._values:
            raise Unsupported(f"the value {name!r} that no node computes before")
        return self._values[name]

    def _add(self, proto: onnx.NodeProto) -> None:
        outputs = tuple(name if name in self._uses else "" for name in proto.output)
        if not any(outputs):
            return
        inputs = tuple(self._read(name) if name else None for name in proto.input)
        node = OnnxNode(
            operator=proto.op_type,
            opset=self._opset,
            inputs=inputs,
            outputs=outputs,
            attributes={attribute.name: _attribute(attribute) for attribute in proto.attribute},
            output_dtypes=tuple(self._type_of(name)[0] if name else "" for name in proto.output),
            program=self._program,
        )
        result: Result | None = self._folded(proto, node) or of_sizes(node) or chosen_sizes(node)
        if result is None:
            _require_arithmetic(node)
            result = translations()[proto.op_type](node)
        self._store(proto, node, result)

    def _store(self, proto: onnx.NodeProto, node: OnnxNode, result: Result) -> None:
        if isinstance(result, OnnxValue):
            self._values[proto.output[0]] = result
            return
        texts = [self._program.assign(node.operator, result)] if isinstance(result, str) else result
        for name, text in zip(proto.output, texts, strict=False):
            if name:
                dtype, shape = self._type_of(name)
                self._values[name] = OnnxValue(text, dtype, _expanded_shape(node) or shape)

    def _folded(self, proto: onnx.NodeProto, node: OnnxNode) -> OnnxValue | None:
        """The constant that a node with constant inputs gives, where it is small and of integers or bools."""
        values = [value for value in node.inputs if value is not None]
        if not values or len(proto.output) != 1 or any(value.constant is None for value in values):
            return None
        dtype, shape = self._type_of(proto.output[0])
        if not dtype.startswith(("int", "uint", "bool")) or not _is_small(proto, values, shape):
            return None
        constants = {
            name: _array(value) for name, value in zip(proto.input, node.inputs, strict=True) if value is not None
        }
        result = _evaluated(proto, constants, self._opset)
        return None if result is None else constant_value(result, dtype, proto.output[0])


def _expanded_shape(node: OnnxNode) -> Shape | None:
    """The shape of an ``Expand`` to sizes that are folded, which ONNX's own inference does not see; else None."""
    if node.operator != "Expand" or node.inputs[0] is None or node.inputs[1] is None:
        return None
    shape, sizes = node.inputs[0].shape, node.inputs[1].constant
    if shape is None or None in shape or sizes is None:
        return None
    return tuple(np.broadcast_shapes([size for size in shape if size is not None], sizes.tolist()))


_UNSIGNED = frozenset({"uint16", "uint32", "uint64"})
_MOVES = frozenset(
    """
    Cast CastLike Identity Reshape Transpose Concat Flatten Squeeze Unsqueeze Shape Size Expand Split Slice Gather
    Where Equal QuantizeLinear DequantizeLinear
    """.split()
)


def _require_arithmetic(node: OnnxNode) -> None:
    """Raises Unsupported for arithmetic on integers for which torch has none."""
    if node.operator in _MOVES:
        return
    for value in node.inputs:
        if value is not None and value.dtype in _UNSIGNED:
            raise Unsupported(f"torch has no arithmetic of {value.dtype}")


def _array(value: OnnxValue) -> np.ndarray:
    assert value.constant is not None
    return value.constant


def _is_small(proto: onnx.NodeProto, values: list[OnnxValue], shape: Shape | None) -> bool:
    if any(_array(value).size > MOST_FOLDED for value in values):
        return False
    if proto.op_type not in _MADE_BY_SIZES:
        return True
    if shape is None or None in shape:
        return False
    return int(np.prod([size for size in shape if size is not None], dtype=object)) <= MOST_FOLDED


def _evaluated(proto: onnx.NodeProto, constants: dict[str, np.ndarray], opset: int) -> np.ndarray | None:
    graph = helper.make_graph(
        [proto],
        "constants",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in constants.items()
        ],
        [onnx.ValueInfoProto(name=proto.output[0])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    (result,) = ReferenceEvaluator(model).run(None, constants)
    return np.asarray(result) if isinstance(result, np.ndarray | np.generic) else None


def _attribute(attribute: onnx.AttributeProto) -> Any:
    if attribute.ref_attr_name:
        raise Unsupported(f"the attribute {attribute.name!r} that refers to a parameter of a function")
    value = helper.get_attribute_value(attribute)
    if value is None:
        raise Unsupported(f"the attribute {attribute.name!r} without a value")
    return value
