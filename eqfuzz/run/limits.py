"""What one case may use, and the kernel's limits that say so."""

from __future__ import annotations

import dataclasses
import resource
from pathlib import Path

MIB = 2**20
GIB = 2**30


@dataclasses.dataclass(frozen=True)
class Limits:
    """Wall seconds for each stage of a case, bytes of memory and of printed output.

    ``load_s`` also bounds the time before the first stage is announced; the others are for the case to announce.
    ``start_s`` bounds the start of the process that children are made from: on a new machine it compiles
    Inductor's header first, which takes 20 seconds of CPU. ``memory_bytes`` come on top of what a child already
    maps when its case begins.
    """

    load_s: float = 20.0
    eager_s: float = 10.0
    compile_s: float = 90.0
    start_s: float = 600.0
    memory_bytes: int = 8 * GIB
    output_bytes: int = 8 * MIB


def used_cpu_seconds() -> float:
    """CPU seconds of this process and of the children it has waited for (g++)."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_mb() -> int:
    """MiB of memory that this process, or the largest of the children it has waited for, has held at once."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return max(usage.ru_maxrss for usage in usages) // 1024


def limit_cpu(wall_seconds: float) -> None:
    """Let this process use twice ``wall_seconds`` (and 5) more of CPU; SIGXCPU comes after that."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(usage.ru_utime + usage.ru_stime + 2 * wall_seconds + 5) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (_at_most(soft, hard), hard))


def limit_memory(more_bytes: int) -> None:
    """Let this process map ``more_bytes`` more than it does now. Sets the soft limit, see ``unlimit_memory``."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_at_most(mapped_bytes() + more_bytes, hard), hard))


def unlimit_memory() -> None:
    """Take back what ``limit_memory`` did: reporting a MemoryError needs memory."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def limit_for_good(what: int, value: int) -> None:
    """Set both limits of a ``resource.RLIMIT_…``, so that no program can raise it again."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (_at_most(value, hard), _at_most(value, hard)))


def forbid_core_dumps() -> None:
    """A crash is an everyday event here; its core file would hold gigabytes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def mapped_bytes() -> int:
    """Bytes of address space that this process maps."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _at_most(wanted: int, hard: int) -> int:
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
