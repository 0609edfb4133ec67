"""The recall table as JSON. Must not import torch: processes that only pass it on import this."""

from __future__ import annotations

from typing_extensions import TypedDict


class RecallCounts(TypedDict):
    """One row: how many faults were planted, how many each oracle detected, and why eqfuzz missed the others."""

    fault: str
    dtype: str
    group: str
    planted: int
    seen: dict[str, int]
    missed: dict[str, int]


class RecallTable(TypedDict):
    """A whole table, see `eqfuzz.oracle.calibration.recall.Recall`."""

    rows: list[RecallCounts]
    subjects: dict[str, int]
    wolves: dict[str, dict[str, int]]
    left_out: list[str]
    claims: list[str]
