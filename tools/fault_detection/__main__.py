"""How many of the planted faults eqfuzz finds on the shipped seeds: ``make quality``.

``python -m tools.fault_detection`` is the same.

Exit codes: 0 at least 85 % found and nothing without a fault, 1 otherwise, 2 bad usage.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.table import Table

from eqfuzz.program.release import this_release
from tools.fault_detection.clean import CleanRun
from tools.fault_detection.corpus import Entry, generated_seeds, grow, hunted_seeds, ordered
from tools.fault_detection.fault import FOLDER, BadFault, Fault, read_faults
from tools.fault_detection.hunt import Hunt, Hunter, OwnDefects, Record
from tools.fault_detection.journal import Journal
from tools.fault_detection.reach import Replaced, replaced_by
from tools.fault_detection.triaged import Triaged

ENOUGH = 0.85
MINUTES = 60.0
CLEAN_SHARE = 0.35
"""Of the time, for a run without any fault: it must find nothing but torch's own defects, fills the store of kernels,
and tells which code of torch each program runs."""


FIRST_SHARE = 0.6
"""Of an even share of the time, for the first go at a fault: what is not found by then gets a second one."""


GRACE = 45.0
"""Seconds that a go may take longer for what it has begun: a finding is confirmed in a fresh process."""


class Clock:
    """Shares the time that is left evenly among what has not begun: what one does not use, all get."""

    def __init__(self, seconds: float, waiting: int, jobs: int) -> None:
        self._end = time.monotonic() + seconds
        self._waiting = waiting
        self._jobs = jobs
        self._lock = threading.Lock()

    def next_limit(self) -> float:
        """Seconds for the one that begins now; never past the end of all."""
        with self._lock:
            left = max(0.0, self._end - time.monotonic())
            rounds = max(1.0, self._waiting / self._jobs)
            self._waiting -= 1
            return left / rounds


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        faults = read_faults(chosen.faults.resolve())
    except BadFault as error:
        print(f"{chosen.faults}: {error}", file=sys.stderr)
        return 2
    if not faults:
        print(f"no planted fault in {chosen.faults}", file=sys.stderr)
        return 2
    unknown = sorted(set(chosen.only) - {fault.name for fault in faults})
    if unknown:
        print(f"no such fault: {unknown[0]}; there are {', '.join(f.name for f in faults)}", file=sys.stderr)
        return 2
    faults = [fault for fault in faults if not chosen.only or fault.name in chosen.only]
    release = this_release()
    absent = [fault for fault in faults if not fault.is_plantable(release)]
    faults = planted = [fault for fault in faults if fault not in absent]
    if chosen.sample:
        # Of what the newest release still has, so that the same are drawn on each.
        lasting = [fault for fault in faults if "<" not in fault.torch]
        faults = sorted(random.Random(chosen.seed).sample(lasting, min(chosen.sample, len(lasting))), key=_name)
    for fault in absent:
        print(f"not plantable on torch {release}: {fault.name}: {fault.limit}", file=sys.stderr)
    if not chosen.generated and not hunted_seeds(chosen.seeds):
        print(f"no shipped seed that shows no known issue begins with {chosen.seeds!r}", file=sys.stderr)
        return 2
    began = time.monotonic()
    journal = Journal(chosen.journal)
    # A find whose reduction was cut off is gone with its folder: it is made again.
    hunts = [hunt for hunt in journal.hunts(faults) if not (chosen.triage and hunt.found and hunt.triaged is None)]
    through = {h.name for h in hunts}
    # Over several sittings nobody gets more time than in one.
    end = began + chosen.minutes * 60 - journal.seconds(faults) / chosen.jobs
    faults = [fault for fault in faults if fault.name not in through]
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="eqfuzz-quality-") as folder:
        ground = _prepare(chosen, Path(folder), stop)
        minutes = CLEAN_SHARE * chosen.minutes if chosen.clean_minutes is None else chosen.clean_minutes
        share = minutes * 60 - (time.monotonic() - began)
        clean = ground.hunter(None, jobs=len(os.sched_getaffinity(0)))
        replaced = replaced_by(planted)
        kept = CleanRun(chosen.journal, ground.entries, replaced.values())
        if kept.restore(clean):
            end -= clean.hunt.seconds
        else:
            clean.go_on(share)
            kept.keep(clean)
        print(json.dumps(clean.hunt.to_json()) if _as_json(chosen) else _clean_line(clean.hunt), flush=True)
        entries = ordered(ground.entries, clean.record.costs, chosen.seed)
        ground = dataclasses.replace(ground, entries=entries, clean=clean.record, replaced=replaced)
        hunters = _hunted(faults, ground, chosen, end, journal)
        if chosen.triage:
            _triage_all(hunters, chosen, journal)
    hunts += [hunter.hunt for hunter in hunters]
    return _tell(hunts, clean.hunt, len(absent), time.monotonic() - began, chosen)


def _name(fault: Fault) -> str:
    return fault.name


@dataclasses.dataclass(frozen=True)
class Ground:
    """What all hunts have in common: the programs in order, and the folders that they write to."""

    entries: list[Entry]
    seed: int
    folder: Path
    own: OwnDefects
    stop: threading.Event
    most_cells: int | None
    clean: Record | None = None
    replaced: Mapping[str, Replaced] = dataclasses.field(default_factory=dict[str, Replaced])

    def hunter(self, fault: Fault | None, jobs: int = 1) -> Hunter:
        name = fault.name if fault is not None else "none"
        out, known = self.folder / "runs" / name, (self.clean, self.replaced.get(name))
        most = self.most_cells
        if fault is None and most is not None:
            most += most // 4  # the order changes once the costs are known
        more = {"jobs": jobs, "most_cells": most, "stop": self.stop}
        return Hunter(fault, self.entries, self.seed, self.own, out, self.folder / "kernels", *known, **more)


def _prepare(chosen: argparse.Namespace, folder: Path, stop: threading.Event) -> Ground:
    (folder / "kernels").mkdir()
    made = generated_seeds(chosen.generated, chosen.seed, folder / "generated") if chosen.generated else []
    if chosen.cells is not None and len(made) >= chosen.cells:
        grown = [Entry(path) for path in made]  # variants come after all seeds, past the limit
    else:
        grown = grow(made or hunted_seeds(chosen.seeds), chosen.seed, folder)
    entries = ordered(grown, {}, chosen.seed)
    return Ground(entries, chosen.seed, folder, OwnDefects(), stop, chosen.cells)


def _hunted(
    faults: Sequence[Fault], ground: Ground, chosen: argparse.Namespace, end: float, journal: Journal
) -> list[Hunter]:
    """A go at every fault, and another at those that the first has missed; with a limit for each there is one only."""
    hunters = [ground.hunter(fault) for fault in faults]
    first = FIRST_SHARE * (end - time.monotonic()) / max(1.0, len(faults) / chosen.jobs)

    def go_on(hunter: Hunter, seconds: float, *, is_last: bool) -> None:
        hunt = hunter.go_on(seconds, max(0.0, min(GRACE, end - time.monotonic() - seconds)))
        if ground.stop.is_set():
            return
        journal.add(hunt, is_through=hunt.found or is_last)
        if hunt.found or is_last:
            _print(json.dumps(hunt.to_json()) if _as_json(chosen) else _line(hunt))

    with ThreadPoolExecutor(chosen.jobs) as threads, _stopped(ground.stop):
        is_last = chosen.limit is not None
        limit = chosen.limit if is_last else first
        list(threads.map(lambda hunter: go_on(hunter, limit, is_last=is_last), hunters))
        left = [hunter for hunter in hunters if not hunter.hunt.found and not is_last]
        clock = Clock(end - time.monotonic(), len(left), chosen.jobs)
        list(threads.map(lambda hunter: go_on(hunter, clock.next_limit(), is_last=True), left))
    return hunters


@contextlib.contextmanager
def _stopped(stop: threading.Event) -> Iterator[None]:
    """Ctrl-C ends what the threads do, so that nobody waits for them."""
    try:
        yield
    except BaseException:
        stop.set()
        raise


def _print(line: str) -> None:
    """In one piece, whoever else prints."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _triage_all(hunters: Sequence[Hunter], chosen: argparse.Namespace, journal: Journal) -> None:
    """What was found is reduced and replayed; that is beyond the time for hunting."""

    def look(hunter: Hunter) -> None:
        hunt = hunter.triage()
        journal.add(hunt)
        _print(json.dumps(hunt.to_json()) if _as_json(chosen) else _line(hunt))

    with ThreadPoolExecutor(chosen.jobs) as threads:
        list(threads.map(look, [hunter for hunter in hunters if hunter.hunt.found]))


