"""Recall: of the faults planted in correct runs of real programs, the share that the judge and others see.

An oracle that calls the correct run itself wrong sees nothing there: an alarm that always sounds tells nobody. A run
that the judge calls wrong is no correct one, or the judge is: it is left out and told, for someone to find out which.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from eqfuzz.oracle.calibration.baseline_oracles import OTHERS, alarms, seen
from eqfuzz.oracle.calibration.columns import JUDGE
from eqfuzz.oracle.calibration.faults import Fault, PlantedFault, planned
from eqfuzz.oracle.calibration.specimens import DTYPES, NoSpecimen, Specimen, subject
from eqfuzz.oracle.compare.eager_judge import judge_rewrite
from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import Transform
from eqfuzz.program.program import Program

GROUPS = ("outputs", "gradients")


@dataclasses.dataclass(frozen=True)
class RecallRow:
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
    """The table: counts by row, and why programs could not be measured in a dtype.

    ``subjects`` counts programs by dtype, ``wolves`` those by dtype and oracle whose correct run is called wrong,
    ``claims`` those that the judge calls wrong.
    """

    rows: dict[RecallRow, Count] = dataclasses.field(default_factory=dict)
    subjects: Counter[str] = dataclasses.field(default_factory=Counter)
    wolves: dict[str, Counter[str]] = dataclasses.field(default_factory=dict)
    left_out: list[str] = dataclasses.field(default_factory=list)
    claims: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: Recall) -> None:
        for row, count in other.rows.items():
            self.rows.setdefault(row, Count()).add(count)
        self.subjects.update(other.subjects)
        for dtype, count in other.wolves.items():
            self.wolves.setdefault(dtype, Counter()).update(count)
        self.left_out += other.left_out
        self.claims += other.claims

    def to_json(self) -> dict[str, Any]:
        rows = [
            {**vars(row), "planted": count.planted, "seen": dict(count.seen), "missed": dict(count.missed)}
            for row, count in self.rows.items()
        ]
        wolves = {dtype: dict(count) for dtype, count in self.wolves.items()}
        texts = {"left_out": self.left_out, "claims": self.claims}
        return {"rows": rows, "subjects": dict(self.subjects), "wolves": wolves, **texts}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Recall:
        rows = {
            RecallRow(row["fault"], row["dtype"], row["group"]): Count(
                row["planted"], Counter(row["seen"]), Counter(row["missed"])
            )
            for row in data["rows"]
        }
        wolves = {dtype: Counter(count) for dtype, count in data["wolves"].items()}
        return cls(rows, Counter(data["subjects"]), wolves, data["left_out"], data["claims"])


def measure(
    program: Program,
    seed: int,
    draws: int,
    dtypes: Iterable[torch.dtype] = DTYPES,
    transform: Transform | None = None,
) -> Recall:
    """Plant ``draws`` faults of every kind in the program, in each dtype, and ask every oracle for each.

    ``transform``, such as ``torch.compile``, makes the run that faults are planted in; without one it is eager's.
    """
    found = Recall()
    for dtype in dtypes:
        name = name_of(dtype)
        try:
            made = subject(program, dtype, seed, transform)
        except NoSpecimen as error:
            found.left_out.append(f"{program.name} in {name}: {error}")
            continue
        verdict = judged(made, made.other)
        if verdict.is_finding:
            found.claims.append(f"{program.name} in {name}: {verdict.kind}: {verdict.message}")
            continue
        found.subjects[name] += 1
        crying = {group: alarms(made.eager, made.other, made.references[-1], [group]) for group in GROUPS}
        found.wolves[name] = Counter(set().union(*crying.values()))
        for group in GROUPS:
            for fault in planned(group):
                rng = random.Random(f"{seed} {program.name} {name} {group}")
                count = _count(made, group, fault, rng, draws, crying[group])
                if count.planted:
                    found.rows[RecallRow(fault.name, name, group)] = count
    return found


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def judged(made: Specimen, other: Observation) -> Verdict:
    """What the judge says of the other run, asked as in a case: a few noisy runs first, many before a claim."""
    verdict = judge_compiled(made.eager, other, None)
    for known in made.references:
        if verdict.kind is VerdictKind.AGREE:
            break
        verdict = judge_compiled(made.eager, other, known)
    return verdict


def _count(made: Specimen, group: str, fault: Fault, rng: random.Random, draws: int, crying: set[str]) -> Count:
    count = Count()
    for planted in _plants(made, group, fault, rng, draws):
        count.planted += 1
        if fault.eager_pair:
            verdict = judge_rewrite(made.eager, planted.observation, None, None, "bitwise")
        else:
            verdict = judged(made, planted.observation)
        told = {JUDGE} if verdict.is_finding or verdict.kind is VerdictKind.SUSPECT_RULE else set()
        if not told:
            count.missed[_why(verdict)] += 1
        told |= _others(made, planted)
        count.seen.update(told if fault.eager_pair else told - crying)
    return count


def _plants(made: Specimen, group: str, fault: Fault, rng: random.Random, draws: int) -> Iterator[PlantedFault]:
    for _ in range(draws):
        run = made.eager if fault.eager_pair else made.other
        planted = fault.plant(run, group, made.dtype, rng, made.eager)
        if planted is None:
            return
        yield planted


def _others(made: Specimen, planted: PlantedFault) -> set[str]:
    """The other oracles that see the fault: those of values look at the leaf it is in, and everyone sees a raise."""
    if planted.observation.calls[0].raised is not None:
        return set(OTHERS)
    if planted.leaf is None:
        return set()
    group, place = planted.leaf
    path, after = getattr(planted.observation.calls[0], group)[place]
    before = dict(getattr(made.eager.calls[0], group)).get(path)
    known = dict(getattr(made.references[-1].calls[0], group)).get(path)
    return seen(before, after, known) if isinstance(before, torch.Tensor) else set()


def _why(verdict: Verdict) -> str:
    if verdict.kind is VerdictKind.AGREE:
        return "within the bound, or unstable"
    return verdict.message.rpartition("but ")[2][:80] if verdict.kind is VerdictKind.INCONCLUSIVE else str(verdict.kind)
