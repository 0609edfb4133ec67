"""Eviction from the caches of compilers: a run of one night writes gigabytes of kernels that are not used again."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

from eqfuzz.run.limits import GIB

CACHE_BYTES = 4 * GIB
IDLE = 3600.0
"""Seconds since its last use in which a file is never removed: building or loading it takes less time."""

EVERY = 600.0
"""Seconds between two evictions during a run."""


def prune(folder: Path, limit: int = CACHE_BYTES, idle: float = IDLE) -> int:
    """Remove files below ``folder``, longest unused first, until ``limit`` bytes are left. Returns the bytes removed.

    A removed file is built again: torch's cache entries hold the source of their kernels, and ``KernelCache`` checks
    whether a library exists.
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
    """The time of last use and the size of each file; links are not followed, files that vanish are skipped."""
    files: dict[Path, tuple[float, int]] = {}
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and not path.is_symlink():
                status = path.stat()
                files[path] = status.st_mtime, status.st_size
    return files


class CacheEvictor:
    """``prune`` of one folder, at most every few minutes; it may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._next = 0.0

    def due(self) -> None:
        """Prune, unless that was done recently."""
        with self._lock:
            if time.monotonic() < self._next:
                return
            self._next = time.monotonic() + EVERY
        prune(self._folder)
