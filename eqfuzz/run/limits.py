"""Limits of a job, and the kernel's resource limits that enforce them."""

from __future__ import annotations

import dataclasses
import resource
from pathlib import Path

MIB = 2**20
GIB = 2**30

_SHARE_AFTER_HANG = 3
_LEAST_AFTER_HANG = 20.0
"""Seconds that compiling a program alone may need on a busy machine."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """Wall seconds for each stage of a job, bytes of memory and of printed output.

    Attributes:
        load_s: To load a program; also before the first stage is announced. The job itself announces the others.
        eager_s: To run it in eager.
        compile_s: To compile and run it.
        start_s: To start a fork server: on a new machine it compiles Inductor's header first, which takes 20 seconds of
            CPU.
        memory_bytes: In addition to what a child maps when its job begins.
        output_bytes: That it may print.
        shortened: Whether they are those of ``after_hang``.
    """

    load_s: float = 20.0
    eager_s: float = 10.0
    compile_s: float = 90.0
    start_s: float = 600.0
    memory_bytes: int = 8 * GIB
    output_bytes: int = 8 * MIB
    shortened: bool = False

    def after_hang(self) -> Limits:
        """For the other cells of a program that has hung once, most of which hang too: a third of the time to compile.

        A cell that takes longer has no verdict.
        """
        if self.shortened:
            return self
        seconds = max(_LEAST_AFTER_HANG, round(self.compile_s / _SHARE_AFTER_HANG))
        return dataclasses.replace(self, compile_s=min(self.compile_s, seconds), shortened=True)


def used_cpu_seconds() -> float:
    """CPU seconds of this process and of the children that it has waited for (g++)."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_mb() -> int:
    """Peak memory, in MiB, of this process or of the largest child that it has waited for."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return max(usage.ru_maxrss for usage in usages) // 1024


def limit_cpu(wall_seconds: float) -> None:
    """Limit the further CPU seconds of this process to twice ``wall_seconds`` plus 5; then it gets SIGXCPU."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(usage.ru_utime + usage.ru_stime + 2 * wall_seconds + 5) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (_at_most(soft, hard), hard))


def limit_memory(more_bytes: int) -> None:
    """Limit the memory that this process maps to ``more_bytes`` more than now; ``unlimit_memory`` undoes it."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_at_most(mapped_bytes() + more_bytes, hard), hard))


def unlimit_memory() -> None:
    """Undo ``limit_memory``: reporting a MemoryError needs memory."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def limit_for_good(what: int, value: int) -> None:
    """Set both limits of a ``resource.RLIMIT_…``, so that no program can raise it again."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (_at_most(value, hard), _at_most(value, hard)))


def forbid_core_dumps() -> None:
    """Disable core dumps: crashes are frequent here, and a core file would hold gigabytes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def mapped_bytes() -> int:
    """Bytes of address space that this process maps."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _at_most(wanted: int, hard: int) -> int:
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
