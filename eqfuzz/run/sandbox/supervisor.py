"""Supervisor of a sandbox: confines the children of the process that it runs in, limits what they use, cleans up."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from eqfuzz.run.environment import KERNELS
from eqfuzz.run.kernels.toolchain import lay_out
from eqfuzz.run.limits import limit_for_good, mapped_bytes
from eqfuzz.run.processes.process_tree import children_of, kill_family
from eqfuzz.run.sandbox import capabilities, landlock, seccomp
from eqfuzz.run.sandbox.bubblewrap import SHARED_MEMORY, TEMPORARY
from eqfuzz.run.sandbox.mounts import USER
from eqfuzz.run.sandbox.policy import (
    DESCRIPTORS,
    DISK_BYTES,
    FILE_BYTES,
    FILES,
    PROCESSES,
    SandboxPolicy,
)

_PR_SET_DUMPABLE = 4
_SECONDS_TO_CLEAN = 10.0
_MANY_PROCESSES = 4096


class SandboxSupervisor:
    """Supervises the children of one sandbox, of which one runs at a time.

    Must be created before torch is imported. Raises OSError where the kernel lacks what it needs.
    """

    def __init__(self, policy: SandboxPolicy) -> None:
        self._policy = policy
        self._is_namespaced = policy.level == "bubblewrap"
        if self._is_namespaced and os.getpid() != 1:
            raise OSError("not the first process of its namespace")
        # Otherwise a child, which has the same user, could trace this process or open its memory.
        _set_dumpable(False)
        self._mounts = _mount_points() if self._is_namespaced else frozenset[Path]()
        self._base = 0
        self._lay_out()

    def settle(self) -> None:
        """Call before the first fork: the memory that this process holds by now is shared by all children."""
        self._base = _own_bytes(os.getpid())

    def confine(self, folder: str, memory_bytes: int | None) -> str:
        """Confine this child before its job runs. Returns the folder that it is to work in."""
        _set_dumpable(True)
        with contextlib.suppress(OSError):  # where that is forbidden, all processes are treated alike
            Path("/proc/self/oom_score_adj").write_text("1000")
        if self._is_namespaced:
            folder = f"{TEMPORARY}/case"
            Path(folder).mkdir(0o700)
        else:
            _keep_files_in(Path(folder))
        limit_for_good(resource.RLIMIT_FSIZE, FILE_BYTES)
        limit_for_good(resource.RLIMIT_NOFILE, DESCRIPTORS)
        limit_for_good(resource.RLIMIT_NPROC, _MANY_PROCESSES)
        if memory_bytes is not None:
            limit_for_good(resource.RLIMIT_AS, mapped_bytes() + memory_bytes)
        if not self._is_namespaced:
            landlock.restrict([Path(p) for p in (*self._policy.read, "/proc")], [Path(folder)])
            capabilities.drop_all()
            seccomp.install()
        return folder

    def check(self, children: Collection[int]) -> str | None:
        """Why the children, given by their process ids, must end now; None where they may continue."""
        pids = _all_others() if self._is_namespaced else _descendants(children)
        if len(pids) > PROCESSES:
            return f"more than {PROCESSES} processes"
        if sum(max(0, _own_bytes(pid) - self._base) for pid in pids) > self._policy.memory_bytes:
            return f"its processes hold more than {self._policy.memory_bytes >> 20} MiB of memory"
        if self._is_namespaced:
            for place in (TEMPORARY, SHARED_MEMORY):
                used = os.statvfs(place)
                if used.f_files - used.f_ffree > FILES:
                    return f"more than {FILES} files"
        else:
            count, size = _used_below(Path(self._policy.folder))
            if count > FILES:
                return f"more than {FILES} files"
            if size > DISK_BYTES:
                return f"files of more than {DISK_BYTES >> 20} MiB"
        return None

    def end(self, children: Collection[int]) -> None:
        """Kill the children, and all that they have started."""
        if self._is_namespaced:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        else:
            for pid in children:
                kill_family(pid)

    def _lay_out(self) -> None:
        """Let torch find the headers that were compiled once; they lie outside and can only be read."""
        if self._is_namespaced and self._policy.toolchain:
            toolchain, cache = Path(self._policy.toolchain), Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
            lay_out(toolchain, Path(TEMPORARY), USER, cache, read_only=True)

    def clean(self) -> bool:
        """Remove what a child has left; False where that fails, and this process must not fork another.

        No process of the child may run any more.
        """
        if self._policy.single:
            return False
        if not self._is_namespaced:
            return True  # the parent removes the folder of a job
        try:
            for place in (TEMPORARY, SHARED_MEMORY):
                _empty(Path(place), self._mounts, time.monotonic() + _SECONDS_TO_CLEAN)
            self._lay_out()
        except OSError:
            return False
        return True


def _keep_files_in(folder: Path) -> None:
    """Put temporary files and caches of this process, and of those that it starts, into ``folder`` from now on."""
    os.environ["TMPDIR"] = str(folder)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "cache")
    os.environ[KERNELS] = str(folder / "kernels")
    tempfile.tempdir = None
    if "torch" in sys.modules:  # torch has read the variables already
        from eqfuzz.torch_internals.caches import keep_headers_in

        keep_headers_in(folder / "headers")


def _set_dumpable(value: bool) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_DUMPABLE, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE)")


def _all_others() -> set[int]:
    """Every process of this one's namespace but itself."""
    return {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()} - {os.getpid()}


