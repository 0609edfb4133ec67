"""Outcome of ``eqfuzz mutate`` on a real defect, classified from the events that it prints."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eqfuzz.oracle.compare.verdict import VerdictKind
from tools.fault_detection.real_defects.defect import Defect

MINUTES = 20.0
"""Time limit for one seed."""


class Status(enum.StrEnum):
    """From the best to the worst."""

    CONFIRMED = "found and confirmed"
    OTHER = "something else found"
    FLAKY = "found but flaky"
    THROWN_AWAY = "thrown away"
    AGREED = "agreed"
    INVALID = "invalid"
    ERROR = "error"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """``why`` is the reason where the defect is not confirmed; ``buckets`` has fingerprints of findings by id."""

    status: Status
    why: str = ""
    buckets: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.status}: {self.why}" if self.why else str(self.status)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Outcome:
        return cls(Status(entry["status"]), entry["why"], entry["buckets"], entry["seconds"])


def classify(defect: Defect, events: Iterable[Mapping[str, Any]]) -> Outcome:
    """The outcome of a run of the seed of ``defect`` that printed ``events``. Known issues count as findings."""
    by_name: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for event in events:
        by_name[event["event"]].append(event)
    seconds = sum(done["cpu_seconds"] for done in by_name["done"])
    findings = [finding for finding in by_name["finding"] if defect.is_shown_by(finding)]
    if findings:
        return Outcome(
            Status.CONFIRMED, "", {finding["bucket"]: finding["fingerprint"] for finding in findings}, seconds
        )
    status, why = _classify_missed(by_name)
    return Outcome(status, why, {}, seconds)


def _classify_missed(events: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[Status, str]:
    """The status of a defect without a finding, and the reason. ``events`` are by name."""
    if events["invalid"]:
        return Status.INVALID, events["invalid"][0]["reason"]
    if not events["summary"]:
        return Status.ERROR, "the run ended before its summary"
    if events["summary"][0]["errors"]:
        return Status.ERROR, events["summary"][0]["errors"][0]
    if events["finding"]:
        return Status.OTHER, _commonest(finding["fingerprint"] for finding in events["finding"])
    verdicts = [cell["verdict"] for cell in events["cell"] if cell["verdict"]["kind"] != VerdictKind.AGREE]
    flaky = [verdict for verdict in verdicts if verdict["kind"] == VerdictKind.FLAKY]
    if flaky:
        return Status.FLAKY, _commonest(verdict["cause"] or verdict["message"] for verdict in flaky)
    if verdicts:
        return Status.THROWN_AWAY, _commonest(f"{verdict['kind']}: {verdict['message']}" for verdict in verdicts)
    return Status.AGREED, ""


def _commonest(texts: Iterable[str]) -> str:
    return Counter(texts).most_common(1)[0][0]


def shared_buckets(outcomes: Mapping[str, Outcome]) -> dict[str, list[str]]:
    """The fingerprints of buckets that several causes share, with these causes; ``outcomes`` are by cause."""
    causes: dict[str, list[str]] = defaultdict(list)
    fingerprints: dict[str, str] = {}
    for cause, outcome in outcomes.items():
        for bucket, fingerprint in outcome.buckets.items():
            causes[bucket].append(cause)
            fingerprints[bucket] = fingerprint
    return {fingerprints[bucket]: shared for bucket, shared in causes.items() if len(shared) > 1}


def run_seed(defect: Defect, out: Path) -> Outcome:
    """Run ``eqfuzz mutate FILE --variants 3`` in a process that writes below ``out``."""
    command = [sys.executable, "-m", "eqfuzz", "mutate", str(defect.path), "--variants", "3", "--jobs", "1"]
    command += ["--format", "json", "--no-known-issues", "--out", str(out)]
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        process = subprocess.run(
            command,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=variables,
            timeout=MINUTES * 60,
        )
    except subprocess.TimeoutExpired:
        return Outcome(Status.ERROR, f"the run did not end within {MINUTES:g} minutes", seconds=MINUTES * 60)
    events = [json.loads(line) for line in process.stdout.splitlines() if line]
    if not events:
        return Outcome(Status.ERROR, (process.stderr.strip().splitlines() or ["it printed nothing"])[-1])
    return classify(defect, events)
