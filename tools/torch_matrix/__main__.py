"""``python -m tools.torch_matrix [VERSION ...]``: the table of torch releases that eqfuzz works with.

A release at a time is installed, measured and removed. Steps that are done are kept in ``FOLDER/journal.jsonl``, so the
same call goes on where it was cut off; a finished row goes into ``docs/reference/torches.json``, and the page beside it
is written anew.
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
from tools.fault_detection.journal import Lines
from tools.torch_matrix.environment import ROOT, BadVersion, Environment, InstallFailed
from tools.torch_matrix.page import page, works
from tools.torch_matrix.row import PARTS, Measurement, Result, together

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
    """The row of one release. Raises InstallFailed, and RuntimeError where a step did not come to an end."""
    chosen.folder.mkdir(parents=True, exist_ok=True)
    journal = Lines(chosen.folder / "journal.jsonl")
    done = {line["step"]: line["result"] for line in journal.read() if line["version"] == environment.version}
    out = chosen.folder.absolute() / f"out-{environment.version}"
    print(f"{environment.version}: installing", flush=True)
    environment.install()
    release = release_of(environment.python)
    for name, step in Measurement(environment, out, chosen.jobs).steps().items():
        if name in done:
            continue
        began = time.monotonic()
        done[name] = step()
        journal.add({"version": environment.version, "step": name, "result": done[name]})
        print(f"{environment.version}: {name}, {time.monotonic() - began:.0f} s", flush=True)
    shutil.rmtree(out, ignore_errors=True)
    return row_of(done, release)


def row_of(done: Result, release: Release) -> Result:
    """The row that the results of the steps come to."""
    return {
        "release": release.release,
        "build": release.build,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "date": datetime.date.today().isoformat(),
        **{name: done[name] for name in ("doctor", "self-check", "contract")},
        "seeds": together([done[f"seeds {part + 1}"] for part in range(PARTS)]),
    }


def write(new: Sequence[Result]) -> None:
    """Put the ``new`` rows in the place of earlier ones of the same builds, and make the page of all."""
    kept = (
        json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else {"cuda": "Not run: no device.", "rows": []}
    )
    rows = {(row["release"], row["build"]): row for row in (*kept["rows"], *new)}
    kept["rows"] = list(rows.values())
    ROWS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(kept["rows"], kept["cuda"], read_known_issues([SHIPPED])), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.torch_matrix", description=__doc__)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"releases (default: {' '.join(VERSIONS)})")
    parser.add_argument("--page", action="store_true", help="only write the page anew, from the rows there are")
    parser.add_argument("--keep", action="store_true", help="leave the environments where they are")
    parser.add_argument("--folder", type=Path, default=ROOT / ".torches", help="environments, journal, findings")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="seeds run at once")
    return parser


if __name__ == "__main__":
    sys.exit(main())
