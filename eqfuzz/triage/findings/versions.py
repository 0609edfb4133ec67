"""The versions that a run and its findings record."""

from __future__ import annotations

import importlib.metadata
import platform

import eqfuzz
from eqfuzz.program.release import this_release


def versions() -> dict[str, str]:
    """eqfuzz, torch and its ``build``, of a nightly ``git`` too, libcst and Python."""
    return {
        "eqfuzz": eqfuzz.__version__,
        **this_release().to_versions(),
        "libcst": importlib.metadata.version("libcst"),
        "python": platform.python_version(),
    }
