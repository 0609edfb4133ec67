"""The statement of a program that a node of a compiled graph came from, read from the stack trace that torch keeps."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import torch

_FRAME = re.compile(r'^\s*File "(?P<file>.*?)", line (?P<line>\d+), in (?P<function>.*)$')
_TORCH = str(Path(torch.__file__).parent)


@dataclasses.dataclass(frozen=True)
class SourceLocation:
    """``text`` is the source line. Empty, with line 0, where torch does not know."""

    file: str = ""
    line: int = 0
    function: str = ""
    text: str = ""


def place_of(trace: str) -> SourceLocation:
    """The innermost frame of ``trace`` that is not torch's own."""
    found = SourceLocation()
    lines = trace.splitlines()
    for number, line in enumerate(lines):
        frame = _FRAME.match(line)
        if frame is None or frame["file"].startswith(_TORCH):
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        text = "" if _FRAME.match(following) else following.strip()
        found = SourceLocation(frame["file"], int(frame["line"]), frame["function"], text)
    return found
