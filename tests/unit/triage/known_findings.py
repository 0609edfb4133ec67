"""What the seeds of known issues showed, as far as a list of known issues looks at it.

Recorded from a run of the seeds as they are, under the torch that the shipped list is about:

    eqfuzz mutate SEEDS --strategy none --no-check audit,draws --no-known-issues --format json > RUN
    python -m tests.unit.triage.known_findings RUN
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from tests.unit.triage.findings import finding_of

FILE = Path(__file__).with_suffix(".jsonl")


def recorded() -> list[Finding]:
    """The findings, whose programs are not theirs: nothing looks at these."""
    return [_finding(json.loads(line)) for line in FILE.read_text(encoding="utf-8").splitlines()]


def _finding(record: dict) -> Finding:
    plain = finding_of(fingerprint=record["fingerprint"], suspects=tuple(record["suspects"]))
    return dataclasses.replace(
        plain,
        original=dataclasses.replace(plain.original, name=record["seed"]),
        verdict=Verdict.from_json(record["verdict"]),
        environment=FindingEnvironment(torch=record["torch"]),
    )


def write(run: Path) -> None:
    """Write down the findings of a run of originals, which printed JSON lines to ``run``."""
    events = [json.loads(line) for line in run.read_text(encoding="utf-8").splitlines()]
    torch = next(event["versions"]["torch"] for event in events if event["event"] == "start")
    lines = [
        json.dumps({"torch": torch} | {name: event[name] for name in ("seed", "verdict", "fingerprint", "suspects")})
        for event in events
        if event["event"] == "finding"
    ]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
