"""Locations of shipped files: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def folder(name: str) -> Path:
    """The shipped folder ``name`` (``rewrites`` or ``seeds``). Raises FileNotFoundError when the install is broken."""
    for candidate in _candidates(name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the shipped folder {name!r} is missing: reinstall eqfuzz")


def is_shipped(path: Path, name: str) -> bool:
    """Whether ``path`` lies below the shipped folder ``name``."""
    real = Path(os.path.realpath(path))  # Path.resolve raises where links go in a circle
    return any(real.is_relative_to(candidate) for candidate in _candidates(name))


def _candidates(name: str) -> tuple[Path, Path]:
    return _PACKAGE / "shipped" / name, _PACKAGE.parent / name
