"""Recall: the share of faults planted in correct runs of real programs that eqfuzz and other oracles detect.

An oracle that calls the correct run itself wrong detects nothing there: an alarm that is always on carries no
information. A run that eqfuzz calls wrong is left out and listed: either of the two is wrong, which is decided by hand.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterable, Iterator

import torch

from eqfuzz.oracle.calibration.baseline_oracles import OTHERS, alarms, alarms_of_leaf
from eqfuzz.oracle.calibration.columns import JUDGE
from eqfuzz.oracle.calibration.faults import Fault, PlantedFault, planned
from eqfuzz.oracle.calibration.recall_table import RecallCounts, RecallTable
from eqfuzz.oracle.calibration.specimens import DTYPES, NoSpecimen, Specimen, judge_with_references, make_specimen
from eqfuzz.oracle.compare.eager_judge import judge_rewrite
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.observer import Transform
from eqfuzz.program.program import Program

GROUPS = ("outputs", "gradients")


@dataclasses.dataclass(frozen=True)
class RecallRow:
    """The key of a row of the recall table."""

    fault: str
    dtype: str
    group: str


@dataclasses.dataclass
class Count:
    """How many faults of a row were planted, how many each oracle detected, and why eqfuzz missed the others."""

    planted: int = 0
    detected: Counter[str] = dataclasses.field(default_factory=Counter)
    missed: Counter[str] = dataclasses.field(default_factory=Counter)

    def add(self, other: Count) -> None:
        self.planted += other.planted
        self.detected.update(other.detected)
        self.missed.update(other.missed)

    def recall(self, oracle: str = JUDGE) -> float:
        """The share that ``oracle`` detected; 1 if nothing was planted."""
        return self.detected[oracle] / self.planted if self.planted else 1.0


@dataclasses.dataclass
class Recall:
    """The recall table.

    Attributes:
        rows: The counts of each row.
        programs: How many programs were measured, by dtype.
        false_alarms: How many correct runs other oracles call wrong, by dtype and oracle.
        left_out: Programs that could not be measured in a dtype, with the reason.
        called_wrong: Correct runs that eqfuzz calls wrong, with the verdict.
    """

    rows: dict[RecallRow, Count] = dataclasses.field(default_factory=dict)
    programs: Counter[str] = dataclasses.field(default_factory=Counter)
    false_alarms: dict[str, Counter[str]] = dataclasses.field(default_factory=dict)
    left_out: list[str] = dataclasses.field(default_factory=list)
    called_wrong: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: Recall) -> None:
        for row, count in other.rows.items():
            self.rows.setdefault(row, Count()).add(count)
        self.programs.update(other.programs)
        for dtype, count in other.false_alarms.items():
            self.false_alarms.setdefault(dtype, Counter()).update(count)
        self.left_out += other.left_out
        self.called_wrong += other.called_wrong

    def to_json(self) -> RecallTable:
        rows = [
            RecallCounts(
                fault=row.fault,
                dtype=row.dtype,
                group=row.group,
                planted=count.planted,
                detected=dict(count.detected),
                missed=dict(count.missed),
            )
            for row, count in self.rows.items()
        ]
        false_alarms = {dtype: dict(count) for dtype, count in self.false_alarms.items()}
        return RecallTable(
            rows=rows,
            programs=dict(self.programs),
            false_alarms=false_alarms,
            left_out=self.left_out,
            called_wrong=self.called_wrong,
        )

    @classmethod
    def from_json(cls, data: RecallTable) -> Recall:
        rows = {
            RecallRow(row["fault"], row["dtype"], row["group"]): Count(
                row["planted"], Counter(row["detected"]), Counter(row["missed"])
            )
            for row in data["rows"]
        }
        false_alarms = {dtype: Counter(count) for dtype, count in data["false_alarms"].items()}
        return cls(rows, Counter(data["programs"]), false_alarms, data["left_out"], data["called_wrong"])


def measure(
    program: Program,
    seed: int,
    draws: int,
    dtypes: Iterable[torch.dtype] = DTYPES,
    transform: Transform | None = None,
) -> Recall:
    """Plant ``draws`` faults of every kind in the program, in each dtype, and run every oracle on each.

    ``transform``, such as ``torch.compile``, makes the run in which faults are planted; without one it is eager's.
    """
    table = Recall()
    for dtype in dtypes:
        name = name_of(dtype)
        try:
            specimen = make_specimen(program, dtype, seed, transform)
        except NoSpecimen as error:
            table.left_out.append(f"{program.name} in {name}: {error}")
            continue
        verdict = judge_with_references(specimen.eager, specimen.other, specimen.references)
        if verdict.is_finding:
            table.called_wrong.append(f"{program.name} in {name}: {verdict.kind}: {verdict.message}")
            continue
        table.programs[name] += 1
        false_alarms = {
            group: alarms(specimen.eager, specimen.other, specimen.references[-1], [group]) for group in GROUPS
        }
        table.false_alarms[name] = Counter(set().union(*false_alarms.values()))
        for group in GROUPS:
            for fault in planned(group):
                rng = random.Random(f"{seed} {program.name} {name} {group}")
                count = _count(specimen, group, fault, rng, draws, false_alarms[group])
                if count.planted:
                    table.rows[RecallRow(fault.name, name, group)] = count
    return table


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _count(
    specimen: Specimen, group: str, fault: Fault, rng: random.Random, draws: int, false_alarms: set[str]
) -> Count:
    count = Count()
    for planted in _plants(specimen, group, fault, rng, draws):
        count.planted += 1
        if fault.eager_pair:
            verdict = judge_rewrite(specimen.eager, planted.observation, None, None, "bitwise")
        else:
            verdict = judge_with_references(specimen.eager, planted.observation, specimen.references)
        is_detected = verdict.is_finding or verdict.kind is VerdictKind.SUSPECT_RULE
        if not is_detected:
            count.missed[_why(verdict)] += 1
        detected = _other_oracles(specimen, planted) | ({JUDGE} if is_detected else set())
        count.detected.update(detected if fault.eager_pair else detected - false_alarms)
    return count


def _plants(specimen: Specimen, group: str, fault: Fault, rng: random.Random, draws: int) -> Iterator[PlantedFault]:
    for _ in range(draws):
        run = specimen.eager if fault.eager_pair else specimen.other
        planted = fault.plant(run, group, specimen.dtype, rng, specimen.eager, specimen.references[-1])
        if planted is None:
            return
        yield planted


def _other_oracles(specimen: Specimen, planted: PlantedFault) -> set[str]:
    """The other oracles that detect the fault: those of values get the faulty leaf, and all detect an exception."""
    if planted.observation.calls[0].raised is not None:
        return set(OTHERS)
    if planted.leaf is None:
        return set()
    group, place = planted.leaf
    path, after = getattr(planted.observation.calls[0], group)[place]
    before = dict(getattr(specimen.eager.calls[0], group)).get(path)
    reference = dict(getattr(specimen.references[-1].calls[0], group)).get(path)
    return alarms_of_leaf(before, after, reference) if isinstance(before, torch.Tensor) else set()


def _why(verdict: Verdict) -> str:
    if verdict.kind is VerdictKind.AGREE:
        return "within the bound, or unstable"
    return verdict.message.rpartition("but ")[2][:80] if verdict.kind is VerdictKind.INCONCLUSIVE else str(verdict.kind)
