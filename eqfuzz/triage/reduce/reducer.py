"""Program reducer: applies passes until none of them has a smaller candidate with the finding. Runs no program."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping, Sequence

from eqfuzz.program.parsing import parse
from eqfuzz.program.program import Program
from eqfuzz.triage.reduce.passes import PASSES
from eqfuzz.triage.reduce.reduction_pass import ReductionPass
from eqfuzz.triage.reduce.size import Size, size

FirstFailing = Callable[[Sequence[Program]], Program | None]
"""Runs a batch; returns the first program with the finding, None where there is none."""

_Edit = tuple[tuple[str, ...], tuple[str, ...]]


@dataclasses.dataclass(frozen=True)
class ReductionStep:
    """One batch of the pass ``name``: the sizes before and after it, and how many candidates were run so far."""

    name: str
    before: Size
    after: Size
    tries: int
    program: Program


def reduce_program(
    program: Program,
    first_failing: FirstFailing,
    *,
    passes: Sequence[ReductionPass] = PASSES,
    width: int = 1,
    stop: Callable[[], bool] = lambda: False,
    report: Callable[[ReductionStep], None] = lambda _: None,
    answers: MutableMapping[str, bool] | None = None,
    context: str = "",
) -> Program:
    """The smallest program with the finding; ``program`` is assumed to have it.

    Applies ``passes`` in order, each until it has no smaller candidate with the finding, and all of them again until a
    whole round changes nothing or ``stop()`` is true. ``width`` candidates are run at once.

    ``answers`` maps digests of normalised text to whether that program has the finding. It is extended, and resumes an
    interrupted reduction when it is passed again; ``context`` names what else the answers depend on. An edit that lost
    the finding is postponed until a round without such edits changes nothing.
    """
    loop = _Loop(first_failing, width, stop, report, {} if answers is None else answers, context)
    while not stop():
        before = program
        for reduce_pass in passes:
            program = loop.exhaust(reduce_pass, program)
        if program is before:
            if not loop.postponed:
                break
            loop.postponed.clear()
    return program


def digest(program: Program) -> str:
    """Sixteen hex digits: a hash of the program's syntax tree and of how it is called.

    Programs that differ only in layout have the same digest, so such candidates need no run.
    """
    text = "\0".join((ast.dump(parse(program.source)), program.construct, program.inputs))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Loop:
    def __init__(
        self,
        first_failing: FirstFailing,
        width: int,
        stop: Callable[[], bool],
        report: Callable[[ReductionStep], None],
        answers: MutableMapping[str, bool],
        context: str,
    ) -> None:
        self.first_failing = first_failing
        self.width = max(1, width)
        self.stop = stop
        self.report = report
        self.answers = answers
        self.context = context
        self.tries = 0
        self.postponed: set[_Edit] = set()

    def exhaust(self, reduce_pass: ReductionPass, program: Program) -> Program:
        """Apply one pass until it has no smaller candidate with the finding."""
        while not self.stop():
            smaller = self._once(reduce_pass, program)
            if smaller is None:
                break
            program = smaller
        return program

    def _once(self, reduce_pass: ReductionPass, program: Program) -> Program | None:
        same = self._key(program)
        for is_known, batch in self._batches(reduce_pass, program, same):
            if is_known:
                return self._report(reduce_pass, program, batch[0])
            if self.stop():
                return None
            winner = self.first_failing(batch)
            self.tries += len(batch)
            for candidate in batch:
                if candidate is winner:
                    break
                self.answers[self._key(candidate)] = False
                self.postponed.add(_edit(program, candidate))
            self._report(reduce_pass, program, winner or program)
            if winner is not None:
                self.answers[self._key(winner)] = True
                return winner
        return None

    def _key(self, program: Program) -> str:
        return self.context + digest(program)

    def _report(self, reduce_pass: ReductionPass, before: Program, after: Program) -> Program:
        self.report(ReductionStep(reduce_pass.__name__, size(before), size(after), self.tries, after))
        return after

    def _batches(self, reduce_pass: ReductionPass, program: Program, same: str) -> Iterator[tuple[bool, list[Program]]]:
        """Batches to run; a candidate that is known to have the finding comes alone, with True."""
        open_: dict[str, Program] = {}
        for candidate in reduce_pass(program):
            key = self._key(candidate)
            if self.answers.get(key) is False or key in open_ or _edit(program, candidate) in self.postponed:
                continue
            if key == same or self.answers.get(key):
                if open_:
                    yield False, list(open_.values())
                yield True, [candidate]
                return
            open_[key] = candidate
            if len(open_) == self.width:
                yield False, list(open_.values())
                open_ = {}
        if open_:
            yield False, list(open_.values())


def _edit(before: Program, after: Program) -> _Edit:
    """What a candidate removes and adds, at any place: lines, or the part of the one line that changes."""
    old, new = Counter(before.source.splitlines()), Counter(after.source.splitlines())
    removed, added = sorted((old - new).elements()), sorted((new - old).elements())
    if len(removed) == len(added) == 1:
        head = _common(removed[0], added[0])
        tail = _common(removed[0][head:][::-1], added[0][head:][::-1])
        removed, added = [removed[0][head : len(removed[0]) - tail]], [added[0][head : len(added[0]) - tail]]
    return tuple(removed), (*added, after.inputs)


def _common(a: str, b: str) -> int:
    """The length of the common prefix."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
