"""What the death of a process counts as, and how it is told."""

from __future__ import annotations

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.protocol import FORBIDDEN

DEATHS = {
    "crash": VerdictKind.PROCESS_CRASH,
    "hang": VerdictKind.HANG,
    "output": VerdictKind.HANG,
    "memory": VerdictKind.OUT_OF_MEMORY,
}
"""What the death of a process that runs a compiled cell counts as, by the reason that its watch gives."""

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
    """How a process ended that did not come through, from its watch's words and the stage that it was in."""
    if reason == "hang":
        return detail  # it names the stage itself
    if reason in (FORBIDDEN, "error"):
        return f"in the sandbox: {detail}"
    return f"{detail} {_WHILE.get(stage, f'at stage {stage}')}"
