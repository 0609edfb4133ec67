"""eqfuzz: a fuzzer for PyTorch's compiler built on equal programs.

``check`` and ``assert_equivalent`` compare a model of this process, compiled, with eager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eqfuzz.api.checking import assert_equivalent, check
    from eqfuzz.api.report import NotEquivalent, Report
    from eqfuzz.errors import UsageError

__version__ = "0.1.0"
__all__ = ["NotEquivalent", "Report", "UsageError", "assert_equivalent", "check"]

_MODULES = {
    "NotEquivalent": "eqfuzz.api.report",
    "Report": "eqfuzz.api.report",
    "UsageError": "eqfuzz.errors",
    "assert_equivalent": "eqfuzz.api.checking",
    "check": "eqfuzz.api.checking",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is used first: the command line needs none of them, and no torch for most."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
