"""The text of a program while an ONNX graph is translated."""

from __future__ import annotations

from eqfuzz.imports.onnx.values import OnnxValue
from eqfuzz.imports.text.literals import Unsupported
from eqfuzz.imports.text.program_text import ProgramText

_VARIABLES = {
    "BatchNormalization": "norm",
    "LayerNormalization": "norm",
    "GroupNormalization": "norm",
    "InstanceNormalization": "norm",
    "AveragePool": "pool",
    "MaxPool": "pool",
    "GlobalAveragePool": "pool",
    "GlobalMaxPool": "pool",
    "MatMul": "product",
    "Gemm": "linear",
    "LeakyRelu": "relu",
    "QuantizeLinear": "quantized",
    "DequantizeLinear": "dequantized",
}


class OnnxText(ProgramText):
    """Text of a program that writes values of ONNX graphs."""

    def __init__(self) -> None:
        super().__init__(_VARIABLES)

    def tensor(self, value: OnnxValue) -> str:
        """The text of the value as a tensor."""
        if value.text:
            return value.text
        if value.constant is not None:
            return self.constant(value.constant, value.dtype, value.hint)
        if value.items is None:
            raise Unsupported("a value that is no tensor")
        items = f"[{', '.join(value.items)}]" if value.shape else value.items[0]
        return f"torch.tensor({items})"
