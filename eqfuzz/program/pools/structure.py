"""The structure of a seed: what one call of its program runs in eager."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from pydantic import Field, StringConstraints

_Name = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\n\r]*$")]
_Amount = Annotated[int, Field(ge=0, le=2**50)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramStructure:
    """What one call runs.

    Attributes:
        operators: ATen operators with how often they ran, by name.
        kernels: Sizes of the kernel of each convolution, without channels: ``(3, 3)``.
        parameters: Elements of the module's parameters and buffers.
        layers: Operators that ran and are no views.
        submodules: Dotted names of the submodules that ran, each once, in the order of their first calls.
    """

    operators: tuple[tuple[_Name, _Amount], ...] = ()
    kernels: tuple[tuple[_Amount, ...], ...] = ()
    parameters: _Amount = 0
    layers: _Amount = 0
    submodules: tuple[_Name, ...] = ()
