"""Outcome of one item, as the store keeps it."""

from __future__ import annotations

from typing import Any, Literal

import pydantic
from pydantic import Field

Symptom = tuple[str, ...]
"""What a cell exhibits, see ``Cell.symptom``."""


class Outcome(pydantic.BaseModel):
    """Result of running one item. Variants are numbered from 1; 0 is the seed itself."""

    model_config = pydantic.ConfigDict(frozen=True, populate_by_name=True)

    state: Literal["done", "invalid", "error", "lost"] = Field(
        description="invalid: the seed cannot be run; error: eqfuzz failed; lost: each attempt cost its worker"
    )
    reason: str = Field(default="", description="one line; empty for a seed that was run")
    details: str = Field(default="", description="of an error: what the child printed")
    sites: int = Field(default=0, description="sites of all rules")
    variants: int = Field(default=0, description="variants that were run")
    cells: int = Field(default=0, description="compiled cells")
    erased: int = Field(default=0, description="compiled cells with the generated code of an earlier one")
    only_graphs: int = Field(default=0, description="compiled cells that ended with their graphs, which are not wrong")
    verdicts: dict[str, int] = Field(default={}, description="number of compiled cells by verdict")
    seconds: float = Field(default=0.0, description="wall seconds")
    cpu_seconds: float = Field(default=0.0, description="CPU seconds of all processes of the item")
    triage_seconds: float = Field(default=0.0, description="CPU seconds of these for confirming and locating findings")
    peak_mb: int = Field(default=0, description="MiB held by the largest process")
    features: dict[int, tuple[int, ...]] = Field(default={}, description="reached features by variant")
    rules: dict[int, tuple[str, ...]] = Field(default={}, description="applied rules by variant")
    digests: dict[int, str] = Field(
        default={},
        validation_alias="texts",
        serialization_alias="texts",
        description="digests of the stored texts by variant, of those that reached features",
    )
    lines: dict[str, str] = Field(default={}, description="executed lines by file of torch: a bitmap in hexadecimal")
    buckets: tuple[str, ...] = Field(default=(), description="buckets of the findings that are no known issues")
    findings: tuple[str, ...] = Field(default=(), description="ids of all findings")
    symptoms: tuple[Symptom, ...] = Field(
        default=(),
        validation_alias="shown",
        serialization_alias="shown",
        description="confirmed symptoms of the original, from this item or an earlier one",
    )

    def to_json(self) -> dict[str, Any]:
        """The JSON object in the store; ``Outcome.model_validate`` reads it."""
        return self.model_dump(mode="json", by_alias=True, exclude=None if self.details else {"details"})
