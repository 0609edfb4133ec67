"""Names of variables."""

from __future__ import annotations

import builtins
import keyword
import re

FLOATS = ("x", "y", "w", "v", "u", "t", "r", "s")
"""Names of float inputs, in order."""

_TAKEN = {
    "F",
    "np",
    "nn",
    "torch",
    "self",
    "rng",
    "n",
    "m",
    "math",
    "program",
    "inputs",
    "forward",
    "i",
    "p",
    "row",
    "layer",
    "one",
}


_TAKEN |= set(dir(builtins))


class NameAllocator:
    """Allocates unique names for variables and functions."""

    def __init__(self) -> None:
        self._taken = set(_TAKEN)

    def new(self, name_hint: str) -> str:
        """``name_hint``, with a number where that is in use: ``h``, ``h2``, ``h3``; float inputs are x, y, w, …"""
        if name_hint == "x":
            for name in FLOATS:
                if name not in self._taken:
                    self._taken.add(name)
                    return name
        name_hint = name_hint if name_hint.isidentifier() and not keyword.iskeyword(name_hint) else "h"
        name, number = name_hint, 1
        while name in self._taken:
            number += 1
            name = f"{name_hint}{number}"
        self._taken.add(name)
        return name


def snake_case(name: str) -> str:
    """``LayerNorm`` as ``layer_norm``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
