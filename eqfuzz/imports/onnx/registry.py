"""The translations of operators, by the operator's name."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from types import MappingProxyType

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.onnx.values import OnnxValue

Result = str | list[str] | OnnxValue
"""An expression for the only output, names of variables for all outputs, or a value that needs no variable."""

Translation = Callable[[OnnxNode], Result]

_TRANSLATIONS: dict[str, Translation] = {}


def operator(*names: str) -> Callable[[Translation], Translation]:
    """Register the decorated function as the translation of the operators of these names."""

    def register(function: Translation) -> Translation:
        for name in names:
            if name in _TRANSLATIONS:
                raise ValueError(f"{name} has two translations")
            _TRANSLATIONS[name] = function
        return function

    return register


@functools.cache
def translations() -> Mapping[str, Translation]:
    """All translations; their modules are imported by the first call."""
    from eqfuzz.imports.onnx import operators

    for module in pkgutil.iter_modules(operators.__path__):
        importlib.import_module(f"{operators.__name__}.{module.name}")
    return MappingProxyType(_TRANSLATIONS)
