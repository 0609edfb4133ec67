"""Landlock: a process gives up, for itself and all that it starts, the access to everything that it has not listed."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

# linux/landlock.h; the numbers are the same on every architecture
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

NEEDED = 6
"""The version of Linux 6.12: from there on it covers signals, without which a job could end the process that supervises
it, and abstract sockets."""

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL_DEVICE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_ALL = (1 << 16) - 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_BIND_AND_CONNECT = 3
_SIGNALS_AND_ABSTRACT_SOCKETS = 3

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""Devices that may be read and written."""

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The version that the kernel offers; 0 if it has no Landlock, or it is switched off."""
    result = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    return max(0, result)


def restrict(read: Iterable[Path], write: Iterable[Path]) -> None:
    """From now on this process reads only below ``read`` and ``write``, writes only below ``write``, and signals and
    traces only processes that it has started. It cannot connect by TCP or abstract sockets.

    Paths that do not exist are skipped. This cannot be undone. Raises OSError where the kernel's Landlock is older than
    ``NEEDED``.
    """
    if version() < NEEDED:
        raise OSError(errno.ENOSYS, f"Landlock {NEEDED} is needed, the kernel has {version()}")
    handled = struct.pack("QQQ", _ALL, _BIND_AND_CONNECT, _SIGNALS_AND_ABSTRACT_SOCKETS)
    ruleset = _call("landlock_create_ruleset", _CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    try:
        for path in read:
            _allow(ruleset, path, _READ)
        for path in (*write, *map(Path, DEVICES)):
            _allow(ruleset, path, _ALL)
        if _libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
        _call("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, access: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                access &= _OF_FILES
            rule = struct.pack("=Qi", access, descriptor)
            _call("landlock_add_rule", _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        finally:
            os.close(descriptor)


def _call(name: str, number: int, *arguments: object) -> int:
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
