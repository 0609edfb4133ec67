"""Seed programs of many results: the written samples of several operators, or a part of those of one."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import textwrap
from collections.abc import Collection, Iterator, Sequence

from eqfuzz import __version__
from eqfuzz.generate.catalogues.messages import REFUSED, SamplesWritten, WrittenResult
from eqfuzz.generate.catalogues.program_text import LONGEST, CatalogueProgramText, submodule_name

USUAL_RESULTS = 45
MOST_RESULTS = 60
"""Results of a program; those of an operator with more are split into equal parts."""

MOST_SHARING = 4
"""Results that take the same tensors."""

RANDOM = "random"
"""The folder of programs whose results draw random numbers, below that of the dtype."""


@dataclasses.dataclass(frozen=True)
class NamedResult:
    """A result of a program, and the operator whose sample it is."""

    operator: str
    dtype: str
    result: WrittenResult


@dataclasses.dataclass(frozen=True)
class CatalogueProgram:
    """A seed program; its result number ``n`` is ``output[n]``. ``name`` is a path below the folder of seeds.

    Of ``omitted`` results there are the tensors alone, so that those of the others have the same values; outputs are
    those of the others.
    """

    name: str
    results: tuple[NamedResult, ...]
    seed: int
    omitted: frozenset[int] = frozenset()

    @property
    def is_refused(self) -> bool:
        """Whether eager raises."""
        return any(named.result.refused for named in self.results)

    @functools.cached_property
    def source(self) -> str:
        """The text of the seed file."""
        text = CatalogueProgramText()
        for number, (named, owner) in enumerate(zip(self.results, self.owners(), strict=True)):
            result = named.result
            shared = None if owner == number else owner
            is_computed = number not in self.omitted
            text.add(named.operator, result.expression, result.inputs, result.module, shared, is_computed=is_computed)
        return text.source(_title(self), ["refuses = True"] if self.is_refused else [])

    @property
    def digest(self) -> str:
        """Sixteen hex digits that name the text."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    def owners(self) -> list[int]:
        """For each result the number of the one that first takes its tensors: few equal ones share theirs.

        Their results differ in other arguments only, which a compiler must not overlook.
        """
        owners: list[int] = []
        sharing: dict[tuple[str, tuple[tuple[str, str], ...]], list[int]] = {}
        for number, named in enumerate(self.results):
            result = named.result
            group = sharing.setdefault((named.operator, result.inputs), [])
            if not result.shares or not result.inputs:
                owners.append(number)
                continue
            if len(group) == MOST_SHARING:
                group.clear()
            group.append(number)
            owners.append(group[0])
        return owners

    def arguments(self) -> list[range]:
        """The positions of each computed result's tensors among the arguments."""
        ranges: list[range] = []
        start = 0
        for number, (named, owner) in enumerate(zip(self.results, self.owners(), strict=True)):
            if owner < number:
                ranges.append(ranges[owner])
                continue
            end = start + len(named.result.inputs)
            ranges.append(range(start, end))
            start = end
        return [one for number, one in enumerate(ranges) if number not in self.omitted]

    def submodules(self) -> list[str]:
        """The name of the submodule that each computed result calls; empty where it calls none."""
        return [
            submodule_name(named.operator, number + 1) if named.result.module else ""
            for number, named in enumerate(self.results)
            if number not in self.omitted
        ]

    def without(self, numbers: Collection[int]) -> CatalogueProgram:
        """The program without these results, the others with the same values."""
        return dataclasses.replace(self, omitted=self.omitted.union(numbers))

    def part(self, numbers: Sequence[int]) -> CatalogueProgram:
        """The program of some of its results only, under a name of its own."""
        label = "-".join(map(str, (numbers[0], numbers[-1]) if len(numbers) > 1 else numbers))
        name = f"{self.name.removesuffix('.py')}.{label}.py"
        return dataclasses.replace(self, name=name, results=tuple(self.results[number] for number in numbers))


def programs_of(written: Sequence[SamplesWritten], seed: int) -> list[CatalogueProgram]:
    """The programs of all results, by dtype and in the order of ``written``; results that draw numbers apart."""
    programs: list[CatalogueProgram] = []
    for dtype in dict.fromkeys(one.dtype for one in written):
        for draws in (False, True):
            of_dtype = [
                [NamedResult(one.operator, dtype, result) for result in one.results if result.draws is draws]
                for one in written
                if one.dtype == dtype
            ]
            folder = f"{dtype}/{RANDOM}" if draws else dtype
            packed = _each(of_dtype) if dtype == REFUSED else _packed(of_dtype)
            programs += [CatalogueProgram(f"{folder}/{name}.py", results, seed) for name, results in packed]
    return programs


def _each(groups: Sequence[Sequence[NamedResult]]) -> Iterator[tuple[str, tuple[NamedResult, ...]]]:
    """Name and results of each program, which has one: its exception ends it."""
    for group in groups:
        for number, named in enumerate(group, 1):
            yield f"{named.operator}-{number:02}", (named,)


def _packed(groups: Sequence[Sequence[NamedResult]]) -> Iterator[tuple[str, tuple[NamedResult, ...]]]:
    """Name and results of each program."""
    bin: list[NamedResult] = []
    for group in groups:
        if len(group) > USUAL_RESULTS:
            parts = -(-len(group) // USUAL_RESULTS)
            for part in range(parts):
                chosen = group[len(group) * part // parts : len(group) * (part + 1) // parts]
                yield f"{group[0].operator}-{part + 1:02}", tuple(chosen)
            continue
        if len(bin) + len(group) > MOST_RESULTS:
            yield _name(bin), tuple(bin)
            bin = []
        bin += group
    if bin:
        yield _name(bin), tuple(bin)


def _name(results: Sequence[NamedResult]) -> str:
    first, last = results[0].operator, results[-1].operator
    return first if first == last else f"{first}-to-{last}"


def _title(program: CatalogueProgram) -> str:
    operators = list(dict.fromkeys(named.operator for named in program.results))
    names = operators[0] if len(operators) == 1 else f"{operators[0]} to {operators[-1]}"
    credit = f"Made by eqfuzz {__version__}, seed {program.seed}."
    if program.is_refused:
        reason = program.results[0].result.refused.replace("\\", "/").replace('"', "'")
        return "\n".join(
            [f"A call of {names} that eager refuses.", "", *textwrap.wrap(reason, LONGEST), "", credit, ""]
        )
    return f"Results of {names} in {program.results[0].dtype}.\n\n{credit}\n"
