"""Names of the processes that hold items: unique over machines and over process ids used again."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def worker_name() -> str:
    """``host/process id/when it started``, the last in the kernel's ticks since boot."""
    pid = os.getpid()
    return f"{socket.gethostname()}/{pid}/{_started(pid)}"


def is_gone(name: str) -> bool:
    """Whether ``name`` is that of a process of this machine that has ended; False where that cannot be known."""
    host, pid, started = name.split("/")
    if host != socket.gethostname():
        return False
    return _started(int(pid)) != started


def _started(pid: int) -> str:
    """Empty for a process that is not there, or that has ended and waits for its parent to ask how."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
