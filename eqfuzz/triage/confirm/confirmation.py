"""Confirmation: turns cells with a symptom into a finding, if its reproducer fails in a fresh process."""

from __future__ import annotations

import dataclasses
import platform
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.run.configs.named import Config
from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.seed_jobs import RunJob, VariantRecord
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.confirm.cell import Cell
from eqfuzz.triage.confirm.replay import FIXED, STILL_FAILING
from eqfuzz.triage.confirm.reproduction import NoReproducer, ReproducerWriter
from eqfuzz.triage.findings.finding import FORK, Finding, finding_id, original_outcome
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.folder import flaky_folder, read_finding, update_finding, write_folder
from eqfuzz.triage.locate.analysis import FindingAnalyser
from eqfuzz.triage.reproducer.script_files import ReproducerScript


@dataclasses.dataclass(frozen=True)
class ConfirmedFinding:
    """A finding and its folder; ``known`` when an earlier run had already written it."""

    finding: Finding
    folder: Path
    known: bool


class FindingConfirmer:
    """Turns cells of one ``job`` into findings; ``variants`` are those of the job.

    ``is_confirmed`` says of a finding, before and after it is located, whether its defect was confirmed before: then
    that compiled cells were judged twice is enough, the second time in a clean fork on torch's stock path.
    """

    def __init__(
        self,
        job: RunJob,
        variants: Sequence[VariantRecord],
        pool: Pool,
        environment: Environment,
        versions: dict[str, str],
        is_confirmed: Callable[[Finding], bool] | None = None,
    ) -> None:
        self._job = job
        self._variants = variants
        self._pool = pool
        self._environment = environment
        self._versions = versions
        self._is_confirmed = is_confirmed
        self._reproducing = ReproducerWriter(pool, environment)
        self._localising = FindingAnalyser(pool)

    def confirm(self, cells: Sequence[Cell], original: Cell | None) -> ConfirmedFinding | Verdict:
        """A finding whose reproducer fails in a fresh process, or the verdict that replaces it.

        ``cells`` have the same symptom; ``original`` is the cell of the unchanged seed with the same configuration.
        Raises RunnerFailed once the pool is closed.
        """
        cell = cells[0]
        config = next(c for c in self._job.configs if c.name == cell.config)
        finding = self._finding(cell, config, original, len(cells) - 1)
        findings = self._environment.out / "findings"
        is_known = (findings / finding.id).exists()
        if is_known:
            folder = findings / finding.id
            # An earlier run's, which may be reduced by now, or blamed; its seed may have had another name.
            finding = read_finding(folder).for_seed(self._job.program.name)
            scripts = [ReproducerScript.read(folder)]
        else:
            finding = self._repeated(finding)
            try:
                scripts = self._reproducing.scripts(finding)
            except NoReproducer as error:
                return Verdict(VerdictKind.INCONCLUSIVE, f"no stand-alone reproducer: {error}; {cell.verdict.in_words}")
            folder = write_folder(findings, finding, scripts[0], self._environment.preload)
        if finding.confirmation == FORK:
            return ConfirmedFinding(finding, folder, is_known)
        try:
            outcome = self._reproducing.first_failing(finding, folder, scripts)
        except RunnerFailed:
            if not is_known:
                shutil.rmtree(folder, ignore_errors=True)  # it is not confirmed
            raise
        if outcome.status == STILL_FAILING:
            finding = self._localising.look(finding)
            update_finding(folder, finding)
            return ConfirmedFinding(finding, folder, is_known)
        if cell.verdict.kind is VerdictKind.HANG and outcome.status == FIXED and not is_known:
            shutil.rmtree(folder, ignore_errors=True)
            return Verdict(VerdictKind.INCONCLUSIVE, f"{cell.verdict.message}, but in a fresh process it ends")
        (folder / "replay.txt").write_text(f"{outcome.status}\n{outcome.output}", encoding="utf-8")
        flaky = flaky_folder(folder)
        ended = "does not reproduce" if outcome.status == FIXED else "cannot be confirmed"
        words = f"{ended} in a fresh process, {outcome.cause} ({flaky}): {cell.verdict.in_words}"
        return Verdict(VerdictKind.FLAKY, words, cause=outcome.cause)

    def _repeated(self, finding: Finding) -> Finding:
        """The finding, marked and located as far as that was necessary where its defect was confirmed before."""
        if self._is_confirmed is None or finding.original.untrusted:
            return finding
        if not self._is_confirmed(finding):
            finding = self._localising.locate(finding)
            if not self._is_confirmed(finding):
                return finding
        return dataclasses.replace(finding, confirmation=FORK)

    def _finding(self, cell: Cell, config: Config, first: Cell | None, also: int) -> Finding:
        original = self._job.program
        record = self._variants[cell.variant - 1] if cell.variant else None
        transformed = original.with_source(record.source) if record is not None else original
        steps = record.derivation if record is not None else ()
        settings = config.model_dump(exclude_defaults=True)
        preload = self._environment.cache_dir().name
        identifier = finding_id(original, transformed, cell.verdict, cell.device, settings, preload)
        compiled = original_outcome(cell.verdict, first.verdict if first is not None else None)
        cells = {"P": cell.verdict.eager_outcome, "C(P)": compiled}
        if record is not None:
            cells |= {"P'": f"equals P ({record.exactness})", "C(P')": str(cell.verdict.kind)}
        return Finding(
            id=identifier,
            original=original,
            transformed=transformed,
            derivation=steps,
            verdict=cell.verdict,
            device=cell.device,
            config=cell.config,
            settings=settings,
            cells=cells,
            also=also,
            environment=FindingEnvironment(
                platform=platform.platform(),
                seed=self._job.seed,
                compile_seconds=self._job.limits.compile_s,
                input_sets=self._job.input_sets,
                steps=self._job.steps_under(cell.config),
                checks=self._job.checks,
                rules_from=self._job.rules_from,
                **self._versions,
            ),
        )
