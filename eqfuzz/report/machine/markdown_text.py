"""Parts of Markdown as GitHub renders it, from texts that may hold anything."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from eqfuzz.errors import one_line
from eqfuzz.report.formatting import encodable

_LIMIT = 300
"""Characters of a text within a line."""


def code(text: str, limit: int = _LIMIT) -> str:
    """``text`` as code in one line, also in a cell of a table: nothing in it is markup, a mention or a link.

    A code span has no escapes, and tables split it at ``|``: where it has to, the text is written as entities.
    """
    flat = one_line(encodable(text), limit)
    if not flat:
        return ""
    if not re.search(r"[`|\\]", flat):
        return f"`{flat}`"
    return f"<code>{''.join(c if c.isalnum() or c == ' ' or ord(c) > 127 else f'&#{ord(c)};' for c in flat)}</code>"


def summary_line(text: str, limit: int = _LIMIT) -> str:
    """``text`` as the line that stands for folded text; Markdown is not read there."""
    return html.escape(one_line(encodable(text), limit))


def fenced(text: str, language: str = "") -> str:
    """``text`` as a block of code, whatever fences it has itself."""
    clean = encodable(text.expandtabs(4)).strip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", clean)), default=0))
    return f"{fence}{language}\n{clean}\n{fence}"


def folded(heading: str, body: str) -> str:
    """``body`` behind ``heading``, which is HTML."""
    return f"<details>\n<summary>{heading}</summary>\n\n{body}\n\n</details>"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """A table whose cells are Markdown without line breaks; the columns in ``right`` are numbers."""
    rule = ["--:" if column in right else "---" for column in range(len(heads))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rows))
