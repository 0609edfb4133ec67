"""Starts programs inside bubblewrap: own namespaces, a narrow read-only view, one folder to write to."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from eqfuzz.run.sandbox.mounts import MountView
from eqfuzz.run.sandbox.seccomp import filter_program

TEMPORARY = "/tmp"
"""The writable folder of a sandbox: in memory, removed with it."""

SHARED_MEMORY = "/dev/shm"

_ALWAYS = (
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--as-pid-1",
    "--cap-drop",
    "ALL",
    "--clearenv",
    "--hostname",
    "sandbox",
)

# A process dies with the thread that started it, so that thread must stay.
_starter = ThreadPoolExecutor(1, thread_name_prefix="bubblewrap")


def executable() -> str | None:
    """The path of ``bwrap``; None if it is not installed."""
    return shutil.which("bwrap")


def start_sandboxed(
    command: Sequence[str],
    view: MountView,
    variables: Mapping[str, str],
    *,
    folder: str,
    disk_bytes: int,
    output: IO[bytes] | int,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start ``command`` in ``folder`` as the first process of a sandbox, which dies with this process.

    ``view`` is visible, ``variables`` are its environment; it may write ``disk_bytes`` below ``/tmp``, and prints to
    ``output``. Returns the process of bubblewrap, whose only child is the first process. Raises OSError.
    """
    bwrap = executable()
    program = filter_program()
    if bwrap is None:
        raise FileNotFoundError("bwrap is not installed")
    rules = os.memfd_create("seccomp") if program is not None else None
    try:
        descriptors = [*pass_fds]
        arguments = [bwrap, *_ALWAYS]
        if rules is not None and program is not None:
            os.write(rules, program)
            os.lseek(rules, 0, os.SEEK_SET)
            descriptors.append(rules)
            arguments += ["--seccomp", str(rules)]
        arguments += _mounts(view, disk_bytes)
        arguments += [word for name, value in variables.items() for word in ("--setenv", name, value)]
        arguments += ["--chdir", folder, "--", *command]

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                arguments,
                env={},
                pass_fds=descriptors,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

        return _starter.submit(start).result()
    finally:
        if rules is not None:
            os.close(rules)


_PROC_READ_ONLY = ("bus", "fs", "irq", "sys", "sysrq-trigger")
"""Settings of the kernel below ``/proc``. Root's files there are root's in a sandbox too, whatever its rights: without
this ``/proc/sys/kernel/core_pattern`` can be written, which names a program that the kernel runs outside."""

_PROC_HIDDEN = ("kcore", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags", "sched_debug", "timer_list")


def _mounts(view: MountView, disk_bytes: int) -> list[str]:
    size = ["--size", str(disk_bytes)]
    arguments = ["--proc", "/proc", "--dev", "/dev", *size, "--tmpfs", SHARED_MEMORY, *size, "--tmpfs", TEMPORARY]
    for name in _PROC_READ_ONLY:
        arguments += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    for name in _PROC_HIDDEN:
        if Path(f"/proc/{name}").exists():
            arguments += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    for path in view.paths:
        arguments += ["--ro-bind", str(path), str(path)]
    for link, target in view.links:
        arguments += ["--symlink", target, link]
    return [*arguments, "--remount-ro", "/dev", "--remount-ro", "/"]
