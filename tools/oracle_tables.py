"""The tables of docs/reference/oracle.md, from a self-check's events: ``python -m tools.oracle_tables FILE``.

FILE is what ``eqfuzz self-check --full --format json`` printed. Exit codes: 0 written, 2 bad usage or no such events.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqfuzz.oracle.calibration.columns import JUDGE
from eqfuzz.oracle.calibration.recall_table import RecallTable, with_present_keys
from eqfuzz.report.verbs.self_check import false_alarms_table, precision_table, recall_table
from tools.release_columns import with_table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "oracle.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.oracle_tables", description=__doc__)
    parser.add_argument("file", type=Path, help="events of a self-check, a JSON object a line")
    events = parser.parse_args().file
    try:
        page = with_tables(PAGE.read_text(encoding="utf-8"), summary_of(events))
    except (OSError, ValueError) as error:
        print(f"oracle_tables: {events}: {error}", file=sys.stderr)
        return 2
    PAGE.write_text(page, encoding="utf-8")
    return 0


def with_tables(page: str, summary: dict[str, Any]) -> str:
    """The text of the page with its tables replaced by those of a self-check's summary."""
    recall = summary["recall"]
    tables = {
        "recall": f"{_overall(recall)}\n{_markdown(recall_table(recall), ahead_of=JUDGE)}",
        "false alarms": _markdown(false_alarms_table(recall)),
        "precision": _markdown(precision_table(summary["precision"])),
    }
    for name, table in tables.items():
        page = with_table(page, table, name)
    return page


def summary_of(events: Path) -> dict[str, Any]:
    """The last event, a summary with both tables. Raises ValueError where it is none."""
    lines = events.read_text(encoding="utf-8").splitlines()
    summary = json.loads(lines[-1]) if lines else {}
    if not summary.get("recall") or not summary.get("precision"):
        raise ValueError("does not end with the summary of a whole self-check: make it with --full --format json")
    return with_present_keys(summary)


def _overall(recall: RecallTable) -> str:
    """One sentence: what is detected in float32, outputs and gradients together, of two sizes of error."""
    shares = []
    for error in ("1e-4", "1e-5"):
        rows = [
            row for row in recall["rows"] if row["dtype"] == "float32" and row["fault"] == f"relative error {error}"
        ]
        planted = sum(row["planted"] for row in rows)
        share = 100 * sum(row["detected"].get(JUDGE, 0) for row in rows) / planted
        shares.append(f"{share:.1f} % of the {planted} errors of {error}")
    return f"In float32, outputs and gradients together, {' and '.join(shares)} are detected.\n"


def _markdown(table: Table, ahead_of: str = "") -> str:
    """A table of a report in Markdown; figures above those of the column ``ahead_of`` are bold."""
    heads = [str(column.header) for column in table.columns]
    rows = list(zip(*(list(column.cells) for column in table.columns), strict=True))
    console = Console(no_color=True)
    marks = ["--:" if column.justify == "right" else "---" for column in table.columns]
    lines = [heads, marks]
    for row in rows:
        cells = [cell.plain if isinstance(cell, Text) else console.render_str(str(cell)).plain for cell in row]
        if ahead_of:
            limit = float(cells[heads.index(ahead_of)])
            others = range(heads.index(ahead_of) + 1, len(heads))
            cells = [f"**{cell}**" if n in others and float(cell) > limit else cell for n, cell in enumerate(cells)]
        lines.append(cells)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
