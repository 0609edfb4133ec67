"""The findings of one bucket as a card, whose example is the smallest program."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.report.run.findings import ListedFinding
from eqfuzz.triage.findings.buckets import Bucket
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.severity import Severity
from eqfuzz.triage.reproducer.script_files import ReproducerScript

UNPLACED = "not located"


@dataclasses.dataclass(frozen=True)
class BucketCard:
    """``listed`` are the findings with a folder, the example first; ``size`` counts those without one too.

    ``script`` is the text of the example's reproducer; empty where it cannot be read.
    """

    bucket: str
    listed: tuple[ListedFinding, ...]
    size: int
    script: str
    folder: str

    @property
    def name(self) -> str:
        """Of the bucket, or of its only finding."""
        return self.bucket or self.example.id

    @property
    def example(self) -> Finding:
        return self.listed[0].finding

    @property
    def severity(self) -> Severity:
        """That of the gravest finding."""
        return min((one.finding.severity for one in self.listed), key=lambda one: one.rank)

    @property
    def kinds(self) -> list[str]:
        """The verdicts of its findings."""
        return list(dict.fromkeys(str(one.finding.verdict.kind) for one in self.listed))

    @property
    def stage(self) -> str:
        """The faulty stage of the compiler."""
        return self.example.stage or self.example.place.partition(",")[0] or UNPLACED

    @property
    def place(self) -> str:
        """The faulty component, and the rest of the fingerprint where there is one."""
        return self.example.fingerprint or self.example.place or UNPLACED

    @property
    def issue(self) -> str:
        """Address of the known issue, or other words about it; empty where it is new."""
        return self.listed[0].issue

    @property
    def dropped(self) -> int:
        """How many findings have no folder."""
        return self.size - len(self.listed)

    @property
    def searched(self) -> str:
        """What the reader's search looks at, in small letters."""
        findings = [one.finding for one in self.listed]
        words = [self.name, self.place, self.issue, *self.kinds, *(f.id for f in findings)]
        words += [f"{f.original.name} {f.config} {f.device} {f.verdict.in_words[:300]}" for f in findings]
        words += [step.rule for finding in findings for step in finding.derivation]
        return " ".join(words).lower()[:4000]

    @property
    def commands(self) -> list[tuple[str, str]]:
        """What reproduces the example, as labels and shell commands."""
        folder, id = self.folder, self.example.id
        run = shlex.quote(folder)
        return [
            ("run the stand-alone script", f"python {shlex.quote(f'{folder}/findings/{id}/repro.py')}"),
            ("replay with eqfuzz", f"eqfuzz replay {id} --out {run}"),
            ("make it smaller", f"eqfuzz reduce {id} --out {run}"),
            ("write a PyTorch issue", f"eqfuzz issue {id} --out {run}"),
        ]


def cards_of(folder: Path, listed: Sequence[ListedFinding], buckets: Mapping[str, Bucket]) -> list[BucketCard]:
    """A card for each bucket and each finding without one: the gravest first, then the largest."""
    groups: dict[str, list[ListedFinding]] = {}
    for one in listed:
        groups.setdefault(one.bucket or one.finding.id, []).append(one)
    cards = [_card(folder, group, buckets) for group in groups.values()]
    return sorted(cards, key=lambda card: (card.severity.rank, -card.size, card.name))


def shown_path(folder: Path) -> str:
    """``folder`` relative to the current one where it lies below it."""
    relative = os.path.relpath(folder)
    return str(folder.absolute()) if relative.startswith("..") else relative


def _card(folder: Path, group: Sequence[ListedFinding], buckets: Mapping[str, Bucket]) -> BucketCard:
    smallest = sorted(group, key=lambda one: (one.finding.severity.rank, _size(one.finding), one.finding.id))
    bucket = smallest[0].bucket
    size = buckets[bucket].count if bucket in buckets else len(group)
    try:
        script = ReproducerScript.read(folder / "findings" / smallest[0].finding.id).text
    except (OSError, ValueError):
        script = ""
    return BucketCard(bucket, tuple(smallest), max(size, len(group)), script, shown_path(folder))


def _size(finding: Finding) -> tuple[int, int]:
    return len(finding.derivation), len(finding.transformed.source)
