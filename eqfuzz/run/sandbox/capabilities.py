"""Linux capabilities: the separate rights of root."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

_PR_CAPBSET_DROP = 24
_PR_CAP_AMBIENT, _CLEAR_ALL = 47, 4
_VERSION_3 = 0x20080522


def drop_all() -> None:
    """Drop every capability, also for programs that are started later. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_CAP_AMBIENT, ctypes.c_ulong(_CLEAR_ALL), 0, 0, 0)
    number = 0
    while libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0) == 0:
        number += 1
    if ctypes.get_errno() not in (errno.EINVAL, errno.EPERM):  # beyond the last one; or there are none to drop
        raise OSError(ctypes.get_errno(), "prctl(PR_CAPBSET_DROP)")
    header, nothing = struct.pack("Ii", _VERSION_3, 0), struct.pack("IIIIII", *[0] * 6)
    if libc.capset(header, nothing) != 0:
        raise OSError(ctypes.get_errno(), f"capset: {os.strerror(ctypes.get_errno())}")
