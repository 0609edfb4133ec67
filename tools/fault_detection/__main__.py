"""Measure how many of the planted faults eqfuzz detects on the shipped seeds: ``make quality``.

``python -m tools.fault_detection`` is the same.

Exit codes: 0 at least 85 % found and nothing without a fault, 1 otherwise, 2 bad usage.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from eqfuzz.program.release import this_release
from tools.fault_detection.corpus.catalogues import SAMPLES, USUAL
from tools.fault_detection.corpus.corpus import detection_seeds
from tools.fault_detection.detection.journal import DetectionJournal
from tools.fault_detection.detection.result import DetectionResult
from tools.fault_detection.detection.session import Options, detect, prepare, run_clean, triage_all
from tools.fault_detection.detection.summary import clean_line, result_line, result_table, triage_line
from tools.fault_detection.fault import FOLDER, BadFault, Fault, read_faults

REQUIRED_SHARE = 0.85
MINUTES = 60.0
NONE = "none"
CLEAN_SHARE = 0.35
"""Of the time, for the clean run: it must find nothing but torch's own defects, fills the store of kernels, and traces
which code of torch each program runs."""


class BadUsage(Exception):
    """An option that cannot be used; ``str()`` is one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        plantable, absent = _plantable(chosen)
        catalogues = _catalogues(chosen)
        if chosen.seeds == NONE and not catalogues and not chosen.generated:
            raise BadUsage("--seeds none leaves no program: name a --source")
        if chosen.seeds != NONE and not chosen.generated and not detection_seeds(chosen.seeds):
            raise BadUsage(f"no shipped seed that shows no known issue begins with {chosen.seeds!r}")
    except BadUsage as error:
        print(error, file=sys.stderr)
        return 2
    for fault in absent:
        print(f"not plantable on torch {this_release()}: {fault.name}: {fault.limit}", file=sys.stderr)
    return _run_session(chosen, plantable, _sample(plantable, chosen), catalogues, len(absent))


def _catalogues(chosen: argparse.Namespace) -> tuple[str, ...]:
    """The catalogues whose programs run: the usual ones beside all shipped seeds. Raises BadUsage."""
    if chosen.source is None:
        return () if chosen.seeds or chosen.generated or chosen.cells is not None else USUAL
    sources = tuple(dict.fromkeys(chosen.source))
    if NONE in sources and len(sources) > 1:
        raise BadUsage("--source none goes with no other source")
    return () if NONE in sources else sources


def _plantable(chosen: argparse.Namespace) -> tuple[list[Fault], list[Fault]]:
    """The selected faults that can be planted in the installed torch, and the others. Raises BadUsage."""
    try:
        faults = read_faults(chosen.faults.resolve())
    except BadFault as error:
        raise BadUsage(f"{chosen.faults}: {error}") from None
    if not faults:
        raise BadUsage(f"no planted fault in {chosen.faults}")
    unknown = sorted(set(chosen.only) - {fault.name for fault in faults})
    if unknown:
        raise BadUsage(f"no such fault: {unknown[0]}; there are {', '.join(fault.name for fault in faults)}")
    faults = [fault for fault in faults if not chosen.only or fault.name in chosen.only]
    absent = [fault for fault in faults if not fault.is_plantable(this_release())]
    return [fault for fault in faults if fault not in absent], absent


def _sample(faults: list[Fault], chosen: argparse.Namespace) -> list[Fault]:
    """The faults to attempt. Samples are drawn from what the newest release has, so that they agree across releases."""
    if not chosen.sample:
        return faults
    lasting = [fault for fault in faults if "<" not in fault.torch]
    drawn = random.Random(chosen.seed).sample(lasting, min(chosen.sample, len(lasting)))
    return sorted(drawn, key=lambda fault: fault.name)


