"""Eager runs with kernels of different vector widths: correct runs, between which the oracle must find no error."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Mapping
from itertools import combinations

from eqfuzz.oracle.calibration.baseline_oracles import alarms as alarms_of
from eqfuzz.oracle.calibration.specimens import (
    DTYPES,
    NoSpecimen,
    Specimen,
    State,
    initial_state,
    judge_with_references,
    make_specimen,
)
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.program.program import Program

CAPABILITIES = ("default", "avx2", "avx512")
"""Values of the environment variable ATEN_CPU_CAPABILITY."""


@dataclasses.dataclass(frozen=True)
class EagerRuns:
    """A program's eager runs with the kernels of one process, by dtype, and what its modules began with."""

    observations: dict[str, Observation]
    state: State


def observed(program: Program, seed: int, state: State = None) -> EagerRuns:
    """Eager runs with this process's kernels in every dtype that the program supports; modules begin with ``state``."""
    if state is None:
        with contextlib.suppress(NoSpecimen):
            state = initial_state(program)
    specimens = _specimens(program, seed, state)
    return EagerRuns({str(specimen.dtype): specimen.eager for specimen in specimens}, state)


def compared(program: Program, seed: int, runs: Mapping[str, EagerRuns]) -> tuple[list[Verdict], Counter[str]]:
    """The verdict on each pair of ``runs`` (by capability), dtype by dtype; the alarms of the other oracles on them."""
    verdicts: list[Verdict] = []
    alarms: Counter[str] = Counter()
    state = next((run.state for run in runs.values()), None)
    for specimen in _specimens(program, seed, state):
        name = str(specimen.dtype)
        of_dtype = [run.observations[name] for run in runs.values() if name in run.observations]
        for pair in combinations(of_dtype, 2):
            verdicts.append(judge_with_references(*pair, specimen.references))
            alarms.update(alarms_of(*pair, specimen.references[-1]))
    return verdicts, alarms


def _specimens(program: Program, seed: int, state: State) -> list[Specimen]:
    specimens = []
    for dtype in DTYPES:
        with contextlib.suppress(NoSpecimen):
            specimens.append(make_specimen(program, dtype, seed, state=state))
    return specimens
