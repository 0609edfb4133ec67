"""Judged cells."""

from __future__ import annotations

import dataclasses

from eqfuzz.oracle.compare.verdict import Verdict


@dataclasses.dataclass(frozen=True)
class Cell:
    """One judged compiled cell; the fields up to ``config`` name it."""

    variant: int
    """Number of the variant; 0 is the original."""
    device: str
    """``cpu`` or ``cuda``."""
    config: str
    """Name of the compile configuration."""
    verdict: Verdict
    """The gravest difference, or that there is none."""
    seconds: float
    """Wall seconds."""
    compiled: dict[str, int] | None = None
    """Dynamo's counts by name; None if the child died before it reported them."""
    erased: bool = False
    """Whether the compiler generated the same code as for an earlier cell of the seed."""
    only_graphs: bool = False
    """Whether its graphs gave the verdict, and were not compiled to code."""
    apart: tuple[tuple[int, Verdict], ...] = ()
    """Verdicts other than agreement on single results by number, where these are judged apart."""

    @property
    def symptom(self) -> tuple[str, ...]:
        """Equal for cells of one seed with the same difference."""
        return self.device, self.config, *self.verdict.symptom
