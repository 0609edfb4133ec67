"""The result of a detection run for one fault."""

from __future__ import annotations

import dataclasses
from typing import Any

from tools.fault_detection.detection.triage import TriageResult
from tools.fault_detection.fault import Fault


@dataclasses.dataclass(frozen=True)
class Detection:
    """The finding that detected a fault.

    ``rules`` are those of its derivation, empty where the seed itself shows it; ``stage`` is the compiler stage that
    the finding names, empty where that is unknown.
    """

    verdict: str
    seed: str
    config: str
    rules: list[str]
    phase: str
    stage: str


@dataclasses.dataclass(frozen=True)
class DetectionResult:
    """The result of a detection run for one fault. Without a ``fault`` the detection is a false alarm.

    Attributes:
        fault: The planted fault; None for a clean run.
        detection: The finding that ended the run; None if there is none.
        cells: Compiled cells that were judged.
        seconds: Wall seconds of all attempts.
        passed_over: Findings that torch shows without the fault too.
        error: An error of eqfuzz itself, one line; empty for none.
        spared: Cells that precede the detection in its phase and were not judged, since the code that the fault
            replaces does not run in them.
        triage: Result of reducing and replaying the detection; None where that was not done.
    """

    fault: Fault | None
    detection: Detection | None
    cells: int
    seconds: float
    passed_over: int
    error: str = ""
    spared: int = 0
    triage: TriageResult | None = None

    @property
    def name(self) -> str:
        return self.fault.name if self.fault is not None else "none"

    @property
    def is_detected(self) -> bool:
        return self.detection is not None

    def to_json(self) -> dict[str, Any]:
        fault = self.fault
        return {
            "fault": self.name,
            "kind": fault.kind if fault is not None else "",
            "reached_by": fault.reached_by if fault is not None else "",
            "issue": fault.issue if fault is not None else "",
            "found": self.is_detected,
            "catch": dataclasses.asdict(self.detection) if self.detection else None,
            "cells": self.cells,
            "spared": self.spared,
            "seconds": round(self.seconds, 1),
            "passed_over": self.passed_over,
            "error": self.error,
            **({"triaged": dataclasses.asdict(self.triage)} if self.triage is not None else {}),
        }

    @classmethod
    def from_json(cls, entry: dict[str, Any], fault: Fault) -> DetectionResult:
        """The result for ``fault`` that ``to_json`` gave."""
        triage = entry.get("triaged")
        return cls(
            fault=fault,
            detection=Detection(**entry["catch"]) if entry["catch"] else None,
            cells=entry["cells"],
            seconds=entry["seconds"],
            passed_over=entry["passed_over"],
            error=entry["error"],
            spared=entry.get("spared", 0),
            triage=TriageResult(**{**triage, "right_stages": tuple(triage["right_stages"])}) if triage else None,
        )
