"""What catalogues consist of: entries, each with samples, which are calls that can be run and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import torch

from eqfuzz.generate.catalogues.expression import WrittenCall

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
"""Those by position and those by keyword."""


class Sample(Protocol):
    """One call of an entry."""

    @property
    def is_guess(self) -> bool:
        """Whether eager may refuse it: PyTorch's tests do not have it. Refused guesses are not counted."""
        ...

    @property
    def tensors(self) -> list[torch.Tensor]:
        """Those among its arguments."""
        ...

    def ready(self) -> Callable[[], Any]:
        """Build what is called, and return the call, which raises what eager raises."""
        ...

    def written(self) -> WrittenCall:
        """The call as source. Raises Unwritable."""
        ...


class CatalogueEntry(Protocol):
    """An operator, a module, an optimizer, a function of NumPy."""

    @property
    def name(self) -> str:
        """An identifier, unique in its catalogue."""
        ...

    def supports(self, dtype: torch.dtype) -> bool:
        """Whether eager takes operands of ``dtype``."""
        ...

    def samples(self, dtype: torch.dtype) -> Iterator[Sample]:
        """The same samples each time, once generators are seeded. Raises what a catalogue's own code raises."""
        ...
