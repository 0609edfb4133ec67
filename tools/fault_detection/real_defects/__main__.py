"""Run eqfuzz on real defects of the installed torch: ``make quality-real``.

Each seed in ``real/`` declares a defect from PyTorch's tracker. Those in range for the installed torch go through
``eqfuzz mutate FILE --variants 3``; a finding that is a known issue counts. ``--write`` puts the table into
``docs/reference/real-defects.md``: columns of other releases stay, from the JSON beside the page.

Exit codes: 0 at least 95 % found and confirmed and no bucket with two root causes, 1 otherwise, 2 bad usage.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eqfuzz.program.release import this_release
from tools.fault_detection.json_lines import JsonLines
from tools.fault_detection.real_defects.defect import FOLDER, BadDefect, Defect, read_defects
from tools.fault_detection.real_defects.outcome import Outcome, Status, run_seed, shared_buckets
from tools.release_columns import Column, merge, read_columns, with_table, write_columns

REQUIRED_SHARE = 0.95
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "real-defects.md"


class DefectJournal:
    """Outcomes on this release of torch, in the lines of ``file``. An edited seed is run again."""

    def __init__(self, file: Path | None) -> None:
        self._lines = JsonLines(file)

    def outcomes(self, defects: Sequence[Defect]) -> dict[str, Outcome]:
        """The outcomes of ``defects`` by name, without errors."""
        latest = {(line["defect"], line["digest"]): line for line in self._lines.read() if line["torch"] == _release()}
        lines = {defect.name: latest.get((defect.name, _digest(defect))) for defect in defects}
        outcomes = {name: Outcome.from_json(line["outcome"]) for name, line in lines.items() if line is not None}
        return {name: outcome for name, outcome in outcomes.items() if outcome.status is not Status.ERROR}

    def add(self, defect: Defect, outcome: Outcome) -> None:
        line = {"defect": defect.name, "digest": _digest(defect), "torch": _release(), "outcome": outcome.to_json()}
        self._lines.add(line)


def _digest(defect: Defect) -> str:
    return hashlib.sha256(defect.path.read_bytes()).hexdigest()[:16]


def _release() -> str:
    return this_release().in_full()


def main(arguments: Sequence[str] | None = None, page: Path = PAGE) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        defects = read_defects(chosen.seeds)
    except BadDefect as error:
        print(f"{chosen.seeds}: {error}", file=sys.stderr)
        return 2
    if not defects:
        print(f"no seed in {chosen.seeds}", file=sys.stderr)
        return 2
    unknown = sorted(set(chosen.only) - {defect.name for defect in defects})
    if unknown:
        print(f"no such seed: {unknown[0]}; there are {', '.join(d.name for d in defects)}", file=sys.stderr)
        return 2
    wanted = [defect for defect in defects if not chosen.only or defect.name in chosen.only]
    run = [defect for defect in wanted if defect.is_in(this_release())]
    outcomes = _outcomes(run, DefectJournal(chosen.journal), chosen.jobs)
    if chosen.write:
        _write(page, defects, outcomes)
    return _report(run, outcomes)


def _outcomes(defects: Sequence[Defect], journal: DefectJournal, jobs: int) -> dict[str, Outcome]:
    """The outcome of each of ``defects`` by name, from the journal or else from a run that is added to it."""
    before = journal.outcomes(defects)
    with tempfile.TemporaryDirectory(prefix="eqfuzz-real-") as folder, ThreadPoolExecutor(jobs) as threads:

        def outcome_of(defect: Defect) -> Outcome:
            outcome = before.get(defect.name)
            if outcome is None:
                outcome = run_seed(defect, Path(folder) / defect.name)
                journal.add(defect, outcome)
            print(f"{defect.name}: {outcome}\n", end="", flush=True)
            return outcome

        return dict(zip((defect.name for defect in defects), threads.map(outcome_of, defects), strict=True))


def _report(defects: Sequence[Defect], outcomes: Mapping[str, Outcome]) -> int:
    """Print the number of each outcome. Returns the exit code."""
    counts = Counter(outcome.status for outcome in outcomes.values())
    print(", ".join(f"{counts[status]} {status}" for status in Status if counts[status]) or "none is in range")
    shared = shared_buckets({defect.cause: outcomes[defect.name] for defect in defects})
    for fingerprint, causes in shared.items():
        print(f"one bucket, {fingerprint}, of several causes: {'; '.join(causes)}")
    return int(counts[Status.CONFIRMED] < REQUIRED_SHARE * len(outcomes) or bool(shared))


def table(defects: Sequence[Defect], columns: Sequence[Column]) -> str:
    """A row for each defect, a column for each release and build."""
    heads = ["root cause", "reported", "seed", *(str(column.release) for column in columns)]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for defect in defects:
        cells = [
            column.outcomes.get(defect.name, "not run" if defect.is_in(column.release) else "not in range")
            for column in columns
        ]
        number = defect.url.rsplit("/", 1)[-1]
        seed = f"[`{defect.name}`](../../tools/fault_detection/real/{defect.path.name})"
        row = [defect.cause, f"[{number}]({defect.url})", seed, *cells]
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |")
    dates = ", ".join(f"{column.release} on {column.date}" for column in columns)
    return "\n".join([*lines, "", f"Measured on the CPU: {dates}.", ""])


def _cell(outcome: Outcome) -> str:
    buckets = ", ".join(f"`{fingerprint}`" for fingerprint in sorted(set(outcome.buckets.values())))
    return f"{outcome}, in {buckets}" if buckets else str(outcome)


def _write(page: Path, defects: Sequence[Defect], outcomes: Mapping[str, Outcome]) -> None:
    cells = {name: _cell(outcome) for name, outcome in outcomes.items()}
    results = page.with_suffix(".json")
    columns = merge(read_columns(results), [Column(this_release(), datetime.date.today().isoformat(), cells)])
    write_columns(results, columns)
    page.write_text(with_table(page.read_text(encoding="utf-8"), table(defects, columns)), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    about = (__doc__ or "").split("\n\n")[1]
    parser = argparse.ArgumentParser(prog="python -m tools.fault_detection.real_defects", description=about)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these seeds (default: all)")
    parser.add_argument(
        "--seeds", type=Path, default=FOLDER, metavar="FOLDER", help="other seeds than the shipped ones"
    )
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="keeps results; the same command resumes from them"
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="seeds run at once")
    parser.add_argument("--write", action="store_true", help="write the page and its results")
    return parser


if __name__ == "__main__":
    sys.exit(main())
