"""Values of an ONNX graph as Python text, with what is known about them before any run."""

from __future__ import annotations

import dataclasses

import numpy as np

Shape = tuple[int | None, ...]
"""Sizes of a tensor; None where a size is only known when the model runs."""

MOST_ITEMS = 64
"""A constant vector of at most so many integers may stand in the text as sizes."""


@dataclasses.dataclass(frozen=True)
class OnnxValue:
    """A value of the graph.

    Attributes:
        text: Expression that needs no parentheses; empty until a tensor is needed.
        dtype: torch's name of the element type; empty: unknown.
        shape: Sizes; None where not even their number is known.
        constant: Elements of a constant; None for what is computed.
        items: Integers of a scalar or vector as Python expressions, where they are computed from sizes of tensors.
        hint: The model's name of a constant.
    """

    text: str
    dtype: str = ""
    shape: Shape | None = None
    constant: np.ndarray | None = None
    items: tuple[str, ...] | None = None
    hint: str = ""

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def is_floating(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def is_integer(self) -> bool:
        return self.dtype.startswith(("int", "uint"))

    @property
    def is_static(self) -> bool:
        """Whether all sizes are known."""
        return self.shape is not None and None not in self.shape


def sizes_value(items: tuple[str, ...], *, scalar: bool) -> OnnxValue:
    """The value of integers that are computed from sizes; a constant where all are numbers."""
    constant = None
    if all(is_number(item) for item in items):
        numbers = np.array([int(item) for item in items], np.int64)
        constant = numbers.reshape(()) if scalar else numbers
    return OnnxValue("", "int64", () if scalar else (len(items),), constant, items)


def constant_value(array: np.ndarray, dtype: str, hint: str) -> OnnxValue:
    """The value of a constant, whose text is made when a tensor is needed."""
    items = None
    if dtype in ("int64", "int32") and array.ndim <= 1 and array.size <= MOST_ITEMS:
        items = tuple(str(number) for number in array.reshape(-1).tolist())
    return OnnxValue("", dtype, array.shape, array, items, hint)


def is_number(text: str) -> bool:
    """Whether an item is an integer literal."""
    return text.lstrip("-").isdigit()
