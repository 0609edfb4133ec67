"""Sorts: what a parameter of a rule may bind, as annotations (``k: Number``).

A parameter without an annotation binds a plain tensor. Examples of generators, which are text, write a sort by name.
"""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

import torch

Tensor = Annotated[torch.Tensor, "Tensor"]
Number = Annotated[float, "Number"]
"""An int or a float, not a bool."""
Operand = Annotated[torch.Tensor, "Operand"]
"""A tensor or a number."""
Int = Annotated[int, "Int"]
Float = Annotated[float, "Float"]
Bool = Annotated[bool, "Bool"]
Ints = Annotated[tuple[int, ...], "Ints"]
"""A tuple or list of ints."""
Dtype = Annotated[torch.dtype, "Dtype"]
Anything = Annotated[Any, "Any"]
"""Written ``Any`` in examples and strings."""

SORTS = tuple(get_args(s)[1] for s in (Tensor, Number, Operand, Int, Float, Bool, Ints, Dtype, Anything))
"""The names of all sorts."""


def sort_named_by(annotation: object) -> str:
    """The name that an annotation gives: that of a sort above, a string, or a class's."""
    if isinstance(annotation, str):
        return annotation
    if get_origin(annotation) is Annotated:
        return str(get_args(annotation)[1])
    return getattr(annotation, "__name__", str(annotation))
