"""A source of seeds: samples of PyTorch's operator tests, some of one operator and dtype at a time."""

from __future__ import annotations

import random
from pathlib import Path
from types import TracebackType
from typing import Self

from eqfuzz.campaign.sources.files import DrawHistory, SeedText
from eqfuzz.commands.read_opinfo import listed_operators, written_samples
from eqfuzz.generate.catalogues.messages import DTYPES, TARGET, WriteJob
from eqfuzz.generate.catalogues.programs import MOST_RESULTS, programs_of
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool

_ATTEMPTS = 10
"""Operators that are tried for one draw: of some no sample can be written."""


class OpInfoSeeds:
    """Programs of up to ``MOST_RESULTS`` samples, with layouts and values of their own in each draw.

    A context manager: the process that has imported the catalogue starts at the first draw and ends with it. Files are
    written below ``out``.
    """

    name = "opinfo"

    def __init__(self, out: Path, seed: int) -> None:
        self._out = out.resolve()
        self._seed = seed
        self._pool: Pool | None = None
        self._pairs: list[tuple[str, str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def draw(self, rng: random.Random, number: int, history: DrawHistory) -> SeedText | None:
        """Raises RunnerFailed where the catalogue cannot be imported, InternalError for a defect of eqfuzz."""
        pool = self._started()
        for _ in range(_ATTEMPTS):
            operator, dtype = rng.choice(self._pairs)
            seed = self._seed + number
            job = WriteJob(operator=operator, dtype=dtype, seed=seed, most=MOST_RESULTS)
            programs = programs_of([written_samples(pool, job)], seed)
            if programs:
                program = rng.choice(programs)
                name = program.name.removesuffix(".py").replace("/", "-")
                return SeedText(f"opinfo-{name}-{seed}.py", program.source)
        return None

    def _started(self) -> Pool:
        if self._pool is None:
            environment = Environment(self._out)
            environment.temporary_dir().mkdir(parents=True, exist_ok=True)
            self._pool = Pool(environment, Limits(), jobs=1, target=TARGET, warm=False)
        if not self._pairs:
            listed = listed_operators(self._pool, DTYPES)
            self._pairs = [(operator, dtype) for operator, dtypes in listed.items() for dtype in dtypes]
        return self._pool
