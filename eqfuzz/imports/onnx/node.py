"""One node of a graph as its translation gets it: inputs, attributes, and the text that it may add."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eqfuzz.imports.onnx.values import OnnxValue, is_number, sizes_value
from eqfuzz.imports.text.literals import Unsupported, number_text, sequence

if TYPE_CHECKING:
    from eqfuzz.imports.onnx.onnx_text import OnnxText

_COMPOSITE = re.compile(r"[^\w.\[\]]")


@dataclasses.dataclass(frozen=True)
class OnnxNode:
    """A node of a graph.

    Methods that take the number of an input raise Unsupported where it is missing, or where they need to know more
    about it than the model says.

    Attributes:
        operator: Its type, such as ``Conv``.
        opset: Version of the operators.
        inputs: Values of its inputs; None for an optional one that is missing.
        outputs: Names of its outputs; empty for one that no node reads.
        attributes: Values of its attributes by name.
        output_dtypes: torch's names of the element types of its outputs; empty where unknown.
        program: The text to add statements and constants to.
    """

    operator: str
    opset: int
    inputs: tuple[OnnxValue | None, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    output_dtypes: tuple[str, ...]
    program: OnnxText

    def has(self, index: int) -> bool:
        """Whether the optional input is there."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def value(self, index: int) -> OnnxValue:
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            raise Unsupported(f"input {index} is missing")
        return value

    def tensor(self, index: int) -> str:
        """The text of the input as a tensor."""
        return self.program.tensor(self.value(index))

    def tensors(self) -> list[str]:
        """The texts of all inputs."""
        return [self.tensor(index) for index in range(len(self.inputs))]

    def optional(self, index: int) -> str:
        """The text of the input as a tensor, ``None`` where it is missing."""
        return self.tensor(index) if self.has(index) else "None"

    def operand(self, index: int, other: int) -> str:
        """The text of an operand of elementwise arithmetic: a literal for a constant scalar beside a tensor."""
        value, beside = self.value(index), self.value(other)
        constant = value.constant
        plain = constant is not None and constant.size == 1 and constant.dtype.kind in "fiub"
        if not plain or constant is None or beside.constant is not None or beside.rank is None:
            return self.tensor(index)
        if beside.rank < max(constant.ndim, 1) or beside.dtype != value.dtype or value.dtype in _NO_LITERALS:
            return self.tensor(index)
        text = number_text(constant.reshape(-1)[0].item())
        return f"({text})" if text.startswith("-") else text

    def uses(self, output: int) -> bool:
        """Whether another node or the model reads the output."""
        return output < len(self.outputs) and bool(self.outputs[output])

    def attribute(self, name: str, default: Any = None) -> Any:
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def rank(self, index: int) -> int:
        rank = self.value(index).rank
        if rank is None:
            raise Unsupported(f"the number of dimensions of input {index} is unknown")
        return rank

    def size(self, index: int, dim: int) -> int:
        """A size that is known before the run."""
        size = (self.value(index).shape or (None,) * 64)[dim]
        if size is None:
            raise Unsupported(f"size {dim} of input {index} is unknown")
        return size

    def sizes(self, index: int) -> tuple[int, ...]:
        """All sizes, known before the run."""
        return tuple(self.size(index, dim) for dim in range(self.rank(index)))

    def dtype(self, index: int) -> str:
        dtype = self.value(index).dtype
        if not dtype:
            raise Unsupported(f"the element type of input {index} is unknown")
        return dtype

    def constant(self, index: int) -> np.ndarray | None:
        """The elements of a constant input; None where it is missing or computed."""
        return self.value(index).constant if self.has(index) else None

    def constants(self, index: int, what: str) -> list[Any]:
        """The elements of an input that has to be constant; ``what`` names it in the message."""
        constant = self.constant(index)
        if constant is None:
            raise Unsupported(f"{what} that the model computes")
        return constant.reshape(-1).tolist()

    def items(self, index: int) -> tuple[str, ...] | None:
        """The integers of an input that is computed from sizes; None for other inputs."""
        return self.value(index).items

    def axis(self, index: int, default: int | None = None) -> int:
        """The attribute ``axis``, from 0 where the number of dimensions of the input is known."""
        axis = self.attribute("axis", default)
        if axis is None:
            raise Unsupported("no axis")
        rank = self.value(index).rank
        return axis + rank if axis < 0 and rank is not None else axis

    def axes(self, index: int, input_index: int | None) -> list[int] | None:
        """Axes from the attribute of older opsets or from an input; None where there are none."""
        axes = self.attribute("axes")
        if axes is None and input_index is not None and self.has(input_index):
            axes = self.constants(input_index, "axes")
        if axes is None:
            return None
        rank = self.value(index).rank
        return [int(a) + rank if a < 0 and rank is not None else int(a) for a in axes]

    def sizes_text(self, index: int) -> str:
        """An input as a Python sequence of sizes, for functions that take a shape."""
        items = self.items(index)
        return f"{self.tensor(index)}.tolist()" if items is None else sequence(items)

    def buffer(self, array: np.ndarray, dtype: str, name: str) -> str:
        """The text of a constant tensor of the seed."""
        return self.program.constant(array, dtype, name)

    def function(self, name: str) -> str:
        """The name of a function of ``seed_functions``, which the seed then has."""
        return self.program.function(name)

    def local(self, expression: str, name: str) -> str:
        """The name of a local variable that is assigned the expression."""
        return self.program.assign(name, expression)


_NO_LITERALS = frozenset({"", "bool", "uint16", "uint32", "uint64"})


def item_text(text: str) -> str:
    """An item as an operand of Python arithmetic."""
    return f"({text})" if _COMPOSITE.search(text) and not is_number(text) else text


def sizes_of(items: Sequence[str], *, scalar: bool = False) -> OnnxValue:
    """The result of a node that computes sizes."""
    return sizes_value(tuple(items), scalar=scalar)
