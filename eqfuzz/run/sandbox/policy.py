"""What a case in a sandbox may use, and how its surroundings are kept: told to the process that forks the cases."""

from __future__ import annotations

import dataclasses
from typing import Literal

from eqfuzz.run.limits import GIB, MIB

PROCESSES = 256
"""Processes of one case at once: twelve cells, and what the C++ compiler starts, are some thirty."""

DISK_BYTES = GIB
FILES = 50_000
FILE_BYTES = 512 * MIB
"""The largest file: torch's precompiled header, where a case has to make it, has 150 MB."""

DESCRIPTORS = 1024


@dataclasses.dataclass(frozen=True)
class SandboxPolicy:
    """``level`` is what shuts the case in; ``folder`` the one place that it may write, emptied after each case.

    Under Landlock the folder is where the parent makes one for each case, and ``read`` lists what can be read;
    bubblewrap shows no more than that anyway. ``toolchain`` is the folder of what the C++ compiler has made once, read
    only; empty where there is none. ``memory_bytes`` is what all processes of a case hold together, beyond what they
    share with the one that they are forked from. ``single``: what the first case has seen written must not serve
    another.
    """

    level: Literal["bubblewrap", "landlock"]
    folder: str
    read: tuple[str, ...] = ()
    toolchain: str = ""
    memory_bytes: int = 8 * GIB
    single: bool = False
