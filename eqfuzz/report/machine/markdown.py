"""Markdown of a run, for a comment on a pull request or the summary of a job: what is new, and what was run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eqfuzz.events.regressions import BucketState
from eqfuzz.report.formatting import count
from eqfuzz.report.machine.file_location import relative
from eqfuzz.report.machine.markdown_text import code, fenced, folded, summary_line, table
from eqfuzz.report.machine.reported_finding import ReportedFinding, by_group
from eqfuzz.report.machine.run_facts import facts, headline, not_tried
from eqfuzz.report.machine.run_record import RunRecord

LONGEST = 60_000
"""Characters: GitHub refuses comments of more than 65,536."""

_ROWS_SHOWN = (40, 20, 10, 5, 2, 1)
"""Rows of a table, the first number with which everything fits."""

_OTHER_STATES = {
    BucketState.FIXED: "Fixed",
    BucketState.STILL: "Still there",
    BucketState.UNCLEAR: "Unclear: the script breaks down, or shows nothing",
}
"""Headings of what is not new between two torches."""

_ERRORS_SHOWN = 10
_SCRIPTS_SHOWN = 10
_LONGEST_SCRIPT = 6_000
"""Characters of a script, which is otherwise only named."""

_NUMBERS = (3,)
"""Columns of the table of buckets with numbers."""


def markdown_text(record: RunRecord) -> str:
    """The text, at most ``LONGEST`` characters: of what does not fit the number is given, scripts are named."""
    buckets = by_group(record.new)
    tried = (_parts(record, buckets, rows) for rows in _ROWS_SHOWN)
    parts = next((parts for parts in tried if _size(parts) <= LONGEST), [f"## eqfuzz: {headline(record)}"])
    at = 2 + bool(buckets)
    return "\n\n".join([*parts[:at], *_scripts(buckets, LONGEST - _size(parts)), *parts[at:]]) + "\n"


def _size(parts: Sequence[str]) -> int:
    return sum(len(part) + 2 for part in parts)


def _parts(record: RunRecord, buckets: Sequence[Sequence[ReportedFinding]], most: int) -> list[str]:
    """All but the scripts, with at most so many rows of each table."""
    parts = [f"## eqfuzz: {headline(record)}", _what_was_run(record)]
    if buckets:
        parts.append(f"### New\n\n{_bucket_table(buckets, most)}")
    for state, heading in _OTHER_STATES.items():
        others = by_group(one for one in record.findings if one.state is state and not one.issue)
        if others:
            parts.append(f"### {heading}\n\n{_bucket_table(others, most)}")
    of_issues = [one for one in record.findings if one.issue]
    if of_issues:
        parts.append(f"### Known issues\n\n{_issue_table(of_issues, most)}")
    if record.all_errors:
        parts.append("### Internal errors\n\n" + _items(code(error) for error in record.all_errors[:_ERRORS_SHOWN]))
    lines = not_tried(record)
    if lines:
        parts.append("### Not tried\n\n" + _items(code(line) for line in lines))
    return parts


def _what_was_run(record: RunRecord) -> str:
    rows = [(label, code(text, 1000)) for label, text in facts(record).items()]
    return table(("run", ""), rows) if rows else "Nothing was run."


def _bucket_table(buckets: Sequence[Sequence[ReportedFinding]], most: int) -> str:
    rows = []
    for findings in buckets[:most]:
        first = findings[0]
        rows.append(
            (
                code(first.group),
                first.kind,
                str(first.severity or ""),
                str(sum(one.seeds for one in findings)),
                code(first.title),
                code(relative(first.seed)),
                code(first.message, 160),
            )
        )
    heads = ("bucket", "kind", "severity", "findings", "what", "first seed", "difference")
    left = len(buckets) - most
    return table(heads, rows, right=_NUMBERS) + (f"\n\nand {count(left, 'more bucket')}" if left > 0 else "")


def _issue_table(findings: Sequence[ReportedFinding], most: int) -> str:
    by_issue: dict[str, list[ReportedFinding]] = {}
    for one in findings:
        by_issue.setdefault(one.issue, []).append(one)
    rows = [
        (code(issue), str(len(group)), code(relative(group[0].seed))) for issue, group in list(by_issue.items())[:most]
    ]
    left = len(by_issue) - most
    more = f"\n\nand {count(left, 'more issue')}" if left > 0 else ""
    return table(("issue", "findings", "first seed"), rows, right=(1,)) + more


def _scripts(buckets: Sequence[Sequence[ReportedFinding]], room: int) -> list[str]:
    """The script of the first finding of each bucket, as far as there is room."""
    scripts: list[str] = []
    for findings in buckets[:_SCRIPTS_SHOWN]:
        first = findings[0]
        try:
            text = first.script.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue
        heading = f"{summary_line(first.group)}: <code>python {summary_line(relative(str(first.script)))}</code>"
        body = fenced(text, "python") if len(text) <= _LONGEST_SCRIPT else f"{len(text):,} characters"
        part = folded(heading, body)
        if room - len(part) < 0:
            break
        room -= len(part) + 2
        scripts.append(part)
    return scripts


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
