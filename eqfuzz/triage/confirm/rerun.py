"""One program of a finding judged again: what each configuration shows, whatever becomes of the process."""

from __future__ import annotations

import dataclasses
from typing import Any

from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.processes.exit_reasons import DEATHS, death_in_words
from eqfuzz.run.processes.pool import Pool


@dataclasses.dataclass(frozen=True)
class Rerun:
    """``shown`` has the verdicts by configuration; a process that died told of the one that it was in, and no more.

    ``rederived`` is the program that was judged, as the child told it, where it was made again from its derivation.
    ``error`` says why eqfuzz could not judge it, where that is so.
    """

    shown: dict[str, Verdict]
    rederived: dict[str, Any] | None = None
    error: str = ""


def trial(pool: Pool, case: Case) -> Rerun:
    """Run a ``case`` whose job is ``compare``. Raises RunnerFailed."""
    shown: dict[str, Verdict] = {}
    stage: dict[str, Any] = {}
    rederived: dict[str, Any] | None = None
    error = ""
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
            case "exit" if event["reason"] == "error":
                error = event["detail"]
            case _:
                pass
    return Rerun(shown, rederived, error)
