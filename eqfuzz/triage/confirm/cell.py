"""Judged cells."""

from __future__ import annotations

import dataclasses

from eqfuzz.oracle.compare.verdict import Verdict


@dataclasses.dataclass(frozen=True)
class Cell:
    """One judged compiled cell; the fields up to ``config`` name it."""

    variant: int
    device: str
    config: str
    verdict: Verdict
    seconds: float
    compiled: dict[str, int] | None = None
    erased: bool = False

    @property
    def symptom(self) -> tuple[str, ...]:
        """Equal for cells of one seed with the same difference."""
        return self.device, self.config, *self.verdict.symptom
