"""Outcomes by release of torch: columns of a table in a page, kept as JSON beside it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from packaging.version import Version

from eqfuzz.program.release import Release

BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
"""The lines around a page's only table; where there are several, each has a name of its own in place of ``table``."""


@dataclasses.dataclass(frozen=True)
class Column:
    """Outcomes on one release and build, by name of the row."""

    release: Release
    date: str
    outcomes: dict[str, str]

    @classmethod
    def from_json(cls, data: dict) -> Column:
        return cls(Release.from_versions(data), data["date"], data["outcomes"])

    def to_json(self) -> dict:
        return {**self.release.to_versions(), "date": self.date, "outcomes": dict(sorted(self.outcomes.items()))}


def read_columns(results: Path) -> list[Column]:
    """The columns stored in the file ``results``; none where it does not exist."""
    data = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    return [Column.from_json(column) for column in data]


def write_columns(results: Path, columns: Sequence[Column]) -> None:
    results.write_text(json.dumps([column.to_json() for column in columns], indent=2) + "\n", encoding="utf-8")


def merge(before: Sequence[Column], now: Sequence[Column]) -> list[Column]:
    """The columns by release and build; outcomes of ``now`` replace those of ``before``."""
    columns = {(column.release.release, column.release.build): column for column in before}
    for column in now:
        key = column.release.release, column.release.build
        old = columns[key].outcomes if key in columns else {}
        columns[key] = dataclasses.replace(column, outcomes={**old, **column.outcomes})
    return [columns[key] for key in sorted(columns, key=lambda key: (Version(key[0]), key[1]))]


def with_table(text: str, new_table: str, name: str = "table") -> str:
    """The text of a page with its table ``name`` replaced. Raises ValueError where the page does not mark one."""
    begin, end = (line.replace("table", name) for line in (BEGIN, END))
    before, mark, rest = text.partition(begin)
    _, last, after = rest.partition(end)
    if not mark or not last:
        raise ValueError(f"the page has no lines {begin.strip()} and {end.strip()}")
    return f"{before}{begin}{new_table}{end}{after}"
