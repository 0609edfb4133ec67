"""Run folders as runs leave them, made without running anything."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eqfuzz.events.event import Event
from eqfuzz.events.run import CommandStarted, FindingReported
from eqfuzz.oracle.compare.error_map import ErrorMap
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.report.machine.event_log import EVENTS, EventFile
from eqfuzz.triage.findings.buckets import Buckets
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.findings.stage import Ablation, Blame
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from tests.unit.report import sample_events

MAP = ErrorMap((4, 32), ("0" * 32, "0" * 15 + "1359" + "0" * 13, "0" * 32, "0" * 32), (60, 20, 30, 0, 0, 10, 0, 0, 8))

COMMAND = CommandStarted(command="eqfuzz mutate seeds/ --seed 7", folder="/home/someone", time=1_795_000_000.0)


def write_events(folder: Path, events: Sequence[Event]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    log = EventFile(folder / EVENTS)
    for event in (COMMAND, *events):
        log.handle(event)
    log.close()


def write_findings(folder: Path, findings: Sequence[Finding], script: str = 'print("reproduced")\n') -> None:
    """Their folders and buckets."""
    for finding in findings:
        if Buckets(folder).add(finding):
            write_folder(folder / "findings", finding, ReproducerScript(script), None)


def sample_findings() -> list[Finding]:
    """Three of two new buckets, and one of a known issue."""
    ablation = Ablation("wrong-result", "inductor", {"eager": "agree", "aot_eager": "wrong-result"})
    evidence = dataclasses.replace(sample_events.EVIDENCE, error_map=MAP, index=(1, 18))
    rewritten = dataclasses.replace(
        sample_events.finding(sample_events.POW, sample_events.LAMBDA, evidence=evidence),
        id="aaaaaaaaa1",
        ablation=ablation,
        fingerprint="values · AOTAutograd · pow",
    )
    again = dataclasses.replace(rewritten, id="aaaaaaaaa2", also=2)
    crash = dataclasses.replace(
        sample_events.finding(kind=VerdictKind.COMPILER_CRASH, evidence=None, message="KeyError: 'placeholder'"),
        id="bbbbbbbbb1",
        ablation=Ablation("compiler-crash", "inductor", {"eager": "compiler-crash"}),
        fingerprint="raises · KeyError",
    )
    reported = dataclasses.replace(
        sample_events.finding(),
        id="ccccccccc1",
        blame=Blame("inductor", "lowerings", 1, "amin"),
        fingerprint="values · Inductor, lowerings: amin",
    )
    return [rewritten, again, crash, reported]


def list_of_known_issues(folder: Path) -> Path:
    file = folder / "known.toml"
    file.write_text(
        '[[issue]]\nurl = "https://github.com/pytorch/pytorch/issues/1"\nadded = 2026-01-01\n'
        'fingerprint = "values · Inductor, lowerings: amin"\n',
        encoding="utf-8",
    )
    return file


def sample_run(folder: Path) -> Path:
    """A whole run with findings; its folder."""
    findings = sample_findings()
    reported = [
        dataclasses.replace(FindingReported(index=0, finding=one, folder="x", known=False), bucket=one.id[:8])
        for one in findings
    ]
    *events, summary = sample_events.whole_run()
    write_events(folder, [*events, *reported, summary])
    write_findings(folder, findings)
    return folder


def write_matrix(folder: Path, operators: dict[str, dict[str, dict[str, int]]], **more: Any) -> None:
    totals: dict[str, int] = {}
    for columns in operators.values():
        for counts in columns.values():
            for outcome, number in counts.items():
                totals[outcome] = totals.get(outcome, 0) + number
    matrix = {"totals": totals, "operators": operators, "different": [], **more}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "matrix.json").write_text(json.dumps(matrix), encoding="utf-8")
