"""Facts that are derived from source files, stored for later calls in ``~/.cache/eqfuzz`` (``$XDG_CACHE_HOME/eqfuzz``).

An entry is named by a digest of the files' content, so it is never out of date: an edited file has another entry.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from eqfuzz.atomic_file import write_atomically

_KEPT = 3
"""Entries of one name that stay: a few checkouts and releases of torch take turns."""


def cache_folder() -> Path | None:
    """The folder of files that later calls reuse, which may be missing; None if the user has no home."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eqfuzz"
    except RuntimeError:
        return None


def derived(name: str, sources: Iterable[Path], derive: Callable[[], Any]) -> Any:
    """``derive()``, which returns JSON and reads nothing but ``sources``, the files of its own code among them.

    It is called once for each content of ``sources``; where nothing can be stored, each time. Raises OSError where a
    source cannot be read.
    """
    folder = cache_folder()
    if folder is None:
        return derive()
    file = folder / f"{name}-{_digest(sources)}.json"
    with contextlib.suppress(OSError, ValueError):  # there is none yet, or a full disk has left a part of it
        return json.loads(file.read_text(encoding="utf-8"))
    value = derive()
    with contextlib.suppress(OSError):  # it is derived again next time
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(value))
        _prune(folder, name)
    return value


def _digest(sources: Iterable[Path]) -> str:
    """Of names and content, in this version of Python, on whose parser the facts depend."""
    digest = hashlib.sha256(repr(sys.version_info[:3]).encode())
    for source in sources:
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)} ".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:16]


def _prune(folder: Path, name: str) -> None:
    """Remove all entries of this name but those stored last."""
    entries = sorted(folder.glob(f"{name}-*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in entries[_KEPT:]:
        file.unlink(missing_ok=True)
