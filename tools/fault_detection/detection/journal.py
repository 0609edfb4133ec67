"""Journal of detection runs, by which a session that was interrupted resumes with the remaining faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eqfuzz.program.release import this_release
from tools.fault_detection.detection.result import DetectionResult
from tools.fault_detection.fault import Fault
from tools.fault_detection.json_lines import JsonLines


class DetectionJournal:
    """Results on the installed release of torch, in the lines of ``file``; lines of other releases are ignored."""

    def __init__(self, file: Path | None) -> None:
        self._lines = JsonLines(file)

    def results(self, faults: Sequence[Fault]) -> list[DetectionResult]:
        """The last result of each of ``faults`` whose detection run is complete."""
        by_name = {fault.name: fault for fault in faults}
        return [
            DetectionResult.from_json(entry, by_name[name])
            for name, entry in self._last_entries().items()
            if name in by_name and entry["through"]
        ]

    def seconds(self, faults: Sequence[Fault]) -> float:
        """The time that detection runs for ``faults`` took, incomplete ones included."""
        names = {fault.name for fault in faults}
        return sum(entry["seconds"] for name, entry in self._last_entries().items() if name in names)

    def add(self, result: DetectionResult, *, is_complete: bool = True) -> None:
        self._lines.add({**result.to_json(), "through": is_complete, "torch": str(this_release())})

    def _last_entries(self) -> dict[str, dict[str, Any]]:
        """The last line of each fault."""
        return {entry["fault"]: entry for entry in self._lines.read() if entry.get("torch") == str(this_release())}
