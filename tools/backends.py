"""What other compilers make of the seeds: ONNX Runtime, OpenVINO and TVM by ONNX, torch.export, AOTInductor.

``make backends`` installs them and calls this; ``ARGS="--time 20m"`` ends it early, and the next call resumes after the
last result, which are in ``docs/measurements/backends.jsonl``. ``--write`` writes the table of the page beside it. Each
seed runs as it is, not rewritten.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eqfuzz.cli.options.values import time_limit
from eqfuzz.commands.journal import Journal
from eqfuzz.run.configs.named import BUILT_IN, EXPORTING, lacks

PAGE = Path("docs/measurements/backends.md")
MARK = "<!-- measured below -->\n"
JOURNAL = PAGE.with_suffix(".jsonl")
"""Beside the page, so that a sweep of hours can be resumed on another machine."""
AGREE = "agree"
UNSUPPORTED = "unsupported"
SECONDS_PER_SEED = 600
SECONDS_BETWEEN_LINES = 30
_NUMBERS = re.compile(r"\b\d+\b")


def measured(seed: Path, backends: Sequence[str]) -> dict[str, Any]:
    """Cells and findings of a seed under all ``backends``, and the CPU seconds of the whole run."""
    command = [sys.executable, "-m", "eqfuzz", "mutate", str(seed), "--config", ",".join(backends)]
    command += ["--strategy", "none", "--no-check", "audit,draws,guards", "--threaded", "0"]
    command += ["--no-known-issues", "--jobs", "1", "--format", "json"]
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = subprocess.run(
                [*command, "--out", folder], capture_output=True, text=True, timeout=SECONDS_PER_SEED, check=False
            )
        except subprocess.TimeoutExpired:
            return {"state": "timeout", "cells": [], "findings": [], "cpu_seconds": float(SECONDS_PER_SEED)}
    events = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    cells = [event for event in events if event["event"] == "cell" and event["config"] in backends]
    findings = [event for event in events if event["event"] == "finding" and event["config"] in backends]
    ends = [event for event in events if event["event"] == "summary"]
    if not ends:
        raise RuntimeError(f"{seed}: exit code {run.returncode}: {run.stderr[-400:]}")
    return {
        "state": "done",
        "cells": [[one["config"], one["verdict"]["kind"], one["verdict"]["message"], one["seconds"]] for one in cells],
        "findings": [[one["config"], f"{one['verdict']['kind']}: {one['verdict']['message']}"] for one in findings],
        "cpu_seconds": ends[0]["cpu_seconds"],
    }


def seeds() -> list[Path]:
    """The shipped ones but those of known defects, in an order in which each beginning is a sample."""
    files = [file for file in Path("seeds").rglob("*.py") if "regressions" not in file.parts]
    return sorted(files, key=lambda file: hashlib.sha256(str(file).encode()).hexdigest())


def rows(results: dict[Path, dict[str, Any]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    heads = ("backend", "seeds", "cells", "supported", "agree, of those supported", "seconds per supported cell")
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for backend in EXPORTING:
        own = [[cell for cell in result["cells"] if cell[0] == backend] for result in results.values()]
        cells = [cell for cells in own for cell in cells]
        supported = [cell for cell in cells if cell[1] != UNSUPPORTED]
        if not supported:
            continue
        agree = sum(cell[1] == AGREE for cell in supported)
        seconds = sum(cell[3] for cell in supported) / len(supported)
        yield (
            f"| `{backend}` | {sum(map(bool, own))} | {len(cells)} | {len(supported) / len(cells):.0%} "
            f"| {agree} of {len(supported)}, {agree / len(supported):.0%} | {seconds:.1f} |"
        )


def differences(results: dict[Path, dict[str, Any]]) -> Iterator[str]:
    """A line for each confirmed finding, and for each seed that did not end."""
    for seed, result in sorted(results.items()):
        for backend, message in result["findings"]:
            yield f"- `{backend}`, `{seed}`: {' '.join(message.split())[:300]}"
        if result["state"] == "timeout":
            yield f"- `{seed}`: not judged, it did not end within {SECONDS_PER_SEED} s"


def refusals(results: dict[Path, dict[str, Any]]) -> Iterator[str]:
    """Rows of a Markdown table: what is not supported, most frequent first."""
    reasons = Counter(
        (backend, _NUMBERS.sub("N", " ".join(message.partition("UnsupportedGraph: ")[2].split()))[:160])
        for result in results.values()
        for backend, kind, message, _ in result["cells"]
        if kind == UNSUPPORTED
    )
    yield "| cells | backend | not supported |"
    yield "|---|---|---|"
    for (backend, reason), count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        yield f"| {count} | `{backend}` | {reason.replace('|', '/')} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.backends", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--time", type=time_limit, default=None, metavar="TIME", help="end after TIME: 90s, 20m, 2h")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="seeds at the same time")
    parser.add_argument("--backend", action="append", choices=EXPORTING, help="only these; repeatable")
    parser.add_argument("--write", action="store_true", help=f"write the tables of {PAGE}")
    options = parser.parse_args(arguments)
    journal = Journal(JOURNAL)
    backends = [name for name in options.backend or EXPORTING if not lacks(BUILT_IN[name])]
    for name in options.backend or EXPORTING:
        if name not in backends:
            print(f"not run: {name}: {lacks(BUILT_IN[name])}", file=sys.stderr)
    ends = time.monotonic() + options.time if options.time else float("inf")
    files = seeds()
    results: dict[Path, dict[str, Any]] = {}
    last = time.monotonic()

    def run(seed: Path) -> dict[str, Any] | None:
        key = f"{seed} {','.join(backends)} torch {version('torch')}"
        if time.monotonic() > ends and key not in journal:
            return None
        return journal.get(key, lambda: measured(seed, backends))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, result in zip(files, pool.map(run, files), strict=True):
            if result is not None:
                results[seed] = result
            if time.monotonic() - last > SECONDS_BETWEEN_LINES:
                print(f"{len(results)}/{len(files)} seeds", file=sys.stderr, flush=True)
                last = time.monotonic()
    text = (
        "\n".join([*rows(results), "", *refusals(results), "", "Confirmed differences:", "", *differences(results)])
        + "\n"
    )
    print(text)
    if len(results) < len(files):
        print(f"{len(files) - len(results)} of {len(files)} seeds are missing; call it again", file=sys.stderr)
    if options.write:
        date = datetime.datetime.now(datetime.UTC).date()
        seconds = sum(result["cpu_seconds"] for result in results.values())
        count = f"{len(results)} of {len(files)} seeds, {seconds:,.0f} CPU seconds"
        command = " ".join(["python -m tools.backends", *(sys.argv[1:] if arguments is None else arguments)])
        head = f"`{command}`, {date}, torch {version('torch')}: {count}.\n\n"
        PAGE.write_text(PAGE.read_text(encoding="utf-8").partition(MARK)[0] + MARK + head + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
