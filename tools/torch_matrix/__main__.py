"""Make the table of torch releases that eqfuzz works with: ``python -m tools.torch_matrix [VERSION ...]``.

Releases are installed, measured and removed one at a time. Completed steps are kept in ``FOLDER/journal.jsonl``, from
which the same command resumes. A complete row is stored in ``docs/reference/torches.json``, and the page beside it is
written again.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.program.release import Release, release_of
from eqfuzz.triage.findings.known_issues import SHIPPED, read_known_issues
from tools.fault_detection.json_lines import JsonLines
from tools.torch_matrix.environment import ROOT, BadVersion, Environment, InstallFailed
from tools.torch_matrix.page import page, works
from tools.torch_matrix.row import PARTS, Measurement, Result, combine

VERSIONS = ("2.15.0", "2.14.1", "2.13.0", "2.13.0+cpu", "2.12.1", "2.11.0", "2.9.1", "2.8.0", "2.6.0")
ROWS = ROOT / "docs" / "reference" / "torches.json"
PAGE = ROWS.with_suffix(".md")


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        environments = [Environment.of(version, chosen.folder) for version in chosen.versions or VERSIONS]
    except BadVersion as error:
        print(error, file=sys.stderr)
        return 2
    if chosen.page:
        write([])
        return 0
    failed = False
    for environment in environments:
        try:
            row = _measure(environment, chosen)
        except (InstallFailed, RuntimeError) as error:
            print(f"{environment.version}: {error}", file=sys.stderr, flush=True)
            failed = True
            continue
        write([row])
        failed |= not works(row)
        print(f"{environment.version}: {'works' if works(row) else 'does not work'}; see {PAGE.relative_to(ROOT)}")
        if not chosen.keep:
            environment.remove()
    return 1 if failed else 0


def _measure(environment: Environment, chosen: argparse.Namespace) -> Result:
    """Measure the row of one release. Raises InstallFailed, and RuntimeError where a step does not complete."""
    chosen.folder.mkdir(parents=True, exist_ok=True)
    journal = JsonLines(chosen.folder / "journal.jsonl")
    results = {line["step"]: line["result"] for line in journal.read() if line["version"] == environment.version}
    out = chosen.folder.absolute() / f"out-{environment.version}"
    print(f"{environment.version}: installing", flush=True)
    environment.install()
    release = release_of(environment.python)
    for name, step in Measurement(environment, out, chosen.jobs).steps().items():
        if name in results:
            continue
        start = time.monotonic()
        results[name] = step()
        journal.add({"version": environment.version, "step": name, "result": results[name]})
        print(f"{environment.version}: {name}, {time.monotonic() - start:.0f} s", flush=True)
    shutil.rmtree(out, ignore_errors=True)
    return row_of(results, release)


def row_of(results: Result, release: Release) -> Result:
    """The row for the results of all steps."""
    return {
        "release": release.release,
        "build": release.build,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "date": datetime.date.today().isoformat(),
        **{name: results[name] for name in ("doctor", "self-check", "contract")},
        "seeds": combine([results[f"seeds {part + 1}"] for part in range(PARTS)]),
    }


def write(new: Sequence[Result]) -> None:
    """Store the ``new`` rows in place of earlier ones of the same builds, and write the page."""
    content = {"cuda": "Not run: no device.", "rows": []}
    if ROWS.exists():
        content = json.loads(ROWS.read_text(encoding="utf-8"))
    rows = {(row["release"], row["build"]): row for row in (*content["rows"], *new)}
    content["rows"] = list(rows.values())
    ROWS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(content["rows"], content["cuda"], read_known_issues([SHIPPED])), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.torch_matrix", description=__doc__)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"releases (default: {' '.join(VERSIONS)})")
    parser.add_argument("--page", action="store_true", help="only write the page again from the stored rows")
    parser.add_argument("--keep", action="store_true", help="do not remove the environments")
    parser.add_argument("--folder", type=Path, default=ROOT / ".torches", help="environments, journal, findings")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="seeds run at once")
    return parser


if __name__ == "__main__":
    sys.exit(main())
