"""Sources of the programs whose coverage is measured: files of seeds, templates of random programs, catalogues."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from eqfuzz.commands.read_catalogue import CatalogueReading, CatalogueRequest
from eqfuzz.errors import UsageError
from eqfuzz.events.event import Handler, ignore
from eqfuzz.generate.catalogues.messages import CATALOGUES, Catalogue
from eqfuzz.generate.catalogues.programs import CatalogueProgram
from eqfuzz.generate.dag.generate import MIXED, NothingGenerated, ProgramGenerator
from eqfuzz.generate.dag.template import InvalidTemplate, templates_named
from eqfuzz.mutate.parallel import Ending
from eqfuzz.program.formats import read_program, recognise
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.program.shipped import folder
from eqfuzz.program.suggestions import did_you_mean

SHIPPED = "shipped seeds"

SAMPLES = 4
"""Samples of each entry and dtype of a catalogue: further ones rarely run other code of the compiler."""


@dataclasses.dataclass(frozen=True)
class PlannedProgram:
    """A program of a source; ``make`` reads or generates it and raises InvalidSeed."""

    source: str
    name: str
    make: Callable[[], Program]

    @property
    def digest(self) -> str:
        """That of the program; empty for an invalid one."""
        try:
            return self.make().digest
        except InvalidSeed:
            return ""


def planned_programs(
    paths: Sequence[Path],
    templates: Sequence[str],
    catalogues: Sequence[CatalogueRequest],
    count: int,
    handle: Handler = ignore,
) -> list[PlannedProgram]:
    """Those of each path and, ``count`` each, of each template and catalogue, the sources in turn.

    ``handle`` gets the events of reading the catalogues, which takes minutes. Without any source: the shipped seeds and
    all templates. Raises UsageError, and what ``CatalogueReading`` raises.
    """
    everything = not paths and not templates and not catalogues
    sources = [_seeds(str(path), path) for path in paths]
    if everything:
        sources.append(_seeds(SHIPPED, folder("seeds")))
        templates = [MIXED]
    try:
        chosen = {name: template for one in templates for name, template in templates_named(one).items()}
    except InvalidTemplate as error:
        raise UsageError(f"--template: {error}") from None
    for name, template in chosen.items():
        generator = ProgramGenerator(template)
        programs = ((f"{name}-{seed}", partial(_generated, generator, seed)) for seed in range(count))
        sources.append([PlannedProgram(f"template {name}", program, make) for program, make in programs])
    sources += [_drawn(request, count, handle) for request in catalogues]
    turns = itertools.zip_longest(*sources)
    return [program for turn in turns for program in turn if program is not None]


def catalogue_requests(names: Sequence[str], out: Path, seed: int, jobs: int) -> list[CatalogueRequest]:
    """What is read of the catalogues of these names, below ``out``. Raises UsageError for an unknown one."""
    catalogues: dict[str, Catalogue] = {catalogue: catalogue for catalogue in CATALOGUES}
    for name in names:
        if name not in catalogues:
            suggestion = did_you_mean(name, CATALOGUES)
            raise UsageError(f"--catalogue: no catalogue {name!r}{suggestion}; there are {', '.join(CATALOGUES)}")
    return [
        CatalogueRequest(out=out / name, seed=seed, jobs=jobs, catalogue=catalogues[name], most=SAMPLES)
        for name in dict.fromkeys(names)
    ]


def _drawn(request: CatalogueRequest, count: int, handle: Handler) -> list[PlannedProgram]:
    """``count`` programs of a catalogue, which its seed chooses. Raises KeyboardInterrupt when Ctrl-C ends reading."""
    reading = CatalogueReading(request, handle)
    if reading.run() is not Ending.DONE:
        raise KeyboardInterrupt
    programs = reading.programs()
    chosen = random.Random(request.seed).sample(programs, min(count, len(programs)))
    name = request.catalogue
    return [PlannedProgram(f"catalogue {name}", f"{name}/{one.name}", partial(_read, one)) for one in chosen]


def _read(program: CatalogueProgram) -> Program:
    return recognise(program.source, program.name)


def _seeds(name: str, path: Path) -> list[PlannedProgram]:
    return [PlannedProgram(name, str(file), partial(read_program, file, str(file))) for file in seed_files([path])]


def _generated(generator: ProgramGenerator, seed: int) -> Program:
    name = f"{generator.template.name}-{seed}"
    try:
        return recognise(generator.generate(seed).source, name)
    except NothingGenerated as error:
        raise InvalidSeed(name, str(error)) from None
