"""Eager against eager on CPUs of another vector width: two correct runs, which the judge must not tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations

from eqfuzz.oracle.calibration.baseline_oracles import alarms as alarms_of
from eqfuzz.oracle.calibration.specimens import DTYPES, NoSpecimen, Specimen, subject
from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.program.program import Program

CAPABILITIES = ("default", "avx2", "avx512")
"""Values of ATEN_CPU_CAPABILITY."""


def observed(program: Program, seed: int) -> dict[str, Observation]:
    """The program's eager run in every dtype that it runs in, by the dtype's name, as this process's kernels do it."""
    return {str(made.dtype): made.eager for made in _subjects(program, seed)}


def compared(
    program: Program, seed: int, runs: Mapping[str, Mapping[str, Observation]]
) -> tuple[list[Verdict], Counter[str]]:
    """The verdict on each pair of ``runs`` (by capability, then dtype); the alarms of the other oracles on them."""
    verdicts: list[Verdict] = []
    alarms: Counter[str] = Counter()
    for made in _subjects(program, seed):
        for first, second in combinations([runs[name] for name in runs if str(made.dtype) in runs[name]], 2):
            pair = first[str(made.dtype)], second[str(made.dtype)]
            verdict = judge_compiled(*pair, None)
            for known in made.references:
                if verdict.kind is not VerdictKind.AGREE:
                    verdict = judge_compiled(*pair, known)
            verdicts.append(verdict)
            alarms.update(alarms_of(*pair, made.references[-1]))
    return verdicts, alarms


def _subjects(program: Program, seed: int) -> list[Specimen]:
    found = []
    for dtype in DTYPES:
        try:
            found.append(subject(program, dtype, seed))
        except NoSpecimen:
            continue
    return found
