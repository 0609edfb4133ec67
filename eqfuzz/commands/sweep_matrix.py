"""The matrix of a sweep: for each operator and dtype the number of samples by outcome, as JSON and as a page."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any


class SampleOutcome(StrEnum):
    """What came of a sample, the gravest first."""

    NEW = "new"
    KNOWN = "known"
    UNSUPPORTED = "unsupported"
    NOT_COMPARABLE = "not comparable"
    AGREE = "agree"


@dataclasses.dataclass(frozen=True)
class JudgedSample:
    """The outcome of one sample, with the difference and its finding if there is one."""

    operator: str
    """Name of the operator."""
    dtype: str
    """Dtype of the operands."""
    sample: int
    """Number among the samples of the operator and dtype, from 1."""
    outcome: SampleOutcome
    """What came of it."""
    call: str = ""
    """The expression, where it does not agree."""
    message: str = ""
    """The verdict in one line, where it does not agree."""
    finding: str = ""
    """Id of the finding that was confirmed for it, or for another sample of the operator with the same difference."""
    issue: str = ""
    """Address of the known issue."""
    device: str = "cpu"
    """Where it ran."""

    @property
    def column(self) -> str:
        """Its column of the matrix: the dtype, and the device where that is not the CPU."""
        return self.dtype if self.device == "cpu" else f"{self.dtype}, {self.device.upper()}"

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JudgedSample:
        return cls(**{**data, "outcome": SampleOutcome(data["outcome"])})


class SweepMatrix:
    """Counts of samples by operator, column and outcome."""

    def __init__(self, samples: Iterable[JudgedSample]) -> None:
        self.counts: dict[tuple[str, str], Counter[SampleOutcome]] = {}
        self.different: list[JudgedSample] = []
        """The samples that do not agree."""
        for sample in samples:
            self.counts.setdefault((sample.operator, sample.column), Counter())[sample.outcome] += 1
            if sample.outcome is not SampleOutcome.AGREE:
                self.different.append(sample)

    @property
    def columns(self) -> list[str]:
        """In the order of the samples."""
        return list(dict.fromkeys(column for _, column in self.counts))

    @property
    def operators(self) -> list[str]:
        """In the order of their names."""
        return sorted({operator for operator, _ in self.counts})

    def by_column(self) -> dict[str, dict[str, int]]:
        """Number of samples by column and outcome."""
        totals: dict[str, Counter[SampleOutcome]] = {}
        for (_, column), counts in self.counts.items():
            totals.setdefault(column, Counter()).update(counts)
        return {column: _in_order(counts) for column, counts in totals.items()}

    def totals(self) -> dict[str, int]:
        """Number of samples by outcome."""
        return _in_order(sum(self.counts.values(), Counter()))

    def to_json(self) -> dict[str, Any]:
        """``operators`` by name and column, and the samples that do not agree."""
        operators: dict[str, dict[str, dict[str, int]]] = {}
        for (operator, column), counts in sorted(self.counts.items()):
            operators.setdefault(operator, {})[column] = _in_order(counts)
        different = [sample.to_json() for sample in self.different]
        return {"totals": self.totals(), "operators": operators, "different": different}

    def page(self, catalogue: str, heading: str) -> str:
        """A page in Markdown; ``heading`` says how much of ``catalogue`` was swept, and with what."""
        columns = self.columns
        outcomes = list(SampleOutcome)
        totals = [[column, *(f"{by.get(one, 0):,}" for one in outcomes)] for column, by in self.by_column().items()]
        rows = [[f"`{name}`", *(self._mark(name, column) for column in columns)] for name in self.operators]
        parts = [
            f"# Eager and compiled: {catalogue}\n\n{heading}",
            "Samples by outcome:\n\n" + _table(["dtype", *outcomes], totals),
            "Samples that do not agree:\n\n"
            + _table(["operator", "dtype", "outcome", "call", "difference"], list(map(_row, self.different))),
            "All entries. A cell has the number of samples that agree, and after it those of other outcomes; it is "
            "empty where eager does not support the dtype or no sample can be written.\n\n"
            + _table(["operator", *columns], rows),
        ]
        return "\n\n".join(parts) + "\n"

    def _mark(self, operator: str, column: str) -> str:
        """``12``, ``11, 1 new``."""
        counts = self.counts.get((operator, column), Counter())
        others = [f"{counts[one]} {one}" for one in SampleOutcome if counts[one] and one is not SampleOutcome.AGREE]
        agree = counts[SampleOutcome.AGREE]
        return ", ".join([*([str(agree)] if agree else []), *others])


def _in_order(counts: Mapping[SampleOutcome, int]) -> dict[str, int]:
    return {str(outcome): counts[outcome] for outcome in SampleOutcome if counts.get(outcome)}


def _row(sample: JudgedSample) -> list[str]:
    call = f"`{sample.call}`" if sample.call else ""
    outcome = f"[{sample.outcome}]({sample.issue})" if sample.issue.startswith("http") else str(sample.outcome)
    return [f"`{sample.operator}`", sample.column, outcome, call, sample.message]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [list(heads), ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
