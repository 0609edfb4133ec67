"""Python literals, and what cannot be written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Unsupported(Exception):
    """A model cannot be written as a seed. ``str()`` names the operator and the reason."""


def sequence(items: tuple[str, ...] | list[str] | tuple[int, ...] | list[int]) -> str:
    """A Python tuple of the items."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(map(str, items))})"


def number_text(value: float | int | bool) -> str:
    """A Python literal of the number; NaN and infinities as ``float("…")``."""
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def joined(texts: Sequence[str]) -> str:
    """Arguments of a call, without those that are empty."""
    return ", ".join(text for text in texts if text)
