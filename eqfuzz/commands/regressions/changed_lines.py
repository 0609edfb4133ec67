"""Changed lines of torch: a unified diff, or a list of files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from eqfuzz.errors import UsageError

_OLD_FILE = re.compile(r"--- (?:a/)?(?P<path>[^\t]+)")
_NEW_FILE = re.compile(r"\+\+\+ (?:b/)?(?P<path>[^\t]+)")
_HUNK = re.compile(r"@@ -(?P<start>\d+)(?:,(?P<count>\d+))? \+")

ALL_LINES = -1
"""The bitmap of a file all of whose lines count."""


def read_changes(file: Path) -> dict[str, int]:
    """Bitmaps of changed lines by path below ``torch``: bit n is line n of the file before the change.

    Raises UsageError for a file that cannot be read, or that names no Python file of torch.
    """
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"--changed: {file}: {error.strerror}") from None
    changes = _of_diff(text) if re.search(r"^@@ -\d", text, re.MULTILINE) else _of_list(text)
    if not changes:
        raise UsageError(f"--changed: {file}: is no diff and no list of Python files of torch")
    return changes


def meets(lines: Mapping[str, int], changes: Mapping[str, int]) -> bool:
    """Whether one of the executed ``lines`` has changed."""
    return any(bits & changes.get(path, 0) for path, bits in lines.items())


def _of_diff(text: str) -> dict[str, int]:
    """The lines that each hunk replaces; where it only adds, those around the addition."""
    changes: dict[str, int] = {}
    old = path = ""
    for line in text.splitlines():
        if match := _OLD_FILE.match(line):
            old = _below_torch(match["path"])
        elif match := _NEW_FILE.match(line):
            path = old or _below_torch(match["path"])
        elif (match := _HUNK.match(line)) and path:
            start, count = int(match["start"]), int(match["count"] or 1)
            first, last = (start, start + count - 1) if count else (start, start + 1)
            changes[path] = changes.get(path, 0) | (1 << last + 1) - (1 << max(first, 1))
    return changes


def _of_list(text: str) -> dict[str, int]:
    paths = (_below_torch(line.strip()) for line in text.splitlines())
    return {path: ALL_LINES for path in paths if path}


def _below_torch(path: str) -> str:
    """``_inductor/ir.py`` for ``torch/_inductor/ir.py`` or a longer path; empty for what is no Python file of torch."""
    parts = PurePosixPath(path).parts
    if not path.endswith(".py") or "torch" not in parts[:-1]:
        return ""
    return "/".join(parts[parts.index("torch") + 1 :])
