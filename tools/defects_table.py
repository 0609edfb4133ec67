"""Run the scripts of the defects that eqfuzz found: ``python -m tools.defects_table``, ``make defects``.

Runs the scripts of ``docs/reference/defects/`` with each ``--python``, as ``eqfuzz replay`` runs reproducers, and
prints a table. ``--write`` writes it to ``docs/reference/defects-found.md``; columns of other releases are kept, from
``defects-found.json`` beside the page.

Exit codes: 0 every script had a result, 2 bad usage, 3 a script broke down.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import datetime
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.version import Version

from eqfuzz.program.release import NoTorch, Release, release_of
from eqfuzz.triage.confirm.replay import ERROR, ReplayOutcome, run_script

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "defects-found.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"


@dataclasses.dataclass(frozen=True)
class Column:
    """Outcomes of the scripts on one release and build, by name: ``still failing``, ``fixed`` or ``error``."""

    release: Release
    date: str
    outcomes: dict[str, str]

    @classmethod
    def from_json(cls, data: dict) -> Column:
        return cls(Release.from_versions(data), data["date"], data["outcomes"])

    def to_json(self) -> dict:
        return {**self.release.to_versions(), "date": self.date, "outcomes": dict(sorted(self.outcomes.items()))}


def scripts_of(page: Path) -> list[Path]:
    """The scripts of the entries of ``page``, by name."""
    return sorted((page.parent / "defects").glob("*.py"))


def read_columns(page: Path) -> list[Column]:
    """The stored columns of ``page``."""
    results = page.with_suffix(".json")
    data = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    return [Column.from_json(column) for column in data]


def merge(before: Sequence[Column], now: Sequence[Column]) -> list[Column]:
    """The columns by release and build; outcomes of ``now`` replace those of ``before``."""
    columns = {(column.release.release, column.release.build): column for column in before}
    for column in now:
        key = column.release.release, column.release.build
        old = columns[key].outcomes if key in columns else {}
        columns[key] = dataclasses.replace(column, outcomes={**old, **column.outcomes})
    return [columns[key] for key in sorted(columns, key=lambda key: (Version(key[0]), key[1]))]


def title(script: Path) -> str:
    """The first line of its docstring, without the full stop."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
    return text.splitlines()[0].rstrip(".")


def table(scripts: Sequence[Path], columns: Sequence[Column]) -> str:
    """A row for each script, a column for each release and build."""
    heads = ["defect", "script", *(str(column.release) for column in columns)]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for script in scripts:
        outcomes = [column.outcomes.get(script.stem, "not run") for column in columns]
        row = [title(script), f"[`{script.stem}`](defects/{script.name})", *outcomes]
        lines.append(f"| {' | '.join(row)} |")
    dates = ", ".join(f"{column.release} on {column.date}" for column in columns)
    return "\n".join([*lines, "", f"Measured on the CPU: {dates}.", ""])


def with_table(text: str, new_table: str) -> str:
    """The text of a page with its table replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{new_table}{END}{after}"


def measure(scripts: Sequence[Path], pythons: dict[str, Release], jobs: int) -> dict[tuple[str, str], ReplayOutcome]:
    """Run each script with each interpreter; outcomes by interpreter and name of the script."""
    pairs = [(python, script) for python in pythons for script in scripts]
    with ThreadPoolExecutor(jobs) as threads:
        outcomes = threads.map(lambda pair: run_script(pair[1], pair[0]), pairs)
        return {(python, script.stem): outcome for (python, script), outcome in zip(pairs, outcomes, strict=True)}


def main(arguments: Sequence[str] | None = None, page: Path = PAGE) -> int:
    chosen = _parser().parse_args(arguments)
    scripts = scripts_of(page)
    unknown = sorted(set(chosen.only) - {script.stem for script in scripts})
    if unknown:
        print(f"no such script: {unknown[0]}; there are {', '.join(s.stem for s in scripts)}", file=sys.stderr)
        return 2
    try:
        pythons = {python: release_of(python) for python in chosen.python}
    except NoTorch as error:
        print(f"--python: {error}", file=sys.stderr)
        return 2
    run = [script for script in scripts if not chosen.only or script.stem in chosen.only]
    outcomes = measure(run, pythons, chosen.jobs)
    today = datetime.date.today().isoformat()
    now = [
        Column(release, today, {script.stem: outcomes[python, script.stem].status.lower() for script in run})
        for python, release in pythons.items()
    ]
    columns = merge(read_columns(page), now)
    print(table(scripts, columns))
    if chosen.write:
        results = json.dumps([column.to_json() for column in columns], indent=2)
        page.with_suffix(".json").write_text(f"{results}\n", encoding="utf-8")
        page.write_text(with_table(page.read_text(encoding="utf-8"), table(scripts, columns)), encoding="utf-8")
    failed = {key: outcome for key, outcome in outcomes.items() if outcome.status == ERROR}
    for (python, name), outcome in failed.items():
        why = (outcome.output.strip().splitlines() or ["it printed nothing"])[-1]
        print(f"{name} with {pythons[python]} broke down: {why}", file=sys.stderr)
    return 3 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.defects_table", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("only", nargs="*", metavar="NAME", help="only these scripts (default: all)")
    parser.add_argument(
        "--python", action="append", default=[], metavar="INTERPRETER", help="run the scripts with it; repeatable"
    )
    parser.add_argument("--write", action="store_true", help="write the page and its results")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="scripts run at once")
    return parser


if __name__ == "__main__":
    sys.exit(main())
