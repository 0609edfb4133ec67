"""Source code on the console: a diff with the rewritten expressions marked, or an excerpt."""

from __future__ import annotations

import ast
import dataclasses
import difflib
from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from eqfuzz.program.parsing import parse
from eqfuzz.program.program import Program
from eqfuzz.report.formatting import printable
from eqfuzz.rewrite.rewrite_step import RewriteStep

CONTEXT_LINES = 2
EXCERPT_LINES = 40

Opcode = tuple[str, int, int, int, int]
"""A stretch of lines of a diff, as ``difflib`` has it."""


@dataclasses.dataclass(frozen=True)
class Mark:
    """A stretch of a text, in characters, and the rule that it belongs to (empty: a change that no step explains)."""

    start: int
    end: int
    rule: str


@dataclasses.dataclass(frozen=True)
class SourceDiff:
    """A rich renderable: unified diff with line numbers, colours, marked expressions and rule names beside them.

    Long lines of code are wrapped, names of rules are not. ``margin`` columns on the left are left free.
    """

    original: str
    transformed: str
    steps: Sequence[RewriteStep]
    margin: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = _Rows(self.original, self.transformed, self.steps, options.max_width - self.margin)
        before_code = " " * (self.margin + rows.before_code)
        for part in rows.parts():
            if isinstance(part, Table):
                yield Padding(part, (0, 0, 0, self.margin))
            else:
                yield Text.assemble(before_code, part, no_wrap=True, overflow="ignore")


@dataclasses.dataclass(frozen=True)
class Excerpt:
    """A rich renderable: the program's code from its entry on, at most ``EXCERPT_LINES`` lines, numbered."""

    program: Program

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = _highlighted_lines(tabless(self.program.source))
        first, last = entry_lines(self.program, len(lines))
        shown_last = min(last, first + EXCERPT_LINES - 1)
        table = _grid(1, len(str(shown_last)))
        for number in range(first, shown_last + 1):
            table.add_row(str(number), lines[number - 1])
        if shown_last < last:
            table.add_row("", Text(f"… {last - shown_last} more lines", style="dim"))
        yield table


def place_marks(original: str, transformed: str, steps: Sequence[RewriteStep]) -> tuple[list[Mark], list[Mark]]:
    """Positions of the steps' expressions in both texts. A step that a later one overwrote has no mark."""
    old_changed, new_changed = _changed_ranges(original, transformed)
    old_marks: list[Mark] = []
    new_marks: list[Mark] = []
    for step in steps:
        before, after = tabless(step.before), tabless(step.after)
        at = _best_place(original, before, old_changed, step.line, old_marks)
        if at is not None:
            old_marks.append(Mark(at, at + len(before), step.rule))
        at = _best_place(transformed, after, new_changed, step.line, new_marks)
        if at is not None:
            new_marks.append(Mark(at, at + len(after), step.rule))
    _mark_unexplained(old_changed, old_marks)
    _mark_unexplained(new_changed, new_marks)
    return sorted(old_marks, key=lambda m: m.start), sorted(new_marks, key=lambda m: m.start)


def changed_groups(old_lines: Sequence[str], new_lines: Sequence[str]) -> list[list[Opcode]]:
    """The changes of a diff in groups, with unchanged lines around them; those that only import torch are left out."""
    matcher = difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    context = matcher.get_grouped_opcodes(CONTEXT_LINES)
    groups = [[code for code in group if not _imports_torch(code, new_lines)] for group in context]
    return [group for group in groups if any(tag != "equal" for tag, *_ in group)]


def _imports_torch(code: Opcode, new_lines: Sequence[str]) -> bool:
    """Whether a change adds nothing but ``import torch``, which a rule needs and a reduced program may lack."""
    tag, _, _, start, end = code
    lines = [line.strip() for line in new_lines[start:end]]
    return tag == "insert" and "import torch" in lines and set(lines) <= {"import torch", ""}


class _Rows:
    """The diff's table, row by row, for a given width."""

    def __init__(self, original: str, transformed: str, steps: Sequence[RewriteStep], width: int) -> None:
        original, transformed = tabless(original), tabless(transformed)
        self.old_lines, self.new_lines = original.split("\n"), transformed.split("\n")
        old_marks, new_marks = place_marks(original, transformed, steps)
        self.old_text = _highlighted_lines(original, old_marks)
        self.new_text = _highlighted_lines(transformed, new_marks)
        self.new_marks = _by_line(transformed, new_marks)
        self.digits = len(str(max(len(self.old_lines), len(self.new_lines), 1)))
        self.before_code = 2 * (self.digits + 1) + 2
        """Columns of the line numbers and the sign."""
        self.code_width = width - self.before_code

    def parts(self) -> Iterator[Table | Text]:
        """Tables of lines, and between them the texts that stand beside the code."""
        table = _grid(2, self.digits)
        for number, group in enumerate(changed_groups(self.old_lines, self.new_lines)):
            if number:
                table.add_row("", "", "", Text("⋯", style="dim"))
            for tag, i1, i2, j1, j2 in group:
                if tag == "equal":
                    for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                        table.add_row(str(i + 1), str(j + 1), "", self.old_text[i])
                    continue
                for i in range(i1, i2):
                    table.add_row(str(i + 1), "", Text("-", style="bold red"), self.old_text[i])
                for j in range(j1, j2):
                    table.add_row("", str(j + 1), Text("+", style="bold green"), self.new_text[j])
                    for text in self._rules_beside(j):
                        if table.row_count:
                            yield table
                            table = _grid(2, self.digits)
                        yield text
        if table.row_count:
            yield table

    def _rules_beside(self, line: int) -> Iterator[Text]:
        """Under an added line: carets below each marked expression, then the rule's name."""
        code = self.new_lines[line]
        for start, end, rule in self.new_marks.get(line, ()):
            if not rule:
                continue
            wraps = len(code) > self.code_width or end + 1 + len(rule) > self.code_width
            start = max(start, len(code) - len(code.lstrip()))
            pointer = "    ↳ " if wraps else " " * start + "^" * max(end - start, 1) + " "
            yield Text(pointer, style="magenta").append(rule, style="bold magenta")


