"""Eager runs with kernels of different vector widths: correct runs, between which the oracle must find no error."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping
from itertools import combinations

from eqfuzz.oracle.calibration.baseline_oracles import alarms as alarms_of
from eqfuzz.oracle.calibration.specimens import DTYPES, NoSpecimen, Specimen, judge_with_references, make_specimen
from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.program.program import Program

CAPABILITIES = ("default", "avx2", "avx512")
"""Values of the environment variable ATEN_CPU_CAPABILITY."""


def observed(program: Program, seed: int) -> dict[str, Observation]:
    """The program's eager run with this process's kernels in every dtype that it supports, by the dtype's name."""
    return {str(specimen.dtype): specimen.eager for specimen in _specimens(program, seed)}


def compared(
    program: Program, seed: int, runs: Mapping[str, Mapping[str, Observation]]
) -> tuple[list[Verdict], Counter[str]]:
    """The verdict on each pair of ``runs`` (by capability, then dtype); the alarms of the other oracles on them."""
    verdicts: list[Verdict] = []
    alarms: Counter[str] = Counter()
    for specimen in _specimens(program, seed):
        name = str(specimen.dtype)
        for first, second in combinations([run for run in runs.values() if name in run], 2):
            pair = first[name], second[name]
            verdicts.append(judge_with_references(*pair, specimen.references))
            alarms.update(alarms_of(*pair, specimen.references[-1]))
    return verdicts, alarms


def _specimens(program: Program, seed: int) -> list[Specimen]:
    specimens = []
    for dtype in DTYPES:
        with contextlib.suppress(NoSpecimen):
            specimens.append(make_specimen(program, dtype, seed))
    return specimens