def _run_session(
    chosen: argparse.Namespace, plantable: list[Fault], faults: list[Fault], catalogues: tuple[str, ...], absent: int
) -> int:
    start = time.monotonic()
    options = Options(
        seed=chosen.seed,
        seeds=None if chosen.seeds == NONE else chosen.seeds,
        generated=chosen.generated,
        catalogues=catalogues,
        limit=chosen.limit,
        cells=chosen.cells,
        jobs=chosen.jobs,
        journal=chosen.journal,
    )
    journal = DetectionJournal(chosen.journal)
    # A detection whose triage was cut off has lost its folder, so it is repeated.
    earlier = [
        result
        for result in journal.results(faults)
        if not (chosen.triage and result.is_detected and result.triage is None)
    ]
    # Several sessions together have no more time than one.
    end = start + chosen.minutes * 60 - journal.seconds(faults) / chosen.jobs
    complete = {result.name for result in earlier}
    faults = [fault for fault in faults if fault.name not in complete]
    is_json = chosen.format == "json"

    def report(result: DetectionResult) -> None:
        # One write for each result, so that lines of several threads do not mix.
        sys.stdout.write((json.dumps(result.to_json()) if is_json else result_line(result)) + "\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory(prefix="eqfuzz-quality-") as folder:
        context = prepare(options, Path(folder))
        minutes = CLEAN_SHARE * chosen.minutes if chosen.clean_minutes is None else chosen.clean_minutes
        seconds = minutes * 60 - (time.monotonic() - start)
        context, clean, is_restored = run_clean(context, plantable, options, seconds)
        if is_restored:
            end -= clean.seconds
        print(json.dumps(clean.to_json()) if is_json else clean_line(clean), flush=True)
        runners = detect(faults, context, options, end, journal, report)
        if chosen.triage:
            triage_all(runners, chosen.jobs, journal, report)
    results = [*earlier, *(runner.result for runner in runners)]
    return _summarise(results, clean, absent, time.monotonic() - start, is_json=is_json)


def _summarise(
    results: Sequence[DetectionResult], clean: DetectionResult, absent: int, seconds: float, *, is_json: bool
) -> int:
    """Print the totals. Returns the exit code."""
    detected = sum(result.is_detected for result in results)
    share = detected / len(results) if results else 0.0
    if is_json:
        counts = {"faults": len(results), "found": detected, "share": share, "not_plantable": absent}
        print(json.dumps({**counts, "torch": str(this_release()), "seconds": round(seconds, 1)}))
    else:
        console = Console(width=None if sys.stdout.isatty() else 160)
        console.print(result_table(sorted(results, key=lambda result: result.name)))
        cells, spared = sum(result.cells for result in results), sum(result.spared for result in results)
        judged = f"{cells} compiled cells judged, {spared} spared"
        console.print(f"found {detected} of {len(results)} ({share:.0%}), {judged}, {seconds / 60:.0f} min")
        console.print(f"torch {this_release()}: {absent} more cannot be planted in it")
        triaged = [result.triage for result in results if result.triage is not None]
        if triaged:
            console.print(triage_line(triaged))
    return 0 if share >= REQUIRED_SHARE and not clean.is_detected else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.fault_detection", description=__doc__)
    parser.add_argument("--faults", type=Path, default=FOLDER, help="folder of the faults (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these faults (default: all)")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N of them, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0, help="decides the order of the seeds and all random choices")
    parser.add_argument(
        "--seeds", default="", metavar="PREFIX", help="shipped seeds whose path begins with it, or none (default: all)"
    )
    parser.add_argument(
        "--source",
        action="append",
        choices=(*SAMPLES, NONE),
        help=f"programs of PyTorch's catalogues, or none; repeatable (default with all seeds: {', '.join(USUAL)})",
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="faults attempted at once")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for all faults together")
    parser.add_argument("--clean-minutes", type=float, help="of these, for the clean run (default: 35 in 100)")
    parser.add_argument("--limit", type=float, default=None, metavar="SECONDS", help="for each fault instead")
    parser.add_argument("--generated", type=int, default=0, metavar="N", help="N generated programs, not shipped seeds")
    parser.add_argument("--cells", type=int, default=None, help="largest number of compiled cells for each fault")
    parser.add_argument("--triage", action="store_true", help="reduce and replay what is found; takes longer")
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="keeps complete results: the same command resumes with the rest"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    return parser


if __name__ == "__main__":
    sys.exit(main())
