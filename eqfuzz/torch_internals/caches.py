"""Where torch keeps on the disk what it has made."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

HEADERS = "precompiled_headers"
"""The folder in torch's cache folder that has its precompiled headers; torch 2.6 makes none."""


def headers_below(temporary: Path, user: str) -> Path:
    """Where torch looks for its precompiled headers as ``user``: below TMPDIR, whatever its cache folder is."""
    return temporary / f"torchinductor_{user}" / HEADERS


def keep_headers_in(folder: Path) -> None:
    """Have precompiled headers that are made from now on lie in ``folder``, where torch has read its variables already.

    Imports Inductor.
    """
    codecache: Any = importlib.import_module("torch._inductor.codecache")
    if hasattr(codecache, "_HEADER_DIR"):
        codecache._HEADER_DIR = str(folder)
        codecache._HEADER_LOCK_DIR = str(folder / "locks")
