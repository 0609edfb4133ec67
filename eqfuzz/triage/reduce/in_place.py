"""``eqfuzz reduce``: reduces a finding, confirms the result and replaces the finding in its folder."""

from __future__ import annotations

import dataclasses
import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from eqfuzz.atomic_file import write_atomically
from eqfuzz.program.formats import read_program
from eqfuzz.run.environment import Environment
from eqfuzz.triage.confirm.finding_cases import pool_for
from eqfuzz.triage.confirm.replay import STILL_FAILING
from eqfuzz.triage.confirm.reproduction import NoReproducer, ReproducerWriter
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.folder import preload_in, put_reduced
from eqfuzz.triage.locate.analysis import FindingAnalyser
from eqfuzz.triage.locate.fault_locator import FaultLocator
from eqfuzz.triage.reduce.finding_reducer import FindingReducer, NotReduced, ReductionTry
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from eqfuzz.triage.reproducer.weights_beside import copy_weights

_RECORD = ".reduction.json"


class InPlaceReduction:
    """Reduces the ``finding`` in ``folder`` below the run folder ``out``, and reports each candidate that was run."""

    def __init__(
        self,
        finding: Finding,
        folder: Path,
        out: Path,
        report: Callable[[ReductionTry], None],
        *,
        seconds: float,
        jobs: int,
    ) -> None:
        self._finding = finding
        self._folder = folder
        self._environment = _environment(folder, out)
        self._report = report
        self._seconds = seconds
        self._jobs = jobs
        self._answers = self._read_answers()

    def run(self) -> Finding:
        """The smaller finding, written to the folder. Raises NotReduced, RunnerFailed and OSError."""
        with pool_for(self._finding, self._environment, jobs=self._jobs) as pool:
            finding = FaultLocator(pool).blamed(self._finding)
            reducing = FindingReducer(
                finding,
                pool,
                seconds=self._seconds,
                jobs=self._jobs,
                report=self._remember,
                answers=self._answers,
            )
            smaller = reducing.smallest()
            suspects = FindingAnalyser(pool).suspects(smaller)
            placed = smaller if smaller.fingerprint else FaultLocator(pool).place(smaller)
            smaller = dataclasses.replace(placed, suspects=suspects)
            reproducing = ReproducerWriter(pool, self._environment)
            try:
                scripts = reproducing.scripts(smaller)
            except NoReproducer as error:
                raise NotReduced(f"the reduced finding has no stand-alone reproducer: {error}") from None
            script = self._failing(reproducing, smaller, scripts)
        put_reduced(self._folder, smaller, script)
        write_interestingness(self._folder)
        (self._folder / _RECORD).unlink(missing_ok=True)
        return smaller

    def _failing(
        self, reproducing: ReproducerWriter, smaller: Finding, scripts: Sequence[ReproducerScript]
    ) -> ReproducerScript:
        with tempfile.TemporaryDirectory(prefix="eqfuzz-reduce-") as name:
            place = Path(name)
            copy_weights(smaller.original, place)
            if self._environment.preload is not None:
                shutil.copyfile(self._environment.preload, place / "preload.py")
            outcome = reproducing.first_failing(smaller, place, scripts)
            script = ReproducerScript.read(place)
        if outcome.status != STILL_FAILING:
            last = (outcome.output.strip().splitlines() or ["nothing"])[-1]
            raise NotReduced(f"the reduced finding does not reproduce in a fresh process ({outcome.status}: {last})")
        return script

    def _remember(self, tried: ReductionTry) -> None:
        write_atomically(self._folder / _RECORD, json.dumps(self._answers))
        self._report(tried)

    def _read_answers(self) -> dict[str, bool]:
        file = self._folder / _RECORD
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def shows_finding(finding: Finding, folder: Path, out: Path, candidate: Path) -> bool:
    """Whether the seed file ``candidate`` has the same ``finding``. Raises InvalidSeed and RunnerFailed."""
    program = read_program(candidate, str(candidate))
    with pool_for(finding, _environment(folder, out)) as pool:
        return FindingReducer(finding, pool, seconds=0).shows_it(program)


def write_interestingness(folder: Path) -> None:
    """Write ``is_interesting``, the test that other reducers (C-Reduce, Shrink Ray) run on a smaller ``variant.py``."""
    script = folder / "is_interesting"
    verb = [sys.executable, "-m", "eqfuzz", "reduce", folder.name, "--out", str(folder.resolve().parent.parent)]
    text = f"""\
#!/bin/sh
# Exit code 0 while variant.py in the current folder, or the file passed, has finding {folder.name}.
# For other reducers: copy variant.py to an empty folder, and pass this script as their test there.
exec {shlex.join(verb)} --candidate "${{1:-variant.py}}"
"""
    script.write_text(text, encoding="utf-8")
    script.chmod(0o755)


def _environment(folder: Path, out: Path) -> Environment:
    return Environment(out.resolve(), preload_in(folder))
