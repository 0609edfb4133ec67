"""The recall table as JSON. Must not import torch: processes that only pass it on import this."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict


class RecallCounts(TypedDict):
    """One row: how many faults were planted, how many each oracle detected, and why eqfuzz missed the others."""

    fault: str
    dtype: str
    group: str
    planted: int
    detected: dict[str, int]
    missed: dict[str, int]


class RecallTable(TypedDict):
    """A whole table, see `eqfuzz.oracle.calibration.recall.Recall`."""

    rows: list[RecallCounts]
    programs: dict[str, int]
    false_alarms: dict[str, dict[str, int]]
    left_out: list[str]
    called_wrong: list[str]


_PRESENT_KEYS = {
    "seen": "detected",
    "subjects": "programs",
    "wolves": "false_alarms",
    "claims": "called_wrong",
    "claimed": "called_wrong",
    "doubts": "inconclusive",
}


def with_present_keys(data: Any) -> Any:
    """``data`` from a journal or an event, with present names for the keys that earlier versions wrote."""
    if isinstance(data, dict):
        return {_PRESENT_KEYS.get(key, key): with_present_keys(value) for key, value in data.items()}
    return [with_present_keys(value) for value in data] if isinstance(data, list) else data
