"""Recall: of the faults planted in observations of real programs, the share that the judge and others see."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from eqfuzz.judge.instrument.columns import JUDGE
from eqfuzz.judge.instrument.faults import Fault, Planted, planned
from eqfuzz.judge.instrument.others import OTHERS
from eqfuzz.judge.instrument.subjects import DTYPES, NoSubject, Subject, subject
from eqfuzz.judge.judge import judge_rewrite
from eqfuzz.judge.oracles import judge_compiled
from eqfuzz.judge.verdict import Kind, Verdict
from eqfuzz.program.program import Program

GROUPS = ("outputs", "gradients")


@dataclasses.dataclass(frozen=True)
class Row:
    """What is counted together."""

    fault: str
    dtype: str
    group: str


@dataclasses.dataclass
class Count:
    """How many faults of one row were planted, how many each oracle saw, and why the judge missed the others."""

    planted: int = 0
    seen: Counter[str] = dataclasses.field(default_factory=Counter)
    missed: Counter[str] = dataclasses.field(default_factory=Counter)

    def add(self, other: Count) -> None:
        self.planted += other.planted
        self.seen.update(other.seen)
        self.missed.update(other.missed)

    def recall(self, oracle: str = JUDGE) -> float:
        """The share that ``oracle`` saw; 1 where nothing was planted."""
        return self.seen[oracle] / self.planted if self.planted else 1.0


@dataclasses.dataclass
class Recall:
    """The table: counts by row, and why programs could not be measured in a dtype."""

    rows: dict[Row, Count] = dataclasses.field(default_factory=dict)
    subjects: Counter[str] = dataclasses.field(default_factory=Counter)
    left_out: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: Recall) -> None:
        for row, count in other.rows.items():
            self.rows.setdefault(row, Count()).add(count)
        self.subjects.update(other.subjects)
        self.left_out += other.left_out

    def to_json(self) -> dict[str, Any]:
        rows = [
            {**vars(row), "planted": count.planted, "seen": dict(count.seen), "missed": dict(count.missed)}
            for row, count in self.rows.items()
        ]
        return {"rows": rows, "subjects": dict(self.subjects), "left_out": self.left_out}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Recall:
        rows = {
            Row(row["fault"], row["dtype"], row["group"]): Count(
                row["planted"], Counter(row["seen"]), Counter(row["missed"])
            )
            for row in data["rows"]
        }
        return cls(rows, Counter(data["subjects"]), list(data["left_out"]))


def measure(program: Program, seed: int, draws: int, dtypes: Iterable[torch.dtype] = DTYPES) -> Recall:
    """Plant ``draws`` faults of every kind in the program, in each dtype, and ask every oracle for each."""
    found = Recall()
    for dtype in dtypes:
        name = name_of(dtype)
        try:
            made = subject(program, dtype, seed)
        except NoSubject as error:
            found.left_out.append(f"{program.name} in {name}: {error}")
            continue
        found.subjects[name] += 1
        for group in GROUPS:
            for fault in planned(group):
                count = _count(made, group, fault, random.Random(f"{seed} {program.name} {name} {group}"), draws)
                if count.planted:
                    found.rows[Row(fault.name, name, group)] = count
    return found


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def judged(made: Subject, fault: Fault, planted: Planted) -> Verdict:
    """What the judge says of the fault, asked as in a case: a few noisy runs first, many before a claim."""
    if getattr(fault, "eager_pair", False):
        return judge_rewrite(made.eager, planted.observation, None, None, "bitwise")
    verdict = judge_compiled(made.eager, planted.observation, None)
    for known in made.references:
        if verdict.kind is Kind.AGREE:
            break
        verdict = judge_compiled(made.eager, planted.observation, known)
    return verdict


def _count(made: Subject, group: str, fault: Fault, rng: random.Random, draws: int) -> Count:
    count = Count()
    for planted in _plants(made, group, fault, rng, draws):
        count.planted += 1
        verdict = judged(made, fault, planted)
        if verdict.is_finding or verdict.kind is Kind.SUSPECT_RULE:
            count.seen[JUDGE] += 1
        else:
            count.missed[_why(verdict)] += 1
        for name in _others(made, fault, planted):
            count.seen[name] += 1
    return count


def _plants(made: Subject, group: str, fault: Fault, rng: random.Random, draws: int) -> Iterator[Planted]:
    for _ in range(draws):
        planted = fault.plant(made.eager, group, made.dtype, rng)
        if planted is None:
            return
        yield planted


def _others(made: Subject, fault: Fault, planted: Planted) -> Iterator[str]:
    """The other oracles that see the fault: those of values look at the leaf it is in, and everyone sees a raise."""
    if planted.observation.calls[0].raised is not None:
        yield from OTHERS
        return
    if planted.leaf is None:
        return
    group, place = planted.leaf
    path, before = getattr(made.eager.calls[0], group)[place]
    after = getattr(planted.observation.calls[0], group)[place][1]
    known = dict(getattr(made.references[-1].calls[0], group)).get(path)
    wide = None if known is None else known.value
    for name, alarm in OTHERS.items():
        if alarm(before, after, wide):
            yield name


def _why(verdict: Verdict) -> str:
    if verdict.kind is Kind.AGREE:
        return "within the bound, or unstable"
    return verdict.message.rpartition("but ")[2][:80] if verdict.kind is Kind.INCONCLUSIVE else str(verdict.kind)
