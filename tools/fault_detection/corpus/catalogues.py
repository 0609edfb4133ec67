"""Programs of PyTorch's catalogues for the corpus: some samples of each operator, module, optimizer and function."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from eqfuzz import generate
from eqfuzz.commands.read_catalogue import CatalogueReading, CatalogueRequest
from eqfuzz.events.event import ignore
from eqfuzz.generate.catalogues.programs import RANDOM, CatalogueProgram
from eqfuzz.mutate.parallel import Ending
from eqfuzz.program.derived import cache_folder
from tools.fault_detection.corpus.corpus import Entry

SAMPLES = {
    "opinfo": {"float32": 12, "int64": 4, "bool": 2, "complex64": 2, "bfloat16": 2},
    "refused": {"refused": 0},
    "modules": {"float32": 6},
    "optimizers": {"float32": 1},
    "numpy": {"float64": 6},
}
"""Samples of each entry by dtype, and as many with other keywords; 0: all. Keywords matter more than dtypes."""

RESULTS = 12
"""Results of a program at most."""

USUAL = ("opinfo", "modules", "numpy")
"""Catalogues that a session uses by default: steps of optimizers and refused calls reach least for their cost."""


def catalogue_programs(catalogues: Sequence[str], seed: int, out: Path) -> Iterator[Entry]:
    """Write the programs below ``out``. Raises UsageError, RunnerFailed, InternalError.

    Their samples are read once for each state of the code that writes them: that takes a quarter of an hour.
    """
    samples = _folder_of_samples()
    for catalogue in catalogues:
        for dtype, most in SAMPLES[catalogue].items():
            folder = out / catalogue / dtype
            request = CatalogueRequest(
                out=folder if samples is None else samples / catalogue / dtype,
                dtypes=() if catalogue == "refused" else (dtype,),
                seed=seed,
                jobs=len(os.sched_getaffinity(0)),
                catalogue=catalogue,
                most=most,
            )
            reading = CatalogueReading(request, ignore)
            if reading.run() is not Ending.DONE:
                raise KeyboardInterrupt
            for program in reading.programs():
                if RANDOM in Path(program.name).parts:  # its values are not compared
                    continue
                for part in _parts(program):
                    yield Entry(_written(part, folder), program=part)


def _parts(program: CatalogueProgram) -> Iterator[CatalogueProgram]:
    """Programs of few results each: a result costs the same in these, and more of them run what a fault replaces."""
    count = len(program.results)
    parts = -(-count // RESULTS)
    for part in range(parts):
        yield program.part(range(count * part // parts, count * (part + 1) // parts)) if parts > 1 else program


def _folder_of_samples() -> Path | None:
    """The folder for samples of this code; None if the user has no home."""
    caches = cache_folder()
    if caches is None:
        return None
    digest = hashlib.sha256()
    for source in sorted(Path(generate.__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return caches / f"samples-{digest.hexdigest()[:16]}"


def _written(program: CatalogueProgram, folder: Path) -> Path:
    path = folder / program.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(program.source, encoding="utf-8")
    return path
