"""Objects that are closed at the end of a ``with`` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closeable(ABC):
    """Base of what holds files, processes or connections: a context manager that closes itself."""

    @abstractmethod
    def close(self) -> None:
        """Release what it holds; may be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
