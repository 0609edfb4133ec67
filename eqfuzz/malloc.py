"""What the C library's malloc does with freed memory; nothing where it is not glibc."""

from __future__ import annotations

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Those of malloc.h."""


def keep_freed() -> None:
    """Keep what is freed for the next tensors: fresh pages for each cost more than the arithmetic on it."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, 64 << 20)
        libc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)


def release_freed() -> None:
    """Return what is freed to the system."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
