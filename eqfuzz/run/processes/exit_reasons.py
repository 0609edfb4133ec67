"""Which verdict the exit reason of a process stands for, and how it is described."""

from __future__ import annotations

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.protocol import FORBIDDEN

DEATHS = {
    "crash": VerdictKind.PROCESS_CRASH,
    "hang": VerdictKind.HANG,
    "output": VerdictKind.HANG,
    "memory": VerdictKind.OUT_OF_MEMORY,
}
"""The verdict on a compiled cell whose process died, by exit reason."""

NOT_RUN = "not run: the original does not end there"
"""On variants: every one would wait until the same deadline."""

NO_VERDICT = "no verdict, because the program hangs in another cell and this one had less time"

_WHILE = {
    "start": "before it was loaded",
    "load": "while loading",
    "eager": "in eager",
    "probe": "while being observed in eager",
    "rewrite": "while being rewritten",
    "reference": "while its reference was computed",
    "steps": "in eager, called again",
    "speed": "while it was timed",
    "device": "in eager on the device",
    "threads": "in eager with several threads",
    "compile": "compiled",
}


def death_in_words(stage: str, reason: str, detail: str) -> str:
    """How a process ended that did not complete, from its last stage, its exit reason and the detail."""
    if reason == "hang":
        return detail  # it names the stage
    if reason in (FORBIDDEN, "error"):
        return f"in the sandbox: {detail}"
    return f"{detail} {_WHILE.get(stage, f'at stage {stage}')}"
