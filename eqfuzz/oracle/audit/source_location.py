"""The statement of a program that a node of a compiled graph stems from, read from the node's stack trace."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from eqfuzz.oracle.audit.suspect import SourceLocation

_FRAME = re.compile(r'^\s*File "(?P<file>.*?)", line (?P<line>\d+), in (?P<function>.*)$')
_TORCH = str(Path(torch.__file__).parent)


def location_in(trace: str) -> SourceLocation:
    """The innermost frame of ``trace`` outside of torch."""
    location = SourceLocation()
    lines = trace.splitlines()
    for number, line in enumerate(lines):
        frame = _FRAME.match(line)
        if frame is None or frame["file"].startswith(_TORCH):
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        text = "" if _FRAME.match(following) else following.strip()
        location = SourceLocation(frame["file"], int(frame["line"]), frame["function"], text)
    return location
