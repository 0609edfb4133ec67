"""Exit codes, and the one line on stderr that goes with a bad one."""

from __future__ import annotations

import sys

CLEAN = 0
FINDINGS = 1
USAGE = 2
INTERNAL = 3
INTERRUPTED = 130


def complain(message: str) -> None:
    """One line on stderr, whatever line breaks ``message`` has."""
    print(f"eqfuzz: {' '.join(message.split())}", file=sys.stderr)
