"""From cells that show a defect to a finding: written down, run again in a fresh process, and localised."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from eqfuzz.campaign.cell import Cell
from eqfuzz.campaign.trial import trial
from eqfuzz.judge.verdict import Kind, Verdict
from eqfuzz.rewrite.derive import Step
from eqfuzz.run.case import Case
from eqfuzz.run.configs import Config
from eqfuzz.run.environment import Environment
from eqfuzz.run.pool import Pool
from eqfuzz.triage.finding import Finding, finding_id
from eqfuzz.triage.folder import flaky_folder, keep, read_finding, write_folder
from eqfuzz.triage.replay import STILL_FAILING, replay
from eqfuzz.triage.reproducer import Described, write_reproducer
from eqfuzz.triage.stage import LADDER, Ablation


@dataclasses.dataclass(frozen=True)
class Confirmed:
    """A finding and its folder; ``known`` when an earlier run had already written it."""

    finding: Finding
    folder: Path
    known: bool


class Confirming:
    """Makes findings of the cells of one ``case``, whose variants are as the case told them."""

    def __init__(
        self,
        case: Case,
        variants: Sequence[dict[str, Any]],
        pool: Pool,
        environment: Environment,
        versions: dict[str, str],
    ) -> None:
        self._case = case
        self._variants = variants
        self._pool = pool
        self._environment = environment
        self._versions = versions

    def confirm(self, cells: Sequence[Cell], original: Cell | None) -> Confirmed | Verdict:
        """A finding whose reproducer fails in a fresh process, or the verdict that takes its place.

        ``cells`` show the same, ``original`` is the seed's own cell beside them.
        """
        cell = cells[0]
        config = next(c for c in self._case.configs if c.name == cell.config)
        finding = self._finding(cell, config, original, len(cells) - 1)
        described = self._describe(finding)
        if isinstance(described, str):
            return Verdict(Kind.INCONCLUSIVE, f"no stand-alone reproducer: {described}; {cell.verdict.message}")
        preload = self._environment.preload
        findings = self._environment.out / "findings"
        known = (findings / finding.id).exists()
        text = write_reproducer(finding, config, described, preload is not None)
        folder = write_folder(findings, finding, text, preload)
        outcome = replay(folder, environment=self._replay_variables())
        if outcome.status == STILL_FAILING:
            suspects, shown = self._suspects(finding, config), self._ablation(finding, config)
            blame = read_finding(folder).blame  # an earlier run's finding may have been blamed since
            finding = dataclasses.replace(finding, suspects=suspects, ablation=shown, blame=blame)
            keep(folder, finding)
            return Confirmed(finding, folder, known)
        (folder / "replay.txt").write_text(f"{outcome.status}\n{outcome.output}", encoding="utf-8")
        kept = flaky_folder(folder)
        return Verdict(Kind.FLAKY, f"does not reproduce in a fresh process ({kept}): {cell.verdict.message}")

    def _finding(self, cell: Cell, config: Config, first: Cell | None, also: int) -> Finding:
        original = self._case.program
        told = self._variants[cell.variant - 1] if cell.variant else None
        transformed = original.with_source(told["source"]) if told else original
        steps = tuple(Step(**step) for step in told["derivation"]) if told else ()
        settings = config.model_dump(exclude_defaults=True)
        preload = self._environment.cache_dir().name
        identifier = finding_id(original, transformed, cell.verdict, cell.device, settings, preload)
        shown = {"P": "runs", "C(P)": str(first.verdict.kind) if first is not None else "not run"}
        if told:
            shown |= {"P'": f"equals P ({told['exactness']})", "C(P')": str(cell.verdict.kind)}
        return Finding(
            id=identifier,
            original=original,
            transformed=transformed,
            derivation=steps,
            verdict=cell.verdict,
            device=cell.device,
            config=cell.config,
            settings=settings,
            cells=shown,
            also=also,
            environment={
                **self._versions,
                "platform": platform.platform(),
                "seed": self._case.seed,
                "compile_seconds": self._case.compile_seconds,
                "input_sets": self._case.input_sets,
                "steps": self._case.steps,
                "checks": list(self._case.checks),
            },
        )

    def _describe(self, finding: Finding) -> Described | str:
        """The calls up to the finding's as source, from a child of their own, or why there is none."""
        for event in self._pool.run(self._about(finding, "describe").to_json()):
            if event["event"] == "described":
                if event["problem"]:
                    return event["problem"]
                changes = tuple((label, before, within) for label, before, within in event["changes"])
                return Described(event["calls"], event["state"], event["packs"], changes, tuple(event["globals"]))
            if event["event"] == "exit":
                return f"its inputs could not be read again: {event['detail']}"
        return "its inputs could not be read again"

    def _suspects(self, finding: Finding, config: Config) -> tuple[str, ...]:
        """The operators that are wrong by themselves, in words; none where the audit did not come through."""
        wrong = finding.verdict.kind in (Kind.WRONG_RESULT, Kind.WRONG_GRADIENT, Kind.WRONG_SIDE_EFFECT)
        if "audit" not in self._case.checks or not wrong or finding.device != "cpu" or config.backend != "inductor":
            return ()
        case = dataclasses.replace(self._about(finding, "audit"), configs=(config,))
        told = [event for event in self._pool.run(case.to_json()) if event["event"] == "audited"]
        return tuple(told[-1]["suspects"]) if told else ()

    def _ablation(self, finding: Finding, config: Config) -> Ablation | None:
        """What the backends before the finding's own show on its calls."""
        below = LADDER[: LADDER.index(config.backend)] if config.backend in LADDER else LADDER
        if "stage" not in self._case.checks:
            return None
        changes = {"mode": None, "options": {}, "inductor": {}}
        configs = tuple(config.model_copy(update={"name": name, "backend": name, **changes}) for name in below)
        case = dataclasses.replace(self._about(finding, "compare"), configs=configs, devices=(finding.device,))
        shown = trial(self._pool, case).shown if below else {}
        return Ablation(str(finding.verdict.kind), config.backend, {k: str(v.kind) for k, v in shown.items()})

    def _about(self, finding: Finding, job: Literal["describe", "audit", "compare"]) -> Case:
        """A case that looks at the finding's program on the calls up to the finding's."""
        evidence = finding.verdict.evidence
        return dataclasses.replace(
            self._case,
            job=job,
            transformed=finding.transformed.source if finding.derivation else "",
            described=evidence.call + 1 if evidence is not None else 0,
        )

    def _replay_variables(self) -> dict[str, str]:
        """The stock environment: the run's temp folder only for the precompiled header's sake."""
        variables = self._environment.variables(cuda="cuda" in self._case.devices)
        variables.pop("OMP_NUM_THREADS", None)
        return variables
