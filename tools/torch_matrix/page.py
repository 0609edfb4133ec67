"""Markdown page of the measured releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version

from eqfuzz.program.release import Release
from eqfuzz.triage.findings.known_issues import KnownIssue
from tools.torch_matrix.row import MUTATE_OPTIONS

BEGIN = f"""# Releases of torch that eqfuzz works with

Made by `make torches`; a single row by `make torches VERSIONS=2.14.1`. Each row is measured in its own environment:
`eqfuzz doctor`, `eqfuzz self-check`, the contract test (every private name of torch that eqfuzz relies on), and all
shipped seeds with two variants each (`eqfuzz mutate seeds/ {" ".join(MUTATE_OPTIONS)}`).
The lower bound in `pyproject.toml` is the oldest release here.

Known issues: of the shipped list's issues in that release, how many one of their seeds reproduces. CPU-s per cell is
the whole run, judging and confirming included, divided by compiled cells; rows were measured beside other work and on
different days, so the column does not compare releases.
"""


def page(rows: Sequence[Mapping[str, Any]], cuda: str, issues: Sequence[KnownIssue]) -> str:
    """The page in Markdown, newest release first; ``cuda`` is the paragraph about a run with a device."""
    ordered = sorted(rows, key=lambda row: (Version(row["release"]), row["build"]), reverse=True)
    heads = "torch|build|Python|works|seeds valid|cells|agree|findings|known|CPU-s/cell|on".split("|")
    lines = [BEGIN, _line(heads), _line(["---", *["---"] * 3, *["--:"] * 6, "---"])]
    lines += [_line(_columns(row, issues)) for row in ordered]
    for row in ordered:
        notes = _notes(row, issues)
        if notes:
            lines += ["", f"## {row['release']} {row['build']}", "", *(f"- {note}" for note in notes)]
    return "\n".join([*lines, "", "## CUDA", "", cuda, ""])


def works(row: Mapping[str, Any]) -> bool:
    """Whether every check of a row passed and every shipped seed is valid."""
    checks = (row["doctor"], row["self-check"], row["contract"])
    return all(check["passed"] for check in checks) and not row["seeds"]["invalid"] and not row["seeds"]["errors"]


def reproduced_issues(row: Mapping[str, Any], issues: Sequence[KnownIssue]) -> dict[KnownIssue, bool]:
    """Whether each known issue of the release was reproduced by one of its seeds."""
    release, pairs = Release(row["release"], row["build"]), row["seeds"]["known"]
    return {
        issue: any(f"{issue.url} {Path(seed).name}" in pairs for seed in issue.seeds)
        for issue in issues
        if issue.seeds and issue.is_in(release)
    }


def _columns(row: Mapping[str, Any], issues: Sequence[KnownIssue]) -> list[str]:
    seeds, reproduced = row["seeds"], reproduced_issues(row, issues)
    verdicts = seeds["verdicts"]
    invalid = sum(seeds["invalid"].values())
    bad = ("wrong-", "exception-", "compiler-", "process-", "hang", "out-of-")
    findings = sum(count for kind, count in verdicts.items() if kind.startswith(bad))
    return [
        row["release"],
        row["build"],
        row["python"],
        "yes" if works(row) else "**no**",
        f"{seeds['seeds'] - invalid} of {seeds['seeds']}",
        str(seeds["cells"]),
        str(verdicts.get("agree", 0)),
        str(findings),
        f"{sum(reproduced.values())} of {len(reproduced)}",
        f"{seeds['cpu_seconds'] / max(1, seeds['cells']):.1f}",
        row["date"],
    ]


def _notes(row: Mapping[str, Any], issues: Sequence[KnownIssue]) -> list[str]:
    """Failed checks, invalid seeds, unsupported cells and issues that are new or not reproduced."""
    checks = {"doctor": "`eqfuzz doctor`", "self-check": "`eqfuzz self-check`", "contract": "Contract"}
    notes = [f"{name}: {row[key]['detail']}" for key, name in checks.items() if not row[key]["passed"]]
    seeds = row["seeds"]
    notes += [f"{count} invalid: {reason}" for reason, count in _largest(seeds["invalid"])]
    notes += [f"{count} cells unsupported: {reason}" for reason, count in _largest(seeds["unsupported"])]
    unclear = ("inconclusive", "flaky", "suspect-rule")
    others = {kind: count for kind, count in seeds["verdicts"].items() if kind in unclear}
    notes += [f"{count} cells {kind}" for kind, count in _largest(others)]
    notes += [f"No known issue: {finding}" for finding in seeds["new"]]
    missing = [issue for issue, is_reproduced in reproduced_issues(row, issues).items() if not is_reproduced]
    notes += [f"Does not show: {issue.title} ({issue.url})" for issue in missing]
    return [*notes, *seeds["errors"]]


def _largest(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
