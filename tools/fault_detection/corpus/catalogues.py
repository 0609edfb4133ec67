"""Programs of PyTorch's catalogues for the corpus: some samples of each operator, module, optimizer and function."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from eqfuzz import generate
from eqfuzz.commands.read_catalogue import CatalogueReading, CatalogueRequest
from eqfuzz.events.event import ignore
from eqfuzz.generate.catalogues.messages import REFUSED, SamplesWritten, WrittenResult
from eqfuzz.generate.catalogues.programs import CatalogueProgram, NamedResult
from eqfuzz.mutate.parallel import Ending
from eqfuzz.program.derived import cache_folder
from tools.fault_detection.corpus.corpus import Entry

SAMPLES = {
    "opinfo": {"float32": 12, "int64": 4, "bool": 2, "complex64": 2, "bfloat16": 2},
    "refused": {"refused": 0},
    "modules": {"float32": 6},
    "optimizers": {"float32": 1},
    "numpy": {"float64": 6},
    "python": {"float32": 0},
}
"""Samples of each entry by dtype, and as many with other keywords; 0: all. Keywords matter more than dtypes."""

RESULTS = 12
"""Results of a program at most."""

PAIR = 2
"""Results that share tensors, of one operator in one program."""

USUAL = ("opinfo", "modules", "numpy", "python")
"""Catalogues that a run uses by default: steps of optimizers and refused calls reach least for their cost."""


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
            programs = reading.programs() if catalogue == REFUSED else layers(reading.written(), seed)
            for program in programs:
                yield Entry(_written(program, folder), program=program)


def layers(written: Sequence[SamplesWritten], seed: int) -> Iterator[CatalogueProgram]:
    """Programs of one group of results of each operator, then of another one of each, and so on.

    Little time meets most operators then, each in the form that differs most from a plain call. A result costs the same
    as in larger programs. Results that draw random numbers are left out, as their values are not compared.
    """
    groups = [(one, _groups([result for result in one.results if not result.draws])) for one in written]
    for layer in range(max((len(of_operator) for _, of_operator in groups), default=0)):
        results: list[NamedResult] = []
        number = 0
        for one, of_operator in groups:
            group = of_operator[layer] if layer < len(of_operator) else []
            if len(results) + len(group) > RESULTS:
                yield CatalogueProgram(f"{written[0].dtype}/layer-{layer:02}-{number:03}.py", tuple(results), seed)
                results, number = [], number + 1
            results += [NamedResult(one.operator, one.dtype, result) for result in group]
        if results:
            yield CatalogueProgram(f"{written[0].dtype}/layer-{layer:02}-{number:03}.py", tuple(results), seed)


def _groups(results: Sequence[WrittenResult]) -> list[list[WrittenResult]]:
    """Pairs of results that share tensors, and single ones: the least plain first."""
    groups: list[list[WrittenResult]] = []
    for result in sorted(results, key=_variety, reverse=True):
        alike = next((one for one in groups if len(one) < PAIR and result.shares and _share(one[0], result)), None)
        if alike is not None:
            alike.append(result)
        else:
            groups.append([result])
    return groups


def _share(one: WrittenResult, other: WrittenResult) -> bool:
    return one.shares and one.inputs == other.inputs


def _variety(result: WrittenResult) -> int:
    """In how many ways the call differs from one of contiguous tensors alone: views, layouts, keywords."""
    views = len(re.findall(r"\$\{\w+\}[.\[]", result.expression))
    layouts = sum(bool(re.search(r"\)[.\[](?!requires_grad_)", code)) for _, code in result.inputs)
    return views + layouts + min(2, result.expression.count("="))


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