def _as_json(chosen: argparse.Namespace) -> bool:
    return chosen.format == "json"


def _tell(hunts: Sequence[Hunt], clean: Hunt, absent: int, seconds: float, chosen: argparse.Namespace) -> int:
    """Print what came of it all; the exit code."""
    found = sum(h.found for h in hunts)
    share = found / len(hunts) if hunts else 0.0
    if _as_json(chosen):
        counts = {"faults": len(hunts), "found": found, "share": share, "not_plantable": absent}
        print(json.dumps({**counts, "torch": str(this_release()), "seconds": round(seconds, 1)}))
    else:
        console = Console(width=None if sys.stdout.isatty() else 160)
        console.print(_table(sorted(hunts, key=lambda h: h.name)))
        cells, spared = sum(h.cells for h in hunts), sum(h.spared for h in hunts)
        judged = f"{cells} compiled cells judged, {spared} spared"
        console.print(f"found {found} of {len(hunts)} ({share:.0%}), {judged}, {seconds / 60:.0f} min")
        console.print(f"torch {this_release()}: {absent} more cannot be planted in it")
        triaged = [h.triaged for h in hunts if h.triaged is not None]
        if triaged:
            console.print(_triage_line(triaged))
    return 0 if share >= ENOUGH and not clean.found else 1


