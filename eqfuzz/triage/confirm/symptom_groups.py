"""Groups of cells with one symptom: each is one finding at most."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable

from eqfuzz.run.configs.named import OF_ORIGINALS, one_thread
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.findings.fingerprint import changed_by
from eqfuzz.triage.findings.severity import severity


@dataclasses.dataclass(frozen=True)
class SymptomGroup:
    """Cells of one seed with this symptom, first the one that a reader knows best."""

    symptom: tuple[str, ...]
    cells: list[Cell]

    @property
    def has_original(self) -> bool:
        """Whether the seed itself shows it."""
        return any(cell.variant == 0 for cell in self.cells)


def symptom_groups(cells: Collection[Cell], baseline: str) -> list[SymptomGroup]:
    """The defective cells of one seed by symptom, the gravest first. ``baseline`` is a name of a configuration."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.variant, cell.device, cell.config)):
        if cell.verdict.is_finding:
            groups.setdefault(_representative(cell, cells, baseline).symptom, []).append(cell)
    ranked = sorted(groups.items(), key=lambda group: severity(group[1][0].verdict).rank)
    return [SymptomGroup(symptom, sorted(group, key=lambda cell: _rank(cell, baseline))) for symptom, group in ranked]


def _representative(cell: Cell, cells: Iterable[Cell], baseline: str) -> Cell:
    """The cell that stands for ``cell``: the first by ``_rank`` of the same program with the same symptom.

    Those are the baseline and one thread; for a configuration of originals also the others, if the same change of the
    calls has led to it.
    """
    stock, changes = (baseline, one_thread(cell.config)), changed_by(cell.verdict)

    def is_alike(other: Cell) -> bool:
        is_same = (other.variant, other.device) == (cell.variant, cell.device)
        is_same = is_same and other.verdict.symptom == cell.verdict.symptom
        is_own = cell.config in OF_ORIGINALS and changed_by(other.verdict) == changes
        return is_same and (other.config in stock or is_own)

    return min(filter(is_alike, cells), key=lambda other: _rank(other, baseline), default=cell)


def _rank(cell: Cell, baseline: str) -> tuple[bool, bool, bool, str, int]:
    config = cell.config
    return config != baseline, config != one_thread(config), config in OF_ORIGINALS, config, cell.variant
