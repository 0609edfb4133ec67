"""``eqfuzz replay``: is a finding still there?"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eqfuzz.cli.choice import (
    OUT,
    Interpreter,
    OneEvent,
    RunFolder,
    all_findings,
    buckets_in,
    folder_of,
    interpreter_of,
)
from eqfuzz.cli.exits import CLEAN, FINDINGS, INTERNAL, USAGE, complain
from eqfuzz.cli.options import Format

if TYPE_CHECKING:
    from rich.console import Console

    from eqfuzz.triage.replay import Outcome


def replay(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The finding's id, or its first digits.")] = None,
    out: RunFolder = OUT,
    python: Interpreter = sys.executable,
    all: Annotated[bool, typer.Option("--all", help="Every finding of the run.")] = False,
    bucket: Annotated[str, typer.Option(metavar="BUCKET", help="Every finding of this bucket.")] = "",
    jobs: Annotated[int | None, typer.Option(min=1, help="Reproducers run at once (default: one per core).")] = None,
    format: OneEvent = Format.TEXT,
) -> None:
    """Run findings again: FIXED or STILL FAILING?

    Each reproducer runs in a fresh process; ERROR means that it could not tell.

    Exit codes: 0 all fixed, 1 some still failing, 2 no such finding, 3 a reproducer itself could not tell.
    """
    folders = _chosen(id, out, everything=all, bucket=bucket)
    interpreter = interpreter_of(python)

    from rich.console import Console

    from eqfuzz.run.sandbox.enclosure import NoSandbox, demand_level
    from eqfuzz.triage.folder import is_untrusted
    from eqfuzz.triage.replay import ERROR, REPLAY_SECONDS, STILL_FAILING, version_of
    from eqfuzz.triage.replay import replay as run_reproducer

    console = Console(highlight=False)
    tested = version_of(interpreter)
    statuses: list[str] = []
    try:
        if any(map(is_untrusted, folders)):
            demand_level()
    except NoSandbox as error:
        complain(str(error))
        raise typer.Exit(USAGE) from None
    with ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0))) as threads:
        outcomes = threads.map(lambda folder: run_reproducer(folder, interpreter, REPLAY_SECONDS), folders)
        for folder, outcome in zip(folders, outcomes, strict=True):
            statuses.append(outcome.status)
            if format is Format.JSON:
                told = {"event": "replayed", "id": folder.name, "status": outcome.status, "output": outcome.output}
                print(json.dumps({**told, "torch": tested, "found_with": _found_with(folder)}), flush=True)
            else:
                _print(console, folder, outcome, tested, output=len(folders) == 1)
    counts = {status: statuses.count(status) for status in sorted(set(statuses))}
    if format is Format.JSON:
        print(json.dumps({"event": "summary", "torch": tested, **counts}))
    elif len(folders) > 1:
        console.print(", ".join(f"{number} {status}" for status, number in counts.items()), style="bold")
    raise typer.Exit(INTERNAL if ERROR in counts else FINDINGS if STILL_FAILING in counts else CLEAN)


def _chosen(id: str | None, out: Path, *, everything: bool, bucket: str) -> list[Path]:
    """The folders asked for; otherwise one line on stderr and exit code 2."""
    if sum((id is not None, everything, bool(bucket))) != 1:
        complain("give one of ID, --all and --bucket; see `eqfuzz replay --help`")
        raise typer.Exit(USAGE)
    if id is not None:
        return [folder_of(id, out)]
    buckets = buckets_in(out)
    chosen = [f.id for f in all_findings(out) if everything or (f.fingerprint and buckets.of(f).startswith(bucket))]
    if not chosen:
        complain(f"no finding {'in' if everything else f'of bucket {bucket!r} in'} {out}")
        raise typer.Exit(USAGE)
    return [out / "findings" / name for name in chosen]


def _print(console: Console, folder: Path, outcome: Outcome, tested: str, *, output: bool) -> None:
    from rich.text import Text

    from eqfuzz.report.figures import printable
    from eqfuzz.triage.replay import FIXED, STILL_FAILING

    if output:
        for line in outcome.output.strip().splitlines():
            console.print(Text(f"  {printable(line)}", style="dim"), soft_wrap=True)
    style = {FIXED: "bold green", STILL_FAILING: "bold red"}.get(outcome.status, "bold yellow")
    found = _found_with(folder)
    versions = f"  torch {tested}" + (f" (found with {found})" if found not in ("", tested) else "")
    line = Text.assemble((outcome.status, style), f"  {folder.name}", (versions, "dim"), f"  {_told(folder)}")
    console.print(line, soft_wrap=True)


def _found_with(folder: Path) -> str:
    """The version of torch that the finding was made with, if its folder tells."""
    file = folder / "environment.json"
    try:
        return str(json.loads(file.read_text(encoding="utf-8")).get("torch", "")) if file.is_file() else ""
    except ValueError:
        return ""


def _told(folder: Path) -> str:
    """``wrong-result: what the judge said``, as far as the folder tells; a reproducer alone can be replayed too."""
    file = folder / "verdict.json"
    if not file.is_file():
        return ""
    try:
        verdict = json.loads(file.read_text(encoding="utf-8"))
        return " ".join(f"{verdict['kind']}: {verdict['message']}".split())
    except (ValueError, KeyError, TypeError) as error:
        return f"({file} cannot be read: {error})"
