"""One program of a finding judged again: what each configuration shows, whatever becomes of the process."""

from __future__ import annotations

import dataclasses
from typing import Any

from eqfuzz.judge.checks import DEFAULT_CHECKS
from eqfuzz.judge.verdict import Verdict
from eqfuzz.run.case import Case
from eqfuzz.run.configs import Config
from eqfuzz.run.deaths import DEATHS, death_in_words
from eqfuzz.run.limits import Limits
from eqfuzz.run.pool import Pool
from eqfuzz.triage.finding import Finding


@dataclasses.dataclass(frozen=True)
class Trial:
    """``shown`` has the verdicts by configuration; a process that died told of the one that it was in, and no more.

    ``rederived`` is the program that was judged, as the child told it, where it was made again from its derivation.
    """

    shown: dict[str, Verdict]
    rederived: dict[str, Any] | None = None


def trial(pool: Pool, case: Case) -> Trial:
    """Run a ``case`` whose job is ``compare``. Raises RunnerFailed."""
    shown: dict[str, Verdict] = {}
    stage: dict[str, Any] = {}
    rederived: dict[str, Any] | None = None
    for event in pool.run(case.to_json()):
        match event["event"]:
            case "cell" if event["config"]:
                shown[event["config"]] = Verdict.from_json(event["verdict"])
            case "rederived":
                rederived = event
            case "stage":
                stage = event
            case "exit" if event["reason"] in DEATHS and stage.get("stage") == "compile":
                words = death_in_words("compile", event["reason"], event["detail"])
                shown[stage["config"]] = Verdict(DEATHS[event["reason"]], words)
            case _:
                pass
    return Trial(shown, rederived)


def case_of(finding: Finding, config: Config) -> Case:
    """What the finding's run asked of its child, as far as the finding tells, as a job to compare under ``config``.

    It is about the program that shows the finding, unless ``steps_taken`` are put in.
    """
    made: dict[str, Any] = finding.environment
    evidence = finding.verdict.evidence
    limits = Limits()
    return Case(
        program=finding.original,
        seed=made.get("seed", 0),
        rules=(),
        strategy="none",
        depth=1,
        variants=0,
        devices=(finding.device,),
        configs=(config,),
        load_seconds=limits.load_s,
        eager_seconds=limits.eager_s,
        compile_seconds=made.get("compile_seconds", limits.compile_s),
        checks=tuple(made.get("checks", DEFAULT_CHECKS)),
        steps=made.get("steps", 1),
        input_sets=made.get("input_sets", 0),
        job="compare",
        transformed=finding.transformed.source if finding.derivation else "",
        described=evidence.call + 1 if evidence is not None else 0,
    )
