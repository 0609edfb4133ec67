"""The stand-alone reproducer of a finding: written from a child's description, and run in a fresh process."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.program.policy import first_violation
from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.finding_jobs import DescribeJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.sandbox.launcher import runs_without
from eqfuzz.triage.confirm.finding_cases import config_of, job_about
from eqfuzz.triage.confirm.replay import ERROR, STILL_FAILING, ReplayOutcome, replay
from eqfuzz.triage.confirm.sandboxed_confirmation import shows_outside
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.script import SourceDescription, write_reproducer
from eqfuzz.triage.reproducer.short import short_reproducer


class NoReproducer(Exception):
    """What the program is given has no form as source; ``str()`` says why in one line."""


def require_plain(finding: Finding, described: SourceDescription) -> None:
    """Raises NoReproducer where what a sandbox told of an untrusted program has no place in a script."""
    pieces = [described.calls and "def calls():\n" + textwrap.indent(described.calls, "    "), described.state or ""]
    pieces += [text for change in described.changes for text in change[1:]]
    pieces.append(finding.path.removeprefix("second ").removeprefix("gradient of ").removesuffix(" after the call"))
    for piece in pieces:
        try:
            violation = first_violation(piece.strip(), modules=_IMPORTED) if piece not in _OUR_PATHS else None
        except (SyntaxError, ValueError):
            raise NoReproducer("the sandbox told of what is no Python") from None
        if violation is not None:
            raise NoReproducer(f"policy: {violation.reason} in what the sandbox told")


_IMPORTED = ("collections", "torch", "types")
"""What a script may use without importing it anew."""

_OUR_PATHS = frozenset({"", "printed", "warned", "random.getstate()", "repr(numpy.random.get_state())"})


class ReproducerWriter:
    """Writes and runs the reproducers of a run's findings."""

    def __init__(self, pool: Pool, environment: Environment) -> None:
        self._pool = pool
        self._environment = environment

    def scripts(self, finding: Finding) -> list[str]:
        """Texts of the script, the most readable first, the one that misses nothing last. Raises NoReproducer."""
        described = self._described(finding)
        about = finding, config_of(finding), described, self._environment.preload is not None
        if finding.original.untrusted:
            require_plain(finding, described)
        short = short_reproducer(*about)
        return [*([short] if short is not None else []), write_reproducer(*about)]

    def first_failing(self, finding: Finding, folder: Path, scripts: Sequence[str]) -> ReplayOutcome:
        """Leave the first of ``scripts`` that fails in a fresh process as ``folder/repro.py``, else the last.

        Of an untrusted program the script's word is not enough: the same must show from outside. Raises NoReproducer.
        """
        outcome = ReplayOutcome(ERROR, "there is no script", "there is no script")
        for script in scripts:
            (folder / "repro.py").write_text(script, encoding="utf-8")
            outcome = self._run(finding, folder)
            if outcome.status == STILL_FAILING:
                break
        if outcome.status == STILL_FAILING and self._is_shut_in(finding) and not self._shows_outside(finding):
            words = "only its own script says so: judged from outside it does not show"
            return ReplayOutcome(ERROR, f"{outcome.output}\n{words}", "only its own script says so")
        return outcome

    def _is_shut_in(self, finding: Finding) -> bool:
        return finding.original.untrusted and not runs_without(self._environment)

    def _shows_outside(self, finding: Finding) -> bool:
        described = self._described(finding)
        require_plain(finding, described)
        return shows_outside(
            finding, config_of(finding), described, self._environment.preload, self._variables(finding)
        )

    def _run(self, finding: Finding, folder: Path) -> ReplayOutcome:
        """What ``folder/repro.py`` does in a fresh process, in the stock environment."""
        return replay(folder, environment=self._variables(finding), untrusted=self._is_shut_in(finding))

    def _variables(self, finding: Finding) -> dict[str, str]:
        if self._is_shut_in(finding):
            return dict(self._environment.extra)
        variables = self._environment.variables(cuda=finding.device == "cuda")
        variables.pop("OMP_NUM_THREADS", None)
        return variables

    def _described(self, finding: Finding) -> SourceDescription:
        """The calls up to the finding's as source, from a child of their own. Raises NoReproducer."""
        reply = self._pool.ask(job_about(DescribeJob, finding))
        if reply.answer is None:
            raise NoReproducer(f"its inputs could not be read again: {reply.exit.detail}")
        if reply.answer.problem:
            raise NoReproducer(reply.answer.problem)
        return SourceDescription.of(reply.answer)
