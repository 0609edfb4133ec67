"""Processes and their descendants: listed, tied to their parents, killed (Linux)."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

# linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when ``parent``, which forked it, dies; end now if it has died."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose parent dies, so that all can be found."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, argument: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(argument), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}, {argument}): {os.strerror(number)}")


def children_of(pid: int) -> set[int]:
    """The direct children of a process; empty if it has ended or the kernel does not list them."""
    children: set[int] = set()
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            children.update(map(int, (task / "children").read_text().split()))
    except (FileNotFoundError, ProcessLookupError):
        return children
    return children


def innermost_number(pid: int) -> int | None:
    """The process id of ``pid`` in its own namespace. None if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next((int(line.split()[-1]) for line in lines if line.startswith("NSpid:")), None)


def family_of(pid: int) -> set[int]:
    """A process and all its descendants."""
    generations = [{pid}]
    seen = {pid}
    while generations[-1]:
        below = set().union(*(children_of(member) for member in generations[-1])) - seen
        seen |= below
        generations.append(below)
    return seen


def seconds_in_run_queue(pid: int) -> float:
    """Wall seconds in which a process was ready and waited for a processor; 0 where the kernel does not say so."""
    try:
        _, nanoseconds, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    except (OSError, ValueError):
        return 0.0
    return int(nanoseconds) / 1e9


def kill_family(pid: int) -> None:
    """Kill a process that leads its group, its group, and the descendants that have left the group."""
    family = family_of(pid)
    kill_group(pid)
    for member in family:
        kill(member)


def kill_group(leader: int) -> None:
    """Kill every member of a process group; nothing happens when there is none."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # No process is left, or only one of another user.
        return


def kill(pid: int) -> None:
    """Kill one process; does nothing if it has ended."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
