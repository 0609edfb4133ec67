"""What the files of a run folder say about the run: events, and the matrix of a sweep."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from eqfuzz.mutate.outcomes import SeedOutcome
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.machine.event_log import EVENTS

MATRIX = "matrix.json"
PAGE = "matrix.md"

OPEN = (VerdictKind.FLAKY, VerdictKind.INCONCLUSIVE, VerdictKind.SUSPECT_RULE, VerdictKind.SLOW)
"""Verdicts that leave a question open."""


@dataclasses.dataclass
class GroupTally:
    """Counts of one rule, configuration or source: cells by verdict, and ids of its findings."""

    verdicts: Counter[str] = dataclasses.field(default_factory=Counter)
    findings: set[str] = dataclasses.field(default_factory=set)
    buckets: set[str] = dataclasses.field(default_factory=set)

    @property
    def cells(self) -> int:
        return self.verdicts.total()

    @property
    def open(self) -> int:
        """Cells that leave a question open."""
        return sum(self.verdicts[kind] for kind in OPEN)


@dataclasses.dataclass
class StoredRun:
    """The last call of a run, or all calls of a campaign."""

    folder: Path
    """Of the run."""
    calls: int = 0
    """Number of calls that wrote to the folder."""
    command: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What was called; empty where that is not recorded."""
    start: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The first event; empty where there are none."""
    summary: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The last event; empty where the run was killed or is running."""
    verdicts: Counter[str] = dataclasses.field(default_factory=Counter)
    """Compiled cells by verdict."""
    by_rule: dict[str, GroupTally] = dataclasses.field(default_factory=dict)
    """Cells of the variants that a rule made."""
    by_config: dict[str, GroupTally] = dataclasses.field(default_factory=dict)
    """By configuration and device."""
    by_source: dict[str, GroupTally] = dataclasses.field(default_factory=dict)
    """By source of the seeds: that of a campaign, else the folder."""
    cells_of_original: int = 0
    """Compiled cells of seeds as they are."""
    erased: int = 0
    """Compiled cells with the generated code of an earlier one."""
    only_graphs: int = 0
    """Compiled cells that end with their graphs, which are not wrong."""
    invalid: dict[str, str] = dataclasses.field(default_factory=dict)
    """The reason by invalid seed."""
    started: dict[str, str] = dataclasses.field(default_factory=dict)
    """Seeds that were started, with the state in which they ended; empty while they are not done."""
    steps: list[Mapping[str, Any]] = dataclasses.field(default_factory=list)
    """Parts of the self-check."""
    problems: list[str] = dataclasses.field(default_factory=list)
    """Internal errors, lost workers and damaged lines, one line each."""
    curve: list[tuple[int, int, int]] = dataclasses.field(default_factory=list)
    """Compiled cells, findings and buckets so far, after each finding."""
    epochs: list[Mapping[str, Any]] = dataclasses.field(default_factory=list)
    """Points of a campaign's curve."""
    yields: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    """A campaign's reward per cost by arm and dimension."""
    matrix: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Of a sweep over a catalogue; else empty."""
    sweep: str = ""
    """How much of the catalogue was swept, and with what, in words; empty where that is not recorded."""

    @property
    def is_campaign(self) -> bool:
        return "campaign" in self.start

    @property
    def cells(self) -> int:
        return self.verdicts.total()

    @property
    def open(self) -> dict[str, int]:
        """Compiled cells that leave a question open, by verdict."""
        return {str(kind): self.verdicts[kind] for kind in OPEN if self.verdicts[kind]}

    @property
    def unfinished(self) -> list[str]:
        """Seeds that were begun and not completed, and those that were left out, by name."""
        left = [seed for seed, state in self.started.items() if not state]
        return list(dict.fromkeys([*left, *self.summary.get("left_out", ())]))

    @property
    def ending(self) -> str:
        """How the run ended, in words."""
        if not self.start:
            return ""
        if not self.summary:
            return "no end recorded: it was killed, or is still running"
        if self.summary.get("interrupted"):
            return "interrupted"
        if self.summary.get("errors"):
            return "ended with internal errors"
        why = self.summary.get("why", "")
        if self.summary.get("out_of_time") or why == "time":
            return "ended by its time limit"
        if why and why != "seeds":
            return f"ended by its limit of {why}" if why in ("cells", "cpu", "findings", "dollars") else f"ended: {why}"
        return "complete"

    @property
    def exit_code(self) -> int | None:
        """That of the run, from its summary; None where there is none."""
        if not self.summary:
            return None
        if self.summary.get("interrupted"):
            return 130
        if self.summary.get("errors"):
            return 3
        return 1 if self.summary.get("findings") else 0


class _Reader:
    """Builds a record from events, one at a time."""

    def __init__(self, folder: Path) -> None:
        self.record = StoredRun(folder)
        self._sources: dict[int, str] = {}
        self._findings: set[str] = set()
        self._buckets: set[str] = set()
        self._command: Mapping[str, Any] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        """Raises KeyError, TypeError or AttributeError for a line that is no event."""
        record = self.record
        match event.get("event"):
            case "command":
                self._command = event
            case "start":
                self._begin(event)
            case "item":
                self._sources[event["index"]] = event["arms"].get("source", "")
            case "seed":
                record.started[event["seed"]] = ""
            case "invalid":
                record.invalid[event["seed"]] = event["reason"]
            case "done":
                record.started[event["seed"]] = "done"
            case "stored":
                record.started[event["seed"]] = event["state"]
                if event["state"] in ("error", "lost"):
                    record.problems.append(f"{event['seed']}: {event['state']}: {event['reason']}")
            case "cell":
                self._count_cell(event)
            case "finding":
                self._count_finding(event)
            case "epoch":
                record.epochs.append(event["point"])
                record.yields = event["yields"]
            case "step":
                record.steps.append(event)
            case "gap":
                record.problems.append(f"the disk was full: {event['lines']} events are missing")
            case "worker-lost":
                record.problems.append(f"worker {event['worker']} was lost: {event['detail']}")
            case "summary":
                record.summary = event
                record.problems += event.get("errors", ())
                record.yields = event.get("yields", record.yields)
            case _:
                pass

    def _begin(self, event: Mapping[str, Any]) -> None:
        """A campaign is resumed; any other run begins anew, and what the folder had is of earlier calls."""
        if not (self.record.is_campaign and event.get("resumed")):
            self.record = StoredRun(self.record.folder, calls=self.record.calls)
            self._findings, self._buckets, self._sources = set(), set(), {}
        self.record.calls += 1
        self.record.start = event
        self.record.summary = {}
        self.record.command, self._command = self._command, {}

    def _groups(self, event: Mapping[str, Any], rules: list[str]) -> Iterator[GroupTally]:
        record = self.record
        configured = f"{event['config']} on {event['device']}"
        yield record.by_config.setdefault(configured, GroupTally())
        source = self._sources.get(event["index"]) or str(PurePath(event["seed"]).parent)
        yield record.by_source.setdefault(source, GroupTally())
        for rule in dict.fromkeys(rules):
            yield record.by_rule.setdefault(rule, GroupTally())

    def _count_cell(self, event: Mapping[str, Any]) -> None:
        if not event["config"]:
            return  # a variant in eager
        kind = event["verdict"]["kind"]
        self.record.verdicts[kind] += 1
        self.record.cells_of_original += not event["variant"]
        self.record.erased += bool(event.get("erased"))
        self.record.only_graphs += bool(event.get("only_graphs"))
        for group in self._groups(event, event["rules"]):
            group.verdicts[kind] += 1

    def _count_finding(self, event: Mapping[str, Any]) -> None:
        self._findings.add(event["id"])
        self._buckets.add(event["bucket"] or event["id"])
        self.record.curve.append((self.record.cells, len(self._findings), len(self._buckets)))
        for group in self._groups(event, [step["rule"] for step in event["derivation"]]):
            group.findings.add(event["id"])
            group.buckets.add(event["bucket"] or event["id"])


def read_record(folder: Path) -> StoredRun:
    """The record of the run in ``folder``. Lines that are damaged are counted as problems. Raises OSError."""
    reader = _Reader(folder)
    damaged = 0
    events = folder / EVENTS
    if events.is_file():
        with events.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    reader.take(json.loads(line))
                except (ValueError, KeyError, TypeError, AttributeError):
                    damaged += 1
    record = reader.record
    if damaged:
        record.problems.append(f"{EVENTS}: {damaged} damaged lines were left out")
    record.matrix = _matrix(folder, record.problems)
    record.sweep = _heading(folder) if record.matrix else ""
    return record


def _matrix(folder: Path, problems: list[str]) -> Mapping[str, Any]:
    file = folder / MATRIX
    if not file.is_file():
        return {}
    try:
        matrix = json.loads(file.read_text(encoding="utf-8"))
        return {"totals": dict(matrix["totals"]), "operators": dict(matrix["operators"]), **matrix}
    except (ValueError, KeyError, TypeError):
        problems.append(f"{MATRIX}: damaged, left out")
        return {}


def _heading(folder: Path) -> str:
    """The first paragraph of the page that a sweep writes beside its matrix."""
    try:
        _, heading, *_ = (folder / PAGE).read_text(encoding="utf-8").split("\n\n")
    except (OSError, ValueError):
        return ""
    return " ".join(heading.split())


def valid_seeds(record: StoredRun) -> int:
    """Number of seeds that were completed and are valid."""
    done = [seed for seed, state in record.started.items() if state not in ("", SeedOutcome.INVALID)]
    return len([seed for seed in done if seed not in record.invalid])
