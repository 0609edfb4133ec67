"""Sources of seeds: what PyTorch's own tests call, some samples of one operator, module or function at a time."""

from __future__ import annotations

import random
from pathlib import Path
from types import TracebackType
from typing import Self

from eqfuzz.campaign.sources.files import DrawHistory, SeedText
from eqfuzz.commands.read_catalogue import listed_operators, written_samples
from eqfuzz.generate.catalogues.messages import REFUSED, TARGET, Catalogue, WriteJob, WriteRefusedJob, dtypes_of
from eqfuzz.generate.catalogues.programs import programs_of
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool

SAMPLES = 6
"""Samples of a draw, and as many with other arguments at most: an item is to be as small as those of other sources."""

_ATTEMPTS = 10
"""Operators that are tried for one draw: of some no sample can be written."""


class CatalogueReader:
    """The process that has imported PyTorch's catalogues, for all sources. It starts at the first draw.

    A context manager. Files are written below ``out``.
    """

    def __init__(self, out: Path) -> None:
        self._out = out.resolve()
        self._pool: Pool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def pool(self) -> Pool:
        """The running process."""
        if self._pool is None:
            environment = Environment(self._out)
            environment.temporary_dir().mkdir(parents=True, exist_ok=True)
            self._pool = Pool(environment, Limits(), jobs=1, target=TARGET, warm=False)
        return self._pool


class CatalogueSeeds:
    """Programs of some samples of a catalogue, with layouts and values of their own in each draw."""

    def __init__(self, name: Catalogue, reader: CatalogueReader, seed: int) -> None:
        self.name: Catalogue = name
        self._reader = reader
        self._seed = seed
        self._pairs: list[tuple[str, str]] = []

    def draw(self, rng: random.Random, number: int, history: DrawHistory) -> SeedText | None:
        """Raises RunnerFailed where the catalogue cannot be imported, InternalError for a defect of eqfuzz."""
        pool = self._reader.pool()
        pairs = self._pairs = self._pairs or self._listed(pool)
        for _ in range(_ATTEMPTS):
            operator, dtype = rng.choice(pairs)
            seed = self._seed + number
            programs = programs_of([written_samples(pool, self._job(operator, dtype, seed))], seed)
            if programs:
                program = rng.choice(programs)
                name = program.name.removesuffix(".py").replace("/", "-")
                return SeedText(f"{self.name}-{name}-{seed}.py", program.source)
        return None

    def _listed(self, pool: Pool) -> list[tuple[str, str]]:
        listed = listed_operators(pool, dtypes_of(self.name), self.name)
        return [(operator, dtype) for operator, dtypes in listed.items() for dtype in dtypes]

    def _job(self, operator: str, dtype: str, seed: int) -> WriteJob | WriteRefusedJob:
        if self.name == REFUSED:
            return WriteRefusedJob(operator=operator)
        return WriteJob(catalogue=self.name, operator=operator, dtype=dtype, seed=seed, most=SAMPLES)
