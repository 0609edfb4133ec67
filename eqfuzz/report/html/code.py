"""Source code as HTML: highlighted, as a diff, and as an excerpt. All text is escaped."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from eqfuzz.program.program import Program
from eqfuzz.report.formatting import printable
from eqfuzz.report.source import EXCERPT_LINES, Mark, changed_groups, entry_lines, place_marks, tabless
from eqfuzz.rewrite.rewrite_step import RewriteStep

_CLASSES = (
    (Comment, "c"),
    (String, "s"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Number, "m"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Decorator, "f"),
    (Name.Builtin, "b"),
)
"""The first that a token belongs to is its class in the style sheet."""

_REORDERING = dict.fromkeys((*range(8234, 8239), *range(8294, 8298), 8206, 8207, 1564), "�")

MOST_LINES = 400
"""Lines of a script that are shown."""


@dataclasses.dataclass(frozen=True)
class DiffLine:
    """A line of a diff.

    ``sign`` is ``+``, ``-``, a blank, or ``…`` between two groups; ``old`` and ``new`` are its numbers or empty;
    ``rules`` those whose text begins on it.
    """

    sign: str
    old: str
    new: str
    code: Markup
    rules: tuple[str, ...] = ()


def plain_text(text: str) -> str:
    """``text`` without characters that steer a terminal or change the order in which text is shown."""
    return printable(text).translate(_REORDERING)


@functools.lru_cache(maxsize=1000)  # a page is rendered several times until it is small enough
def highlighted(script: str) -> Markup:
    """A script, at most ``MOST_LINES`` lines of it."""
    lines = _highlighted_lines("\t".join(map(plain_text, script.split("\t"))))
    more = len(lines) - MOST_LINES
    rest = [Markup('<span class="c"># … {} more lines</span>').format(more)] if more > 0 else []
    return Markup("\n").join([*lines[:MOST_LINES], *rest])


def is_shown_exactly(script: str) -> bool:
    """Whether ``highlighted`` has the text of ``script`` and no other, so that it can be copied."""
    text = script.replace("\t", "")
    return plain_text(text) == text and text.count("\n") < MOST_LINES


@functools.lru_cache(maxsize=1000)
def excerpt(program: Program) -> list[DiffLine]:
    """The code of a program from its entry on."""
    lines = _highlighted_lines(_visible(program.source))
    first, last = entry_lines(program, len(lines))
    shown_last = min(last, first + EXCERPT_LINES - 1)
    numbered = [DiffLine(" ", "", str(n), lines[n - 1]) for n in range(first, shown_last + 1)]
    more = last - shown_last
    return [*numbered, *([DiffLine("…", "", "", escape(f"{more} more lines"))] if more else [])]


@functools.lru_cache(maxsize=1000)
def diff(original: str, transformed: str, steps: tuple[RewriteStep, ...]) -> list[DiffLine]:
    """What changed from ``original`` to ``transformed``, with the rewritten expressions marked."""
    original, transformed = _visible(original), _visible(transformed)
    old_marks, new_marks = place_marks(original, transformed, steps)
    old, new = _highlighted_lines(original, old_marks), _highlighted_lines(transformed, new_marks)
    rules: dict[int, list[str]] = {}
    for mark in new_marks:
        if mark.rule:
            rules.setdefault(transformed.count("\n", 0, mark.start), []).append(mark.rule)
    return list(_diff_lines(original.split("\n"), transformed.split("\n"), old, new, rules))


def _diff_lines(
    old_lines: list[str], new_lines: list[str], old: list[Markup], new: list[Markup], rules: dict[int, list[str]]
) -> Iterator[DiffLine]:
    for number, group in enumerate(changed_groups(old_lines, new_lines)):
        if number:
            yield DiffLine("…", "", "", Markup())
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (DiffLine(" ", str(i + 1), str(i + 1 + j1 - i1), old[i]) for i in range(i1, i2))
                continue
            yield from (DiffLine("-", str(i + 1), "", old[i]) for i in range(i1, i2))
            yield from (DiffLine("+", "", str(j + 1), new[j], tuple(rules.get(j, ()))) for j in range(j1, j2))


def _visible(source: str) -> str:
    return tabless(source).translate(_REORDERING)


def _highlighted_lines(source: str, marks: Sequence[Mark] = ()) -> list[Markup]:
    """The lines of ``source``; marked stretches are in ``mark`` elements, but for their indentation."""
    lines: list[list[Markup]] = [[]]
    for start, kind, text in PythonLexer().get_tokens_unprocessed(source):
        name = next((name for parent, name in _CLASSES if kind in parent), "")
        for part_start, part in _cut(start, text, marks):
            if part == "\n":
                lines.append([])
                continue
            piece = Markup('<span class="{}">{}</span>').format(name, part) if name else escape(part)
            is_code = lines[-1] or part.strip()
            is_marked = is_code and any(mark.start <= part_start < mark.end for mark in marks)
            lines[-1].append(Markup("<mark>{}</mark>").format(piece) if is_marked else piece)
    return [Markup().join(parts) for parts in lines]


def _cut(start: int, text: str, marks: Sequence[Mark]) -> Iterator[tuple[int, str]]:
    """The parts of a token between line breaks and ends of marks, with their positions in the source."""
    ends = {0, len(text)}
    ends |= {at - start for mark in marks for at in (mark.start, mark.end) if 0 < at - start < len(text)}
    for at, character in enumerate(text):
        if character == "\n":
            ends |= {at, at + 1}
    for begin, end in itertools.pairwise(sorted(ends)):
        yield start + begin, text[begin:end]