def _grid(numbers: int, digits: int) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    for _ in range(numbers):
        table.add_column(justify="right", style="dim", width=digits, no_wrap=True)
    if numbers > 1:
        table.add_column(width=1)
    table.add_column(overflow="fold")
    return table


def highlighted(source: str) -> Text:
    """Python ``source`` in the terminal's own colours."""
    text = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(source)
    text.no_wrap = False
    return text


def _highlighted_lines(source: str, marks: Sequence[Mark] = ()) -> list[Text]:
    """The lines of ``source`` highlighted, marked stretches bold and underlined."""
    text = highlighted(source)
    for mark in marks:
        for start, end in _without_indents(source, mark):
            text.stylize("bold underline", start, end)
    return list(text.split("\n", allow_blank=True))


def _without_indents(source: str, mark: Mark) -> Iterator[tuple[int, int]]:
    at = mark.start
    for line in source[mark.start : mark.end].splitlines(keepends=True):
        indent = len(line) - len(line.lstrip(" "))
        yield at + indent, at + len(line.rstrip("\n"))
        at += len(line)


def _by_line(source: str, marks: Sequence[Mark]) -> dict[int, list[tuple[int, int, str]]]:
    """Line from 0 → (first column, column behind the last one on that line, rule), by the line a mark begins on."""
    marked: dict[int, list[tuple[int, int, str]]] = {}
    for mark in marks:
        skipped = len(source[mark.start : mark.end]) - len(source[mark.start : mark.end].lstrip())
        begin = mark.start + skipped
        line = source.count("\n", 0, begin)
        line_start = source.rfind("\n", 0, begin) + 1
        line_end = source.find("\n", begin)
        end = min(mark.end, line_end if line_end >= 0 else len(source))
        marked.setdefault(line, []).append((begin - line_start, end - line_start, mark.rule))
    return marked


def _changed_ranges(original: str, transformed: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The changed stretches of both texts, in characters: whole lines, trimmed to what differs where lines pair up."""
    old_lines, new_lines = original.splitlines(keepends=True), transformed.splitlines(keepends=True)
    old_starts, new_starts = _starts(old_lines), _starts(new_lines)
    old: list[tuple[int, int]] = []
    new: list[tuple[int, int]] = []
    matcher = difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        a, b = original[old_starts[i1] : old_starts[i2]], transformed[new_starts[j1] : new_starts[j2]]
        head = _common_prefix(a, b)
        tail = _common_prefix(a[head:][::-1], b[head:][::-1])
        if i2 > i1:
            old.append((old_starts[i1] + head, old_starts[i2] - tail))
        if j2 > j1:
            new.append((new_starts[j1] + head, new_starts[j2] - tail))
    return old, new


def _starts(lines: Sequence[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


def _common_prefix(a: str, b: str) -> int:
    for at, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return at
    return min(len(a), len(b))


def _best_place(
    text: str, part: str, changed: Sequence[tuple[int, int]], line: int, taken: Sequence[Mark]
) -> int | None:
    """Position of ``part`` within the changed stretches, preferably on ``line``, outside the marks in ``taken``."""
    if not part.strip():
        return None
    places = []
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        touches = any(at <= stop and start <= end for start, stop in changed)
        if touches and not any(at < mark.end and mark.start < end for mark in taken):
            covers = any(at <= start and stop <= end for start, stop in changed)
            places.append((not covers, abs(text.count("\n", 0, at) + 1 - line), at))
        at = text.find(part, at + 1)
    return min(places)[2] if places else None


def _mark_unexplained(changed: Sequence[tuple[int, int]], marks: list[Mark]) -> None:
    """A changed stretch that no step's text covers is marked without a rule."""
    for start, end in changed:
        if end > start and not any(mark.start <= end and start <= mark.end for mark in marks):
            marks.append(Mark(start, end, ""))


def tabless(source: str) -> str:
    """Tabs as four spaces, so that columns can be counted; control characters replaced."""
    return printable(source.replace("\r\n", "\n").expandtabs(4)).rstrip("\n")


def entry_lines(program: Program, total: int) -> tuple[int, int]:
    """First and last line of the entry's definition; the whole file where it is not found."""
    try:
        tree = parse(program.source)
    except (SyntaxError, ValueError):
        return 1, total
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == program.entry:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            return first, min(node.end_lineno or total, total)
    return 1, total