def _triage_line(triaged: Sequence[Triaged]) -> str:
    sizes = sorted(t.statements for t in triaged if t.statements is not None)
    parts = (
        f"stage right in {sum(t.is_right for t in triaged)} of {len(triaged)}",
        f"{len(sizes)} reduced, to {statistics.median(sizes) if sizes else '-'} statements on the median",
        f"at most 6 in {sum(size <= 6 for size in sizes)}",
        f"one rewrite or none left in {sum(t.rewrites is not None and t.rewrites < 2 for t in triaged)}",
        f"scripts right with and without the fault: {sum(t.fails and t.passes for t in triaged)}",
    )
    return "; ".join(parts)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.fault_detection", description=__doc__)
    parser.add_argument("--faults", type=Path, default=FOLDER, help="folder of the faults (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these faults (default: all)")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N of them, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0, help="decides the order of the seeds and all random choices")
    parser.add_argument(
        "--seeds", default="", metavar="PREFIX", help="shipped seeds whose path begins so (default: all)"
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="faults hunted at once")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for all faults together")
    parser.add_argument(
        "--clean-minutes", type=float, help="of these, for the run without a fault (default: 35 in 100)"
    )
    parser.add_argument("--limit", type=float, default=None, metavar="SECONDS", help="for each fault instead")
    parser.add_argument("--generated", type=int, default=0, metavar="N", help="N generated programs, not shipped seeds")
    parser.add_argument("--cells", type=int, default=None, help="compiled cells for each fault at most")
    parser.add_argument("--triage", action="store_true", help="reduce and replay what is found; takes longer")
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="keeps what is through: the same call again goes on with the rest"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    return parser


def _clean_line(done: Hunt) -> str:
    told = f"a false alarm from {done.catch.seed}" if done.catch is not None else "no false alarm"
    more = f"  [{done.error}]" if done.error else ""
    return (
        f"no fault: {told}, {done.passed_over} findings of torch's own, {done.cells} cells, {done.seconds:.0f} s{more}"
    )


def _line(done: Hunt) -> str:
    how = "missed"
    if done.catch is not None:
        how = f"found  {done.catch.verdict} from {done.catch.seed} ({done.catch.phase})"
    more = f"  [{done.error}]" if done.error else ""
    if done.triaged is not None:
        told = done.triaged
        more += f"\n    {told.place}: {told.statements} statements, {told.rewrites} rewrites, {told.seconds:.0f} s"
        more += "" if told.is_right else f"; stage {told.stage or 'unknown'}, not {' or '.join(told.right_stages)}"
        more += "" if told.fails and told.passes else f"; script fails: {told.fails}, passes without: {told.passes}"
        more += f"  [{told.error}]" if told.error else ""
    return f"{done.name:44} {how}, {_cells(done)} cells, {done.seconds:.0f} s{more}"


def _cells(done: Hunt) -> str:
    """Those that were judged, and those that a run without knowledge of the fault would have judged besides."""
    return f"{done.cells} + {done.spared}" if done.spared else str(done.cells)


def _table(hunts: Sequence[Hunt]) -> Table:
    table = Table(
        "fault",
        "kind",
        "issue",
        "",
        "verdict",
        "stage",
        "config",
        "cells",
        "s",
        "rewrite needed",
        title="planted faults",
    )
    for done in hunts:
        catch, fault = done.catch, done.fault
        assert fault is not None
        told = ("missed", "", "", "") if catch is None else ("found", catch.verdict, catch.stage, catch.config)
        rewrite = _rewrites(catch.rules) if catch is not None else ""
        row = (fault.name, fault.kind, fault.issue_number, *told)
        table.add_row(*row, _cells(done), f"{done.seconds:.0f}", rewrite)
    return table


def _rewrites(rules: Sequence[str]) -> str:
    return f"yes ({len(rules)})" if rules else "no"


if __name__ == "__main__":
    sys.exit(main())
