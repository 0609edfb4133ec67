"""What compilers leave behind kept small: a night's run writes some gigabytes of kernels that nobody asks for again."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

from eqfuzz.run.limits import GIB

CACHE_BYTES = 4 * GIB
IDLE = 3600.0
"""Seconds: a file used later than that ago stays. Whoever builds or loads one is through much sooner."""

EVERY = 600.0
"""Seconds between two looks during a run."""


def prune(folder: Path, limit: int = CACHE_BYTES, idle: float = IDLE) -> int:
    """Remove files below ``folder``, longest unused first, until ``limit`` bytes are left. Returns the bytes removed.

    What is missing afterwards is built again: torch's entries hold the source of their kernels, and the store of
    kernels looks whether a library is there.
    """
    oldest = sorted((used, size, path) for path, (used, size) in _files(folder).items())
    left = sum(size for _, size, _ in oldest)
    removed = 0
    for used, size, path in oldest:
        if left - removed <= limit or used > time.time() - idle:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            removed += size
    return removed


def _files(folder: Path) -> dict[Path, tuple[float, int]]:
    """When each was used last, and its size; links are not followed, and what vanishes meanwhile is left out."""
    found: dict[Path, tuple[float, int]] = {}
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and not path.is_symlink():
                told = path.stat()
                found[path] = told.st_mtime, told.st_size
    return found


class CacheEvictor:
    """``prune`` of one folder, asked for at any time and from any thread, done every few minutes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._next = 0.0

    def due(self) -> None:
        """Prune, if that was not done lately."""
        with self._lock:
            if time.monotonic() < self._next:
                return
            self._next = time.monotonic() + EVERY
        prune(self._folder)
