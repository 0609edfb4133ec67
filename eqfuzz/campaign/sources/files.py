"""Where a campaign's seed programs come from: folders, templates, its own corpus."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from eqfuzz.campaign.store.records import CorpusEntry
from eqfuzz.generate.dag.generate import ProgramGenerator
from eqfuzz.program.program import InvalidSeed

CORPUS = "corpus"


class CampaignEnding(Exception):
    """The campaign ends before the seed was there."""


@dataclasses.dataclass(frozen=True)
class SeedText:
    """The text of a seed program, and what reports call it."""

    name: str
    text: str


@dataclasses.dataclass(frozen=True)
class DrawHistory:
    """What was drawn before: how often each seed was, by name, and those that are no seeds."""

    times: Mapping[str, int]
    invalid: frozenset[str]


class SeedSource(Protocol):
    """Gives seed programs. ``name`` is its arm's: ``folder:seeds``, ``template:fusion``, ``corpus``, ``llm:loops``."""

    @property
    def name(self) -> str: ...

    def draw(self, rng: random.Random, number: int, drawn: DrawHistory) -> SeedText | None:
        """The campaign's ``number``-th seed; None where there is nothing to give (any more)."""
        ...


class SeedFiles:
    """Seed files: those that were drawn least come first."""

    def __init__(self, name: str, paths: Sequence[Path]) -> None:
        self.name = name
        self._paths = {str(path): path for path in paths}

    def draw(self, rng: random.Random, number: int, drawn: DrawHistory) -> SeedText | None:
        valid = [name for name in self._paths if name not in drawn.invalid]
        while valid:
            least = min(drawn.times.get(name, 0) for name in valid)
            name = rng.choice([name for name in valid if drawn.times.get(name, 0) == least])
            try:
                return SeedText(name, self._paths[name].read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError):
                valid.remove(name)  # it is told once, when the campaign begins: see ``unreadable``
        return None

    def unreadable(self) -> list[str]:
        """A line for each file that cannot be read."""
        found: list[str] = []
        for name, path in self._paths.items():
            try:
                path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                found.append(str(InvalidSeed(name, f"cannot be read: {getattr(error, 'strerror', None) or error}")))
        return found


class TemplateSeeds:
    """Programs of one template, each new."""

    def __init__(self, template: str, generator: ProgramGenerator, seed: int) -> None:
        self.name = f"template:{template}"
        self._generator = generator
        self._seed = seed

    def draw(self, rng: random.Random, number: int, drawn: DrawHistory) -> SeedText | None:
        program = self._generator.generate(self._seed + number)
        return SeedText(f"{program.name}.py", program.source)


class CorpusSeeds:
    """What the campaign has found worth keeping: what reached more at less cost, and was drawn less, the sooner."""

    name = CORPUS

    def __init__(self, entries: Sequence[CorpusEntry], text_of: Callable[[str], str]) -> None:
        self._entries = entries
        self._text_of = text_of

    def draw(self, rng: random.Random, number: int, drawn: DrawHistory) -> SeedText | None:
        entries = [entry for entry in self._entries if entry.name not in drawn.invalid]
        if not entries:
            return None
        weights = [
            len(entry.features) / max(entry.cost, 1e-3) / (1 + drawn.times.get(entry.name, 0)) for entry in entries
        ]
        entry = rng.choices(entries, weights)[0]
        return SeedText(entry.name, self._text_of(entry.program))
