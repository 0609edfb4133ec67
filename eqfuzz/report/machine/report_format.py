"""Formats of the files that ``--report`` writes, and one such file. Imported before a verb runs: imports little."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from pathlib import Path


class ReportFormat(StrEnum):
    """What other programs read."""

    JUNIT = "junit"
    SARIF = "sarif"
    MARKDOWN = "markdown"
    GITHUB = "github"


@dataclasses.dataclass(frozen=True)
class ReportTarget:
    """A report in ``format`` at ``file``; None, for ``github`` only, stands for the file that GitHub Actions names."""

    format: ReportFormat
    file: Path | None = None

    def __str__(self) -> str:
        return str(self.format) if self.file is None else f"{self.format}={self.file}"
