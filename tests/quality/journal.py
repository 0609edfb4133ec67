"""Hunts that are through, a JSON line each: a run that was cut off goes on with the faults that are left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.quality.fault import Fault
from tests.quality.hunt import Catch, Hunt
from tests.quality.triaged import Triaged


class Journal:
    """``file`` need not be there yet; None keeps nothing."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def hunts(self, faults: Sequence[Fault]) -> list[Hunt]:
        """Those of ``faults``, the last of each. A line that was cut off does not count."""
        if self._file is None or not self._file.exists():
            return []
        by_name = {fault.name: fault for fault in faults}
        found: dict[str, Hunt] = {}
        for line in self._file.read_text(encoding="utf-8").splitlines():
            try:
                told = json.loads(line)
            except ValueError:
                continue  # cut off
            if told["fault"] in by_name:
                found[told["fault"]] = _hunt(told, by_name[told["fault"]])
        return list(found.values())

    def add(self, hunt: Hunt) -> None:
        """Lines begin with the line break, so that one that was cut off does not spoil the next."""
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(hunt.to_json()))


def _hunt(told: dict[str, Any], fault: Fault) -> Hunt:
    triaged = told.get("triaged")
    return Hunt(
        fault,
        Catch(**told["catch"]) if told["catch"] else None,
        told["cells"],
        told["seconds"],
        told["passed_over"],
        told["error"],
        triaged=Triaged(**{**triaged, "right_stages": tuple(triaged["right_stages"])}) if triaged else None,
    )
