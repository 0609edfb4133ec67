"""``eqfuzz reduce``: a finding made smaller while it stays the same finding."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from eqfuzz.campaign.cell import Cell
from eqfuzz.campaign.confirming import Confirmed, Confirming
from eqfuzz.campaign.trial import Trial, case_of, trial
from eqfuzz.campaign.versions import versions
from eqfuzz.judge.verdict import Verdict
from eqfuzz.rewrite.derive import Step
from eqfuzz.run.configs import Config
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.pool import Pool
from eqfuzz.triage.finding import Finding
from eqfuzz.triage.folder import keep
from eqfuzz.triage.reduce.ddmin import ddmin


@dataclasses.dataclass(frozen=True)
class Tried:
    """A subset of the derivation was tried: ``holds`` where it shows the same."""

    steps: int
    holds: bool


class NotReduced(Exception):
    """The finding does not show again; ``str()`` says it in one line."""


def reduce_derivation(finding: Finding, folder: Path, out: Path, tell: Callable[[Tried], None]) -> Confirmed:
    """The finding with the fewest rewrites that show the same, as a finding of its own below ``out``.

    It has two at least; ``folder`` is its own. Every subset is judged on torch's stock path. Raises NotReduced and
    RunnerFailed.
    """
    preload = folder / "preload.py"
    environment = Environment(out.resolve(), preload.resolve() if preload.exists() else None)
    config = Config(**finding.settings)
    case = case_of(finding, config)
    with Pool(environment, Limits(compile_s=case.compile_seconds), jobs=1) as pool:
        found: dict[tuple[Step, ...], Trial] = {}

        def shows_it(steps: tuple[Step, ...]) -> bool:
            found[steps] = trial(pool, dataclasses.replace(case, steps_taken=steps))
            verdict = found[steps].shown.get(config.name)
            holds = verdict is not None and verdict.symptom == finding.verdict.symptom
            tell(Tried(len(steps), holds))
            return holds

        left = ddmin(finding.derivation, shows_it)
        told, verdict = found[left].rederived, found[left].shown.get(config.name)
        if told is None or verdict is None or verdict.symptom != finding.verdict.symptom:
            raise NotReduced("its rewrites, made again one by one, do not show it")
        return _confirmed(Confirming(case, [told], pool, environment, versions()), finding, verdict)


def _confirmed(confirming: Confirming, finding: Finding, verdict: Verdict) -> Confirmed:
    cell = Cell(1, finding.device, finding.config, verdict, 0.0)
    confirmed = confirming.confirm([cell], None)
    if isinstance(confirmed, Verdict):
        raise NotReduced(confirmed.message)
    cells = {**confirmed.finding.cells, "C(P)": finding.cells.get("C(P)", "not run")}
    environment = {**confirmed.finding.environment, "reduced_from": finding.id}
    smaller = dataclasses.replace(confirmed.finding, cells=cells, environment=environment)
    keep(confirmed.folder, smaller)
    return dataclasses.replace(confirmed, finding=smaller)
