"""Exit codes of every verb, and the one line on stderr that explains a bad one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

CLEAN = 0
FINDINGS = 1
USAGE = 2
INTERNAL = 3
INTERRUPTED = 130


class VerbFailed(Exception):
    """A verb could not do its job, and the user's request was not the reason: exit code 3. ``str()`` is one line."""


def complain(message: str) -> None:
    """Print one line on stderr, whatever line breaks ``message`` has."""
    print(f"eqfuzz: {' '.join(message.split())}", file=sys.stderr)


def code_of(*, interrupted: bool, findings: bool, errors: Sequence[str] = ()) -> int:
    """The exit code of a run that ended in order; interruptions and internal errors are printed on stderr."""
    if interrupted:
        complain("interrupted")
        return INTERRUPTED
    for error in errors:
        complain(f"internal error: {error}")
    if errors:
        return INTERNAL
    return FINDINGS if findings else CLEAN
