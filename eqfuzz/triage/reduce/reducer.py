"""The reducer's loop: candidates asked for in small batches until no pass has a smaller one. Runs no program itself."""

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

ShowsIt = Callable[[Sequence[Program]], Program | None]
"""Tries a batch and gives the first of it that still shows the finding, None where none does."""

_Edit = tuple[tuple[str, ...], tuple[str, ...]]


@dataclasses.dataclass(frozen=True)
class ReductionStep:
    """One step: which pass asked, how large the program was before and is now, all candidates tried so far."""

    name: str
    before: Size
    after: Size
    tries: int
    program: Program


def reduce_program(
    program: Program,
    shows_it: ShowsIt,
    *,
    passes: Sequence[ReductionPass] = PASSES,
    width: int = 1,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[ReductionStep], None] = lambda _: None,
    answers: MutableMapping[str, bool] | None = None,
    context: str = "",
) -> Program:
    """The smallest program found that still shows it; ``program`` itself is taken to.

    Goes through ``passes`` in their order, with a pass again on what it made smaller, until a whole round changes
    nothing or ``stop()`` says so. ``width`` candidates are asked for at once. ``answers`` is filled with what is
    known (a digest of the normalised text → whether it shows it) and may be given again, to go on where an earlier
    run stopped: what it answers is not asked again; ``context`` says what else the answers depend on. An edit that
    failed is put off until a round without any that failed before finds nothing more.
    """
    loop = _Loop(shows_it, width, stop, tell, {} if answers is None else answers, context)
    while not stop():
        before = program
        for reduce_pass in passes:
            program = loop.exhaust(reduce_pass, program)
        if program is before:
            if not loop.put_off:
                break
            loop.put_off.clear()
    return program


def digest(program: Program) -> str:
    """Sixteen hex digits of what a program does: its text without comments and layout, and how it is called.

    Programs that differ only in layout have one, so such a candidate is taken without a question.
    """
    text = "\0".join((ast.dump(parse(program.source)), program.construct, program.inputs))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Loop:
    def __init__(
        self,
        shows_it: ShowsIt,
        width: int,
        stop: Callable[[], bool],
        tell: Callable[[ReductionStep], None],
        answers: MutableMapping[str, bool],
        context: str,
    ) -> None:
        self.shows_it = shows_it
        self.width = max(1, width)
        self.stop = stop
        self.tell = tell
        self.answers = answers
        self.context = context
        self.tries = 0
        self.put_off: set[_Edit] = set()

    def exhaust(self, reduce_pass: ReductionPass, program: Program) -> Program:
        """What one pass makes of ``program`` when it is applied again until it finds nothing."""
        while not self.stop():
            smaller = self._once(reduce_pass, program)
            if smaller is None:
                break
            program = smaller
        return program

    def _once(self, reduce_pass: ReductionPass, program: Program) -> Program | None:
        same = self._key(program)
        for known, batch in self._batches(reduce_pass, program, same):
            if known:
                return self._told(reduce_pass, program, batch[0])
            if self.stop():
                return None
            winner = self.shows_it(batch)
            self.tries += len(batch)
            for candidate in batch:
                if candidate is winner:
                    break
                self.answers[self._key(candidate)] = False
                self.put_off.add(_edit(program, candidate))
            self._told(reduce_pass, program, winner or program)
            if winner is not None:
                self.answers[self._key(winner)] = True
                return winner
        return None

    def _key(self, program: Program) -> str:
        return self.context + digest(program)

    def _told(self, reduce_pass: ReductionPass, before: Program, after: Program) -> Program:
        self.tell(ReductionStep(reduce_pass.__name__, size(before), size(after), self.tries, after))
        return after

    def _batches(self, reduce_pass: ReductionPass, program: Program, same: str) -> Iterator[tuple[bool, list[Program]]]:
        """Batches to ask for; a candidate that is known to show it comes alone, with True."""
        open_: dict[str, Program] = {}
        for candidate in reduce_pass(program):
            key = self._key(candidate)
            if self.answers.get(key) is False or key in open_ or _edit(program, candidate) in self.put_off:
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
    """What a candidate takes out and puts in, wherever it does: lines, or the part of the one line that changes."""
    old, new = Counter(before.source.splitlines()), Counter(after.source.splitlines())
    gone, come = sorted((old - new).elements()), sorted((new - old).elements())
    if len(gone) == len(come) == 1:
        head = _common(gone[0], come[0])
        tail = _common(gone[0][head:][::-1], come[0][head:][::-1])
        gone, come = [gone[0][head : len(gone[0]) - tail]], [come[0][head : len(come[0]) - tail]]
    return tuple(gone), (*come, after.inputs)


def _common(a: str, b: str) -> int:
    """How many characters two texts both begin with."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
