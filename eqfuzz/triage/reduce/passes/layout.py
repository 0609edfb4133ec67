"""Passes over layout: docstrings, comments, empty lines."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

from eqfuzz.rewrite.source.edit import Edit, edited
from eqfuzz.triage.reduce.reduction_pass import Change, reduction_pass
from eqfuzz.triage.reduce.source_tree import SourceTree, is_docstring


@reduction_pass
def tidy(parsed: SourceTree) -> Iterator[Change]:
    """Remove docstrings, comments and runs of empty lines."""
    edits: list[Edit] = []
    for block in parsed.blocks():
        if is_docstring(block[0]):
            edits += parsed.cut(block, block[:1])
    inside = [e.span for e in edits]
    for token in tokenize.generate_tokens(io.StringIO(parsed.text).readline):
        if token.type == tokenize.COMMENT:
            start = sum(len(line) for line in parsed.text.splitlines(keepends=True)[: token.start[0] - 1])
            span = start + token.start[1], start + token.end[1]
            if not any(s <= span[0] < e for s, e in inside):
                edits.append(Edit(span, ""))
    text = _without_gaps(parsed, edits)
    yield parsed.program.with_source(text)


def _without_gaps(parsed: SourceTree, edits: list[Edit]) -> str:
    text = edited(parsed.text, edits)
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"\n{3,}(?=[ \t])", "\n\n", text)
    text = re.sub(r"\n{4,}", "\n\n\n", text)
    text = re.sub(r":\n\n+(?=[ \t])", ":\n", text)
    return text.strip("\n") + "\n"
