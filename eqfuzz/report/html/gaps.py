"""What a run did not try, or could not decide."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.html.stored_run import StoredRun
from eqfuzz.report.run.findings import ListedFinding
from eqfuzz.report.verdict_texts import MEANING

MOST_NAMES = 100

_SINGULAR = {"are": "is", "were": "was", "have": "has"}


@dataclasses.dataclass(frozen=True)
class Gap:
    """One thing that was left out: how often (None: not counted), what, why, and the names of what is concerned."""

    number: int | None
    what: str
    why: str = ""
    names: tuple[str, ...] = ()

    @property
    def more(self) -> int:
        """How many names are not shown."""
        return max(0, len(self.names) - MOST_NAMES)


def gaps_of(record: StoredRun, listed: Sequence[ListedFinding], dropped: int) -> list[Gap]:
    """All gaps, what was not run at all before what was not decided. ``dropped`` findings have no folder."""
    return [
        *_unrecorded(record),
        *_seeds(record),
        *_scope(record),
        *_cells(record),
        *_samples(record.matrix, record.sweep),
        *_findings(listed, dropped),
    ]


def _unrecorded(record: StoredRun) -> Iterator[Gap]:
    if not record.start and not record.matrix:
        yield Gap(
            None,
            "The run has left no events",
            "so seeds, cells, verdicts and time are not known here: only its findings are",
        )
    elif record.start and not record.summary:
        yield Gap(None, "The end of the run is not recorded", "it was killed or still runs; counts are those so far")


def _seeds(record: StoredRun) -> Iterator[Gap]:
    unfinished = record.unfinished
    if unfinished:
        yield Gap(
            len(unfinished),
            _words(len(unfinished), "seed", "were", "not completed"),
            "the run ended before",
            tuple(unfinished),
        )
    if "seeds" in record.start:
        never = record.start["seeds"] - len({*record.started, *unfinished})
        if never > 0 and not record.summary.get("left_out"):
            yield Gap(never, _words(never, "seed", "were", "not started"), "the run ended before, or still runs")
    if record.invalid:
        names = tuple(f"{seed}: {reason}" for seed, reason in record.invalid.items())
        yield Gap(len(names), _words(len(names), "seed", "are", "invalid"), "invalid seeds are not compiled", names)


def _scope(record: StoredRun) -> Iterator[Gap]:
    start = record.start
    if not start:
        return
    if start.get("strategy") == "none":
        yield Gap(None, "No seed was rewritten", "only originals were compiled (--strategy none)")
    elif record.cells:
        unused = start["rules"] - len(record.by_rule)
        if unused > 0:
            why = "they matched nothing, were not drawn, or their variants were not compiled"
            yield Gap(unused, f"of {start['rules']:,} selected rules are in no compiled variant", why)
    devices = list(start.get("devices", ()))
    if devices == ["cpu"]:
        yield Gap(None, "Nothing ran on CUDA", "only the CPU was tested (--device cuda)")
    configs = sorted({config.rpartition(" on ")[0] for config in record.by_config}) or list(start.get("configs", ()))
    if configs:
        yield Gap(None, "Other configurations were not compiled", f"those used: {', '.join(configs)} (--config)")


def _cells(record: StoredRun) -> Iterator[Gap]:
    causes: Mapping[str, int] = record.summary.get("flaky", {})
    for kind, number in record.open.items():
        names = tuple(f"{times:,} × {cause}" for cause, times in causes.items()) if kind == VerdictKind.FLAKY else ()
        yield Gap(number, _words(number, "compiled cell", "are", kind), MEANING[VerdictKind(kind)], names)
    unsupported = record.verdicts[VerdictKind.UNSUPPORTED]
    if unsupported:
        what = _words(unsupported, "compiled cell", "are", "unsupported")
        yield Gap(unsupported, what, MEANING[VerdictKind.UNSUPPORTED])
    if record.erased:
        why = "the compiler undid the rewrite, so they test nothing new"
        what = _words(record.erased, "compiled cell", "have", "the generated code of an earlier one")
        yield Gap(record.erased, what, why)
    if record.only_graphs:
        what = _words(record.only_graphs, "compiled cell", "have", "no generated code")
        yield Gap(record.only_graphs, what, "their graphs are not wrong, so they were not lowered")


def _samples(matrix: Mapping[str, Any], sweep: str) -> Iterator[Gap]:
    for device, why in re.findall(r"\b(CPU|CUDA): not run(?:: ([^.]*))?\.", sweep):
        yield Gap(None, f"Nothing ran on {device}", why)
    for reason, operators in matrix.get("left out", {}).items():
        names = tuple(f"{operator} ({number:,})" for operator, number in operators.items())
        number = sum(operators.values())
        yield Gap(number, _words(number, "sample", "were", "left out"), reason, names)
    for outcome, why in (("unsupported", "by the compiler"), ("not comparable", "nothing was decided about them")):
        number = matrix.get("totals", {}).get(outcome, 0)
        if number:
            yield Gap(number, _words(number, "sample", "are", outcome), why)


def _findings(listed: Sequence[ListedFinding], dropped: int) -> Iterator[Gap]:
    if dropped:
        why = "their bucket had enough of them: they are counted and have no folder"
        yield Gap(dropped, _words(dropped, "finding", "are", "not shown"), why)
    unplaced = tuple(one.finding.id for one in listed if not one.finding.place)
    if unplaced:
        yield Gap(
            len(unplaced), "findings have no location in the compiler", "`eqfuzz blame ID` looks for it", unplaced
        )
    alone = Counter(one.finding.cells.get("C(P)") == "not run" for one in listed)[True]
    if alone:
        what = _words(alone, "finding", "were", "not checked on the original")
        yield Gap(alone, what, "its compiled cell was not run")


def _words(number: int, noun: str, verb: str, rest: str) -> str:
    """``cells are flaky``, ``cell is flaky``: what follows ``number``."""
    return f"{noun} {_SINGULAR[verb]} {rest}" if number == 1 else f"{noun}s {verb} {rest}"
