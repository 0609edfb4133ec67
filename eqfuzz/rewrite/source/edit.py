"""Edits of a source text by position, and the generators' way to say no."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from typing import NoReturn

from eqfuzz.rewrite.source.syntax import Span


@dataclasses.dataclass(frozen=True)
class Edit:
    """``text`` for what stands at ``span``; an empty span inserts."""

    span: Span
    text: str


class Skip(Exception):
    """A generator does not apply here; ``str()`` is the reason."""


def skip(reason: str) -> NoReturn:
    """Say why a generator makes nothing of a node. Raises Skip."""
    raise Skip(reason)


def indented(text: str, indent: str = "    ") -> str:
    """Every line but empty ones moved to the right."""
    return textwrap.indent(text, indent)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """``text`` with all ``edits`` made; they must not overlap. Insertions at one place keep their order."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda e: e.span):
        start, end = edit.span
        pieces += (text[position:start], edit.text)
        position = end
    return "".join([*pieces, text[position:]])


def overlap(a: Span, b: Span) -> bool:
    """Whether two spans share text; insertions only where they are strictly inside."""
    return a[0] < b[1] and b[0] < a[1]
