"""Reproducers of findings: writes them from a child's description and runs them in fresh processes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.program.policy import first_violation
from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.finding_jobs import DescribeJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.sandbox.launcher import runs_without
from eqfuzz.triage.confirm.finding_cases import config_of, job_about
from eqfuzz.triage.confirm.replay import ERROR, FIXED, STILL_FAILING, ReplayOutcome, replay
from eqfuzz.triage.confirm.sandboxed_confirmation import differ_in_sandboxes
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.reproducer.script import write_reproducer
from eqfuzz.triage.reproducer.script_files import ReproducerScript
from eqfuzz.triage.reproducer.short import short_reproducer
from eqfuzz.triage.reproducer.source_description import SourceDescription


class NoReproducer(Exception):
    """The inputs have no form as source; ``str()`` is one line."""


def require_plain(finding: Finding, described: SourceDescription) -> None:
    """Raises NoReproducer where a sandbox's description of an untrusted program violates the policy."""
    pieces = [described.calls and "def calls():\n" + textwrap.indent(described.calls, "    "), described.state or ""]
    pieces += [text for change in described.changes for text in change[1:]]
    pieces.append(finding.path.removeprefix("second ").removeprefix("gradient of ").removesuffix(" after the call"))
    for piece in pieces:
        try:
            violation = first_violation(piece.strip(), modules=_IMPORTED) if piece not in _OUR_PATHS else None
        except (SyntaxError, ValueError):
            raise NoReproducer("the description from the sandbox is not Python") from None
        if violation is not None:
            raise NoReproducer(f"policy: {violation.reason} in the description from the sandbox")


_IMPORTED = ("collections", "torch", "types")
"""Modules that a script imports itself."""

_OUR_PATHS = frozenset({"", "printed", "warned", "random.getstate()", "repr(numpy.random.get_state())"})


class ReproducerWriter:
    """Writes and runs the reproducers of a run's findings."""

    def __init__(self, pool: Pool, environment: Environment) -> None:
        self._pool = pool
        self._environment = environment

    def scripts(self, finding: Finding) -> list[ReproducerScript]:
        """Variants of the script, the most readable first, the most complete last. Raises NoReproducer."""
        if finding.verdict.oracle and self._is_sandboxed(finding):
            raise NoReproducer(f"the oracle {finding.verdict.oracle} has to be asked in the sandbox, which is no proof")
        described = self._described(finding)
        preload = self._environment.preload
        about = finding, config_of(finding), described, preload.read_text() if preload is not None else None
        if finding.original.untrusted:
            require_plain(finding, described)
        short = short_reproducer(*about)
        return [*([ReproducerScript(short)] if short is not None else []), write_reproducer(*about)]

    def first_failing(self, finding: Finding, folder: Path, scripts: Sequence[ReproducerScript]) -> ReplayOutcome:
        """Write the first of ``scripts`` that fails in a fresh process into ``folder``, or the last one that was run.

        For an untrusted program, values from two sandboxes must confirm the exit status. Raises NoReproducer, and
        RunnerFailed once the pool is closed.
        """
        outcome = ReplayOutcome(ERROR, "there is no script", "there is no script")
        for script in scripts:
            script.write(folder)
            outcome = self._run(finding, folder)
            if outcome.status == STILL_FAILING or (
                finding.verdict.kind is VerdictKind.HANG and outcome.status == FIXED
            ):
                break  # a program that is slow ends in every script, each time after many seconds
        if outcome.status != STILL_FAILING or not self._is_sandboxed(finding):
            return outcome
        if not self._is_confirmed_in_sandboxes(finding):
            words = "only its own script says so: eager and compiled agree when another process compares them"
            return ReplayOutcome(ERROR, f"{outcome.output}\n{words}", "only its own script says so")
        return outcome

    def _is_sandboxed(self, finding: Finding) -> bool:
        return finding.original.untrusted and not runs_without(self._environment)

    def _is_confirmed_in_sandboxes(self, finding: Finding) -> bool:
        described = self._described(finding)
        require_plain(finding, described)
        return differ_in_sandboxes(
            finding, config_of(finding), described, self._environment.preload, self._variables(finding)
        )

    def _run(self, finding: Finding, folder: Path) -> ReplayOutcome:
        """Run ``folder/repro.py`` in a fresh process, in the stock environment."""
        return replay(
            folder,
            environment=self._variables(finding),
            untrusted=self._is_sandboxed(finding),
            closing=self._pool.closing,
        )

    def _variables(self, finding: Finding) -> dict[str, str]:
        if self._is_sandboxed(finding):
            return dict(self._environment.extra)
        variables = self._environment.variables(cuda=finding.device == "cuda")
        variables.pop("OMP_NUM_THREADS", None)
        return variables

    def _described(self, finding: Finding) -> SourceDescription:
        """The calls up to the failing one as source, from a child. Raises NoReproducer."""
        reply = self._pool.ask(job_about(DescribeJob, finding))
        if reply.answer is None:
            raise NoReproducer(f"its inputs could not be read again: {reply.exit.detail}")
        if reply.answer.problem:
            raise NoReproducer(reply.answer.problem)
        return SourceDescription.of(reply.answer)
