"""Where the files that come with eqfuzz lie: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def folder(name: str) -> Path:
    """The shipped folder ``name`` (``rewrites`` or ``seeds``). Raises FileNotFoundError when the install is broken."""
    for candidate in (_PACKAGE / "shipped" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the shipped folder {name!r} is missing: reinstall eqfuzz")
