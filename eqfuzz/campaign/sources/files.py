"""Sources of seeds: folders, templates, the campaign's corpus."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from eqfuzz.campaign.store.records import CorpusEntry, Json
from eqfuzz.generate.dag.generate import ProgramGenerator

CORPUS = "corpus"


class CampaignEnding(Exception):
    """The campaign ends while a seed is being drawn."""


@dataclasses.dataclass(frozen=True)
class SeedText:
    """Text of a seed, its name in reports, and the mutated settings of the configuration that it did well under."""

    name: str
    text: str
    settings: Json = dataclasses.field(default_factory=dict[str, Any])


@dataclasses.dataclass(frozen=True)
class DrawHistory:
    """Earlier draws."""

    times: Mapping[str, int]
    """How often each seed was drawn, by name."""
    invalid: frozenset[str]
    """Names of invalid seeds."""


class SeedSource(Protocol):
    """Gives seeds. ``name`` is that of its arm: ``folder:seeds``, ``template:fusion``, ``corpus``, ``llm:loops``."""

    @property
    def name(self) -> str: ...

    def draw(self, rng: random.Random, number: int, history: DrawHistory) -> SeedText | None:
        """The campaign's ``number``-th seed; None where the source has none."""
        ...


class SeedFiles:
    """Seed files; those that were drawn least are drawn next."""

    def __init__(self, name: str, paths: Sequence[Path]) -> None:
        self.name = name
        self._paths = {str(path): path for path in paths}

    def draw(self, rng: random.Random, number: int, history: DrawHistory) -> SeedText | None:
        valid = [name for name in self._paths if name not in history.invalid]
        while valid:
            least = min(history.times.get(name, 0) for name in valid)
            name = rng.choice([name for name in valid if history.times.get(name, 0) == least])
            try:
                return SeedText(name, self._paths[name].read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError):
                valid.remove(name)
        return None


class TemplateSeeds:
    """Generated programs of one template."""

    def __init__(self, template: str, generator: ProgramGenerator, seed: int) -> None:
        self.name = f"template:{template}"
        self._generator = generator
        self._seed = seed

    def draw(self, rng: random.Random, number: int, history: DrawHistory) -> SeedText | None:
        program = self._generator.generate(self._seed + number)
        return SeedText(f"{program.name}.py", program.source)


class CorpusSeeds:
    """The campaign's corpus; entries with more features per cost and fewer draws are drawn more often."""

    name = CORPUS

    def __init__(self, entries: Sequence[CorpusEntry], text_of: Callable[[str], str]) -> None:
        self._entries = entries
        self._text_of = text_of

    def draw(self, rng: random.Random, number: int, history: DrawHistory) -> SeedText | None:
        entries = [entry for entry in self._entries if entry.name not in history.invalid]
        if not entries:
            return None
        weights = [
            len(entry.features) / max(entry.cost, 1e-3) / (1 + history.times.get(entry.name, 0)) for entry in entries
        ]
        entry = rng.choices(entries, weights)[0]
        return SeedText(entry.name, self._text_of(entry.program), entry.settings)
