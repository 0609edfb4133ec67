"""Element types of ONNX, torch and NumPy."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from eqfuzz.imports.text.literals import Unsupported

_TORCH: dict[int, str] = {
    TensorProto.FLOAT: "float32",
    TensorProto.DOUBLE: "float64",
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.INT64: "int64",
    TensorProto.INT32: "int32",
    TensorProto.INT16: "int16",
    TensorProto.INT8: "int8",
    TensorProto.UINT8: "uint8",
    TensorProto.UINT16: "uint16",
    TensorProto.UINT32: "uint32",
    TensorProto.UINT64: "uint64",
    TensorProto.BOOL: "bool",
    TensorProto.COMPLEX64: "complex64",
    TensorProto.COMPLEX128: "complex128",
}


def torch_name(element_type: int) -> str:
    """torch's name of an ONNX element type; empty for ``UNDEFINED``. Raises Unsupported for strings and small types."""
    if element_type == TensorProto.UNDEFINED:
        return ""
    if element_type not in _TORCH:
        raise Unsupported(f"the element type {TensorProto.DataType.Name(element_type)}")
    return _TORCH[element_type]


def numpy_dtype(element_type: int) -> np.dtype:
    """The dtype that ``onnx.numpy_helper`` gives tensors of the element type."""
    return helper.tensor_dtype_to_np_dtype(element_type)
