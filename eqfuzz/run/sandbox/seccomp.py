"""Seccomp filter: refuses system calls that no job needs and that lead out of a sandbox, or into parts of the kernel
where such ways have been found.

They fail with EPERM, so that libraries work without them. Written as classic BPF by hand: no
library for it that is maintained is on PyPI.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

# linux/bpf_common.h, linux/seccomp.h, linux/audit.h
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16

_X32 = 0x40000000
"""Numbers from here on are those of the x32 ABI, which would get round the list below."""

_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET as flags of ``clone``."""

_SYSTEM_CALLS: dict[str, tuple[int, int]] = {
    # other processes' memory and descriptors
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # every network, AF_VSOCK (the host of a virtual machine) and AF_ALG included; pairs of sockets are left
    "socket": (41, 198),
    # file systems and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    # memory that outlives its process, or that no limit counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # large parts of the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "personality": (135, 92),
}
"""Names and their numbers on x86-64 and on 64-bit ARM."""

_CLONE, _CLONE3 = (56, 220), (435, 435)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2


def filter_program() -> bytes | None:
    """The filter as an array of ``struct sock_filter``; None for an architecture that is not listed here."""
    if platform.machine() not in _MACHINES:
        return None
    column, architecture = _MACHINES[platform.machine()]
    refuse = _ERRNO | errno.EPERM
    code = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, architecture, 1, 0),
        _step(_RETURN, refuse),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_AT_LEAST, _X32, 0, 1),
        _step(_RETURN, refuse),
        # Its flags are behind a pointer, out of reach; the C library falls back to clone.
        _step(_JUMP_EQUAL, _CLONE3[column], 0, 1),
        _step(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    for numbers in _SYSTEM_CALLS.values():
        code += [_step(_JUMP_EQUAL, numbers[column], 0, 1), _step(_RETURN, refuse)]
    code += [
        _step(_JUMP_EQUAL, _CLONE[column], 0, 3),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_JUMP_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        _step(_RETURN, refuse),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(code)


def install() -> None:
    """Apply the filter to this process and all that it starts from now on. Raises OSError."""
    program = filter_program()
    if program is None:
        raise OSError(errno.ENOSYS, f"no seccomp filter for {platform.machine()}")
    libc = ctypes.CDLL(None, use_errno=True)
    held = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(held))
    buffer = ctypes.create_string_buffer(whole, len(whole))
    for arguments in ((_PR_SET_NO_NEW_PRIVS, 1, 0), (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(buffer))):
        option, *rest = arguments
        if libc.prctl(option, *map(ctypes.c_ulong, rest), 0, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"prctl({option}): {os.strerror(number)}")


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
