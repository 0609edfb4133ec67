"""The functions of NumPy that Dynamo reads as functions of torch."""

from __future__ import annotations

import types

import numpy as np
import torch._numpy as reading

__all__ = ["numpy_functions"]

_MODULES = ("", "linalg.", "fft.")
_ABOUT_TYPES = frozenset("can_cast common_type dtype finfo iinfo issubdtype min_scalar_type result_type".split())
_NOT_DETERMINED = frozenset("empty empty_like from_dlpack".split())


def numpy_functions() -> list[str]:
    """Their names below ``numpy``, without those about types and those whose results are not determined."""
    names: list[str] = []
    for prefix in _MODULES:
        ours, theirs = (getattr(module, prefix.rstrip("."), module) for module in (reading, np))
        names += [
            f"{prefix}{name}"
            for name in sorted(vars(ours))
            if isinstance(getattr(ours, name), types.FunctionType)
            and not name.startswith("_")
            and callable(getattr(theirs, name, None))
        ]
    return [name for name in names if name not in _ABOUT_TYPES | _NOT_DETERMINED]
