"""Hunts that are through, a JSON line each: a run that was cut off goes on with the faults that are left."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eqfuzz.program.release import this_release
from tools.fault_detection.fault import Fault
from tools.fault_detection.hunt import Catch, Hunt
from tools.fault_detection.triaged import Triaged


class Lines:
    """A JSON object each, told by any thread. ``file`` need not be there yet; None keeps nothing."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._lock = threading.Lock()

    def read(self) -> list[dict[str, Any]]:
        """All of them. A line that was cut off does not count."""
        found: list[dict[str, Any]] = []
        if self._file is not None and self._file.exists():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError):
                    found.append(json.loads(line))
        return found

    def add(self, told: dict[str, Any]) -> None:
        """They begin with the line break, so that one that was cut off does not spoil the next."""
        if self._file is not None:
            with self._lock, self._file.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(told))


class Journal:
    """What became of the hunts on this release of torch, in the lines of ``file``; those on others are left alone."""

    def __init__(self, file: Path | None) -> None:
        self._lines = Lines(file)

    def hunts(self, faults: Sequence[Fault]) -> list[Hunt]:
        """Those of ``faults`` that are through, the last of each."""
        by_name = {fault.name: fault for fault in faults}
        return [
            _hunt(told, by_name[name]) for name, told in self._told().items() if name in by_name and told["through"]
        ]

    def seconds(self, faults: Sequence[Fault]) -> float:
        """What hunts for ``faults`` took, those that are not through too."""
        names = {fault.name for fault in faults}
        return sum(told["seconds"] for name, told in self._told().items() if name in names)

    def add(self, hunt: Hunt, *, is_through: bool = True) -> None:
        self._lines.add({**hunt.to_json(), "through": is_through, "torch": str(this_release())})

    def _told(self) -> dict[str, dict[str, Any]]:
        """The last line of each fault."""
        return {line["fault"]: line for line in self._lines.read() if line.get("torch") == str(this_release())}


def _hunt(told: dict[str, Any], fault: Fault) -> Hunt:
    triaged = told.get("triaged")
    return Hunt(
        fault,
        Catch(**told["catch"]) if told["catch"] else None,
        told["cells"],
        told["seconds"],
        told["passed_over"],
        told["error"],
        told.get("spared", 0),
        triaged=Triaged(**{**triaged, "right_stages": tuple(triaged["right_stages"])}) if triaged else None,
    )
