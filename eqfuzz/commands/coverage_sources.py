"""Sources of the programs whose coverage is measured: files of seeds, and templates of random programs."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from eqfuzz.errors import UsageError
from eqfuzz.generate.dag.generate import MIXED, NothingGenerated, ProgramGenerator
from eqfuzz.generate.dag.template import InvalidTemplate, templates_named
from eqfuzz.program.formats import read_program, recognise
from eqfuzz.program.pools.seed_files import seed_files
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.program.shipped import folder

SHIPPED = "shipped seeds"


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


def planned_programs(paths: Sequence[Path], templates: Sequence[str], count: int) -> list[PlannedProgram]:
    """Those of each path and, ``count`` each, of each template, the sources in turn.

    Without paths and templates: the shipped seeds and all templates. Raises UsageError.
    """
    everything = not paths and not templates
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
    turns = itertools.zip_longest(*sources)
    return [program for turn in turns for program in turn if program is not None]


def _seeds(name: str, path: Path) -> list[PlannedProgram]:
    return [PlannedProgram(name, str(file), partial(read_program, file, str(file))) for file in seed_files([path])]


def _generated(generator: ProgramGenerator, seed: int) -> Program:
    name = f"{generator.template.name}-{seed}"
    try:
        return recognise(generator.generate(seed).source, name)
    except NothingGenerated as error:
        raise InvalidSeed(name, str(error)) from None
