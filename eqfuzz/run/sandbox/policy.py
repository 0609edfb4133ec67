"""Policy of a sandbox: what an untrusted job may use, and where."""

from __future__ import annotations

import dataclasses
from typing import Literal

from eqfuzz.run.limits import GIB, MIB

PROCESSES = 256
"""Processes of one job at once: twelve cells, and what the C++ compiler starts, are some thirty."""

DISK_BYTES = GIB
FILES = 50_000
FILE_BYTES = 512 * MIB
"""The largest file: torch's precompiled header, where a job has to build it, has 150 MB."""

DESCRIPTORS = 1024


@dataclasses.dataclass(frozen=True)
class SandboxPolicy:
    """``level`` is the mechanism; ``folder`` the only one that can be written to, emptied after each job.

    Under Landlock the parent creates a folder for each job in it, and ``read`` lists what can be read; bubblewrap shows
    no other paths anyway. ``toolchain`` is the folder of headers that the C++ compiler has built once, read-only; empty
    where there is none. ``memory_bytes`` is what all processes of a job hold together, beyond what they share with the
    process that they are forked from. ``single``: the sandbox must not be used for a second job.
    """

    level: Literal["bubblewrap", "landlock"]
    folder: str
    read: tuple[str, ...] = ()
    toolchain: str = ""
    memory_bytes: int = 8 * GIB
    single: bool = False
