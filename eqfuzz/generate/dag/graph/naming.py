"""Names as a person gives them."""

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
    """Gives every thing a name of its own."""

    def __init__(self) -> None:
        self._taken = set(_TAKEN)

    def new(self, noun: str) -> str:
        """``noun``, or the next that is free: ``h``, ``h2``, ``h3``; float inputs are x, y, w, …"""
        if noun == "x":
            for name in FLOATS:
                if name not in self._taken:
                    self._taken.add(name)
                    return name
        noun = noun if noun.isidentifier() and not keyword.iskeyword(noun) else "h"
        name, number = noun, 1
        while name in self._taken:
            number += 1
            name = f"{noun}{number}"
        self._taken.add(name)
        return name


def snake_case(name: str) -> str:
    """``LayerNorm`` as ``layer_norm``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
