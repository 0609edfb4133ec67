"""Programs started inside bubblewrap: every namespace of their own, a narrow read-only view, and one place to write."""

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
"""The folder of a sandbox that can be written: in memory, gone with it."""

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

# The kernel counts as the parent that a process dies with the thread that made it, so that one must stay.
_starter = ThreadPoolExecutor(1, thread_name_prefix="bubblewrap")


def executable() -> str | None:
    """Where ``bwrap`` is; None where it is not installed."""
    return shutil.which("bwrap")


def start_shut_in(
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

    It sees ``view`` and the environment ``variables``, and may write ``disk_bytes`` below ``/tmp``; what it prints goes
    to ``output``. What is returned is bubblewrap, whose only child is the first process. Raises OSError.
    """
    bwrap = executable()
    program = filter_program()
    if bwrap is None:
        raise FileNotFoundError("bwrap is not installed")
    rules = os.memfd_create("seccomp") if program is not None else None
    try:
        given = [*pass_fds]
        arguments = [bwrap, *_ALWAYS]
        if rules is not None and program is not None:
            os.write(rules, program)
            os.lseek(rules, 0, os.SEEK_SET)
            given.append(rules)
            arguments += ["--seccomp", str(rules)]
        arguments += _mounts(view, disk_bytes)
        arguments += [word for name, value in variables.items() for word in ("--setenv", name, value)]
        arguments += ["--chdir", folder, "--", *command]

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                arguments,
                env={},
                pass_fds=given,
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
    made = ["--proc", "/proc", "--dev", "/dev", *size, "--tmpfs", SHARED_MEMORY, *size, "--tmpfs", TEMPORARY]
    for name in _PROC_READ_ONLY:
        made += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    for name in _PROC_HIDDEN:
        if Path(f"/proc/{name}").exists():
            made += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    for path in view.paths:
        made += ["--ro-bind", str(path), str(path)]
    for link, target in view.links:
        made += ["--symlink", target, link]
    return [*made, "--remount-ro", "/dev", "--remount-ro", "/"]
