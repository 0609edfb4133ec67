"""The stand-alone reproducer of a finding: written from a child's description, and run in a fresh process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eqfuzz.campaign.about import case_about, config_of
from eqfuzz.run.case import Case
from eqfuzz.run.environment import Environment
from eqfuzz.run.pool import Pool
from eqfuzz.triage.finding import Finding
from eqfuzz.triage.replay import ERROR, STILL_FAILING, Outcome, replay
from eqfuzz.triage.reproducer import Described, write_reproducer
from eqfuzz.triage.short_reproducer import short_reproducer


class NoReproducer(Exception):
    """What the program is given has no form as source; ``str()`` says why in one line."""


class Reproducing:
    """Writes and runs the reproducers of a run's findings."""

    def __init__(self, pool: Pool, environment: Environment) -> None:
        self._pool = pool
        self._environment = environment

    def scripts(self, finding: Finding) -> list[str]:
        """Texts of the script, the most readable first, the one that misses nothing last. Raises NoReproducer."""
        described = self._described(case_about(finding, "describe"))
        about = finding, config_of(finding), described, self._environment.preload is not None
        short = short_reproducer(*about)
        return [*([short] if short is not None else []), write_reproducer(*about)]

    def first_failing(self, finding: Finding, folder: Path, scripts: Sequence[str]) -> Outcome:
        """Leave the first of ``scripts`` that fails in a fresh process as ``folder/repro.py``, else the last."""
        outcome = Outcome(ERROR, "there is no script")
        for script in scripts:
            (folder / "repro.py").write_text(script, encoding="utf-8")
            outcome = self._run(finding, folder)
            if outcome.status == STILL_FAILING:
                break
        return outcome

    def _run(self, finding: Finding, folder: Path) -> Outcome:
        """What ``folder/repro.py`` does in a fresh process, in the stock environment."""
        variables = self._environment.variables(cuda=finding.device == "cuda")
        variables.pop("OMP_NUM_THREADS", None)
        return replay(folder, environment=variables)

    def _described(self, case: Case) -> Described:
        """The calls up to the finding's as source, from a child of their own."""
        for event in self._pool.run(case.to_json()):
            if event["event"] == "described":
                if event["problem"]:
                    raise NoReproducer(event["problem"])
                changes = tuple((label, before, within) for label, before, within in event["changes"])
                return Described(event["calls"], event["state"], event["packs"], changes, tuple(event["globals"]))
            if event["event"] == "exit":
                raise NoReproducer(f"its inputs could not be read again: {event['detail']}")
        raise NoReproducer("its inputs could not be read again")