def _descendants(pids: Collection[int]) -> set[int]:
    descendants, new = set(pids), set(pids)
    while new and len(descendants) <= PROCESSES:
        new = set[int]().union(*map(children_of, new)) - descendants
        descendants |= new
    return descendants


def _own_bytes(pid: int) -> int:
    """Bytes of memory that a process holds, files not counted; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def _used_below(folder: Path) -> tuple[int, int]:
    """Files below ``folder``, and bytes that they take."""
    count = size = 0
    for path, _, names in os.walk(folder):
        count += 1 + len(names)
        if count > FILES:
            break
        for name in names:
            with contextlib.suppress(OSError):
                size += os.lstat(f"{path}/{name}").st_blocks * 512
    return count, size


def _mount_points() -> frozenset[Path]:
    """The places below the folder for temporary files where something is mounted."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    points = (Path(line.split()[4].encode().decode("unicode_escape")) for line in lines)
    return frozenset(point for point in points if Path(TEMPORARY) in point.parents)


def _empty(folder: Path, mounts: Collection[Path], deadline: float) -> None:
    """Remove everything below ``folder`` but what is mounted there. Raises OSError, TimeoutError at the ``deadline``.

    A folder inside a folder is moved up before it is emptied, so that no depth is too large.
    """
    while entries := [entry for entry in _some(folder) if Path(entry.path) not in mounts]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{folder} could not be emptied in time")
        holding = [entry for entry in entries if any(Path(entry.path) in point.parents for point in mounts)]
        for entry in holding:
            _empty(Path(entry.path), mounts, deadline)
        if len(holding) == len(entries):
            return
        for entry in entries:
            path = Path(entry.path)
            if entry in holding:
                continue
            if not entry.is_dir(follow_symlinks=False):
                path.unlink()
                continue
            path.chmod(0o700)
            for inner in _some(path):
                if inner.is_dir(follow_symlinks=False):
                    Path(inner.path).chmod(0o700)
                    Path(inner.path).rename(folder / f"removed-{secrets.token_hex(8)}")
                else:
                    Path(inner.path).unlink()
            with contextlib.suppress(OSError):  # it held more than one round takes: the next one continues
                path.rmdir()


def _some(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The first entries of a folder that may have millions."""
    with os.scandir(folder) as entries:
        yield from [entry for entry, _ in zip(entries, range(10_000), strict=False)]
