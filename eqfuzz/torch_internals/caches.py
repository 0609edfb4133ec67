"""Folders of torch's caches."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

HEADERS = "precompiled_headers"
"""The folder for precompiled headers in torch's cache folder; torch 2.6 makes none."""


def headers_below(temporary: Path, user: str) -> Path:
    """Where torch looks for precompiled headers as ``user``: below TMPDIR, independent of its cache folder."""
    return temporary / f"torchinductor_{user}" / HEADERS


def keep_headers_in(folder: Path) -> None:
    """From now on, write precompiled headers to ``folder``, also where torch has read its variables already.

    Imports Inductor.
    """
    codecache: Any = importlib.import_module("torch._inductor.codecache")
    if hasattr(codecache, "_HEADER_DIR"):
        codecache._HEADER_DIR = str(folder)
        codecache._HEADER_LOCK_DIR = str(folder / "locks")
