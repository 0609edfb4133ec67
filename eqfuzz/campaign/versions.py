"""Of what, in which version, a finding tells that it was made with."""

from __future__ import annotations

import importlib.metadata
import platform

import eqfuzz


def versions() -> dict[str, str]:
    """eqfuzz, torch, libcst and Python."""
    return {
        "eqfuzz": eqfuzz.__version__,
        "torch": importlib.metadata.version("torch"),
        "libcst": importlib.metadata.version("libcst"),
        "python": platform.python_version(),
    }
