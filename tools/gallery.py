"""The gallery of the defects of PyTorch that eqfuzz found: ``python -m tools.gallery``, ``make defects``.

Runs the scripts of ``docs/findings/`` with each ``--python``, as ``eqfuzz replay`` runs reproducers, and prints the
index: a row per defect, a column per release. ``--write`` writes it to ``docs/findings/index.md``; columns of other
releases are kept, from ``results.json`` beside it. ``--issues`` writes each defect as an issue for PyTorch, with the
output of its script on the last ``--python`` that shows it, to ``docs/findings/issues/``; with ``--evidence`` it is
what ``eqfuzz issue`` writes: the script as a function, mitigations, the bisector, a unit test. ``--times`` runs each
script repeatedly: one that does not end the same way each time breaks down.

Exit codes: 0 every script had a result, 2 bad usage, 3 a script broke down.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import os
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eqfuzz.program.release import NoTorch, Release, release_of, this_release
from eqfuzz.triage.confirm.replay import ERROR, STILL_FAILING, ReplayOutcome, run_script, torch_versions
from eqfuzz.triage.findings.severity import Severity
from eqfuzz.triage.upstream.evidence import UpstreamEvidence
from eqfuzz.triage.upstream.gate import GateContext, gate
from eqfuzz.triage.upstream.labels import suggested_labels
from tools.gallery_issue import defect_issue, gallery_evidence
from tools.release_columns import Column, merge, read_columns, with_table, write_columns

FOLDER = Path(__file__).parents[1] / "docs" / "findings"
INDEX, RESULTS, ISSUES = "index.md", "results.json", "issues"

NOT_REPORTED = "(none found)"
"""Stands for the address of an upstream issue where a search found none."""

_PAGE = re.compile(r"\d{3}-[a-z0-9-]+\.md")
_FIELD = re.compile(r"(?P<name>[a-z ]+): (?P<value>.+)")
_LINK = re.compile(r"https://github\.com/pytorch/pytorch/(?:issues|pull)/(\d+)")


class InvalidPage(ValueError):
    """A page of the gallery is not as it should be; ``str()`` names it and what is wrong."""


@dataclasses.dataclass(frozen=True)
class Defect:
    """A page of the gallery: fields between two lines ``---``, a heading, an explanation; its script lies beside it."""

    page: Path
    """Path of the page."""
    title: str
    """Its heading."""
    severity: Severity
    """That of the findings."""
    component: str
    """Part of the compiler that is at fault."""
    upstream: str
    """Address of its issue, ``near`` one and its address, or ``NOT_REPORTED``."""
    seed: str
    """Seed that shows it, below the repository."""
    origin: str
    """How it was found."""

    @property
    def name(self) -> str:
        return self.page.stem

    @property
    def script(self) -> Path:
        return self.page.with_suffix(".py")

    @property
    def number(self) -> str:
        return self.name[:3]

    @classmethod
    def read(cls, page: Path) -> Defect:
        """Raises InvalidPage."""
        _, head, body = page.read_text(encoding="utf-8").split("---\n", 2)
        fields = {match["name"]: match["value"] for match in map(_FIELD.fullmatch, head.splitlines()) if match}
        heading = next((line for line in body.splitlines() if line.startswith("# ")), "")
        try:
            return cls(
                page=page,
                title=heading.removeprefix("# "),
                severity=Severity(fields["severity"]),
                component=fields["component"],
                upstream=fields["upstream"],
                seed=fields["seed"],
                origin=fields["found by"],
            )
        except KeyError as error:
            raise InvalidPage(f"{page.name}: no field {error}") from None
        except ValueError as error:
            raise InvalidPage(f"{page.name}: {error}") from None


def defects_in(folder: Path) -> list[Defect]:
    """The defects of the gallery by severity, then by number. Raises InvalidPage."""
    defects = [Defect.read(page) for page in sorted(folder.glob("*.md")) if _PAGE.fullmatch(page.name)]
    return sorted(defects, key=lambda defect: (defect.severity.rank, defect.name))


def table(defects: Sequence[Defect], columns: Sequence[Column]) -> str:
    """A row for each defect, a column for each release and build."""
    heads = ["", "defect", "severity", "component", "upstream", *(str(column.release) for column in columns)]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for defect in defects:
        outcomes = [column.outcomes.get(defect.name, "not run") for column in columns]
        link = f"[{defect.title}]({defect.page.name})"
        upstream = _LINK.sub(lambda match: f"[#{match[1]}]({match[0]})", defect.upstream)
        lines.append(f"| {' | '.join([defect.number, link, defect.severity, defect.component, upstream, *outcomes])} |")
    dates = ", ".join(f"{column.release} on {column.date}" for column in columns)
    return "\n".join([*lines, "", f"Measured on the CPU: {dates}.", ""])


def measure(
    scripts: Sequence[Path], pythons: dict[str, Release], jobs: int, times: int = 1
) -> dict[tuple[str, str], ReplayOutcome]:
    """Run each script with each interpreter ``times`` times; outcomes by interpreter and name of the script."""
    pairs = [(python, script) for python in pythons for script in scripts]
    with ThreadPoolExecutor(jobs) as threads:
        outcomes = threads.map(lambda pair: _run_repeatedly(pair[1], pair[0], times), pairs)
        return {(python, script.stem): outcome for (python, script), outcome in zip(pairs, outcomes, strict=True)}


def _run_repeatedly(script: Path, python: str, times: int) -> ReplayOutcome:
    outcomes = [run_script(script, python) for _ in range(times)]
    statuses = [outcome.status for outcome in outcomes]
    if len(set(statuses)) > 1 and ERROR not in statuses:
        return ReplayOutcome(ERROR, f"it does not end the same way each time: {', '.join(statuses)}")
    return next((outcome for outcome in outcomes if outcome.status == ERROR), outcomes[-1])


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        defects = defects_in(folder)
        pythons = {python: release_of(python) for python in chosen.python}
    except InvalidPage as error:
        print(error, file=sys.stderr)
        return 2
    except NoTorch as error:
        print(f"--python: {error}", file=sys.stderr)
        return 2
    names = sorted(defect.name for defect in defects)
    unknown = sorted(set(chosen.only) - set(names))
    if unknown:
        print(f"no such defect: {unknown[0]}; there are {', '.join(names)}", file=sys.stderr)
        return 2
    run = [defect.script for defect in defects if not chosen.only or defect.name in chosen.only]
    outcomes = measure(run, pythons, chosen.jobs, chosen.times)
    today = datetime.date.today().isoformat()
    now = [
        Column(release, today, {script.stem: outcomes[python, script.stem].status.lower() for script in run})
        for python, release in pythons.items()
    ]
    columns = merge(read_columns(folder / RESULTS), now)
    print(table(defects, columns))
    if chosen.write:
        write_columns(folder / RESULTS, columns)
        index = folder / INDEX
        index.write_text(with_table(index.read_text(encoding="utf-8"), table(defects, columns)), encoding="utf-8")
    if chosen.issues:
        defects = [defect for defect in defects if defect.script in run]
        _write_issues(folder, defects, list(pythons), outcomes, columns, chosen.jobs if chosen.evidence else 0)
    failed = {key: outcome for key, outcome in outcomes.items() if outcome.status == ERROR}
    for (python, name), outcome in failed.items():
        why = (outcome.output.strip().splitlines() or ["it printed nothing"])[-1]
        print(f"{name} with {pythons[python]} broke down: {why}", file=sys.stderr)
    return 3 if failed else 0


def _write_issues(
    folder: Path,
    defects: Sequence[Defect],
    pythons: Sequence[str],
    outcomes: Mapping[tuple[str, str], ReplayOutcome],
    columns: Sequence[Column],
    evidence_jobs: int,
) -> None:
    """Write the issue of each defect that shows with one of ``pythons``.

    With ``evidence_jobs``, so many processes at a time try what explains it.
    """
    (folder / ISSUES).mkdir(exist_ok=True)
    versions = {python: torch_versions(python) for python in pythons}
    for defect in defects:
        failing = [python for python in pythons if outcomes[python, defect.name].status == STILL_FAILING]
        if failing:
            output = outcomes[failing[-1], defect.name].output
            evidence = _tried(defect, columns, evidence_jobs) if evidence_jobs else None
            labels = suggested_labels(evidence, defect.severity, "cpu") if evidence is not None else ()
            parts = defect.title, defect.page, output, defect.upstream, columns, versions[failing[-1]]
            text = defect_issue(*parts, evidence, labels)
            (folder / ISSUES / defect.page.name).write_text(text, encoding="utf-8")


def _tried(defect: Defect, columns: Sequence[Column], jobs: int) -> UpstreamEvidence | None:
    """The evidence for a defect; None where this interpreter does not show it. Prints the gate's warnings."""
    evidence = gallery_evidence(defect.title, defect.page, columns, this_release(), jobs)
    reported = defect.upstream if defect.upstream.startswith("https:") else ""
    warnings = gate(evidence, GateContext(reported=reported))
    print(f"{defect.name}: {'see to' if warnings else 'no warning'}", flush=True)
    for warning in warnings:
        print(f"  {warning}", flush=True)
    return evidence if evidence.failing else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.gallery", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("only", nargs="*", metavar="NAME", help="only these defects (default: all)")
    parser.add_argument(
        "--python", action="append", default=[], metavar="INTERPRETER", help="run the scripts with it; repeatable"
    )
    parser.add_argument("--write", action="store_true", help="write the index and the results")
    parser.add_argument("--issues", action="store_true", help="write an issue for PyTorch of each defect")
    parser.add_argument(
        "--evidence", action="store_true", help="with --issues: try mitigations, the bisector and a unit test, and warn"
    )
    parser.add_argument("--times", type=int, default=1, metavar="N", help="run each script N times (default: 1)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="scripts run at once")
    return parser


if __name__ == "__main__":
    sys.exit(main())
