"""What ``eqfuzz mutate`` makes of a real defect: classified from the events that it prints."""

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
from tools.fault_detection.defect import Defect

MINUTES = 20.0
"""Wall time that one seed gets."""


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
    """``why`` says what became of a defect that is not confirmed, ``buckets`` has the fingerprint of each bucket that
    the findings of it fell into, by id."""

    status: Status
    why: str = ""
    buckets: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.status}: {self.why}" if self.why else str(self.status)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Outcome:
        return cls(Status(told["status"]), told["why"], told["buckets"], told["seconds"])


def classified(defect: Defect, events: Iterable[Mapping[str, Any]]) -> Outcome:
    """The outcome of a run of the seed of ``defect`` that has printed ``events``. Known issues count as found."""
    told: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for event in events:
        told[event["event"]].append(event)
    seconds = sum(done["cpu_seconds"] for done in told["done"])
    right = [finding for finding in told["finding"] if defect.is_found_by(finding)]
    if right:
        return Outcome(Status.CONFIRMED, "", {one["bucket"]: one["fingerprint"] for one in right}, seconds)
    status, why = _missed(told)
    return Outcome(status, why, {}, seconds)


def _missed(told: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[Status, str]:
    """What became of a defect of which there is no finding, and why."""
    if told["invalid"]:
        return Status.INVALID, told["invalid"][0]["reason"]
    if not told["summary"]:
        return Status.ERROR, "the run ended before its summary"
    if told["summary"][0]["errors"]:
        return Status.ERROR, told["summary"][0]["errors"][0]
    if told["finding"]:
        return Status.OTHER, _commonest(finding["fingerprint"] for finding in told["finding"])
    verdicts = [cell["verdict"] for cell in told["cell"] if cell["verdict"]["kind"] != VerdictKind.AGREE]
    flaky = [verdict for verdict in verdicts if verdict["kind"] == VerdictKind.FLAKY]
    if flaky:
        return Status.FLAKY, _commonest(verdict["cause"] or verdict["message"] for verdict in flaky)
    if verdicts:
        return Status.THROWN_AWAY, _commonest(f"{verdict['kind']}: {verdict['message']}" for verdict in verdicts)
    return Status.AGREED, ""


def _commonest(texts: Iterable[str]) -> str:
    return Counter(texts).most_common(1)[0][0]


def shared_buckets(outcomes: Mapping[str, Outcome]) -> dict[str, list[str]]:
    """The fingerprints that findings of several causes fell into, with these causes; ``outcomes`` are by cause."""
    causes: dict[str, list[str]] = defaultdict(list)
    fingerprints: dict[str, str] = {}
    for cause, outcome in outcomes.items():
        for bucket, fingerprint in outcome.buckets.items():
            causes[bucket].append(cause)
            fingerprints[bucket] = fingerprint
    return {fingerprints[bucket]: shared for bucket, shared in causes.items() if len(shared) > 1}


def run_seed(defect: Defect, out: Path) -> Outcome:
    """``eqfuzz mutate FILE --variants 3`` in a process of its own that writes below ``out``."""
    command = [sys.executable, "-m", "eqfuzz", "mutate", str(defect.path), "--variants", "3", "--jobs", "1"]
    command += ["--format", "json", "--no-known-issues", "--out", str(out)]
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=variables,
            timeout=MINUTES * 60,
        )
    except subprocess.TimeoutExpired:
        return Outcome(Status.ERROR, f"the run did not end within {MINUTES:g} minutes", seconds=MINUTES * 60)
    events = [json.loads(line) for line in done.stdout.splitlines() if line]
    if not events:
        return Outcome(Status.ERROR, (done.stderr.strip().splitlines() or ["it printed nothing"])[-1])
    return classified(defect, events)
