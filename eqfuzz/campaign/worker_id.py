"""Worker identifiers: unique across hosts and reused process ids."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def worker_id() -> str:
    """``host/process id/start time`` of this process; the time is in clock ticks since boot."""
    pid = os.getpid()
    return f"{socket.gethostname()}/{pid}/{_started(pid)}"


def has_ended(name: str) -> bool:
    """Whether ``name`` is a process of this host that has ended; False for processes of other hosts."""
    host, pid, started = name.split("/")
    if host != socket.gethostname():
        return False
    return _started(int(pid)) != started


def _started(pid: int) -> str:
    """Start time of a process; empty if there is none, or only a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
