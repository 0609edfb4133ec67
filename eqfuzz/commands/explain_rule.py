"""Behind ``eqfuzz rules explain``: one seed studied in a child, one rule explained on it."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.rewrite.rule_match import Explanation
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.seed_jobs import ExplainJob
from eqfuzz.run.processes.exit_reasons import death_in_words
from eqfuzz.run.processes.pool import Pool


@dataclasses.dataclass(frozen=True)
class RuleExplanation:
    """What a rule makes of a seed."""

    rule: Rule
    program: Program
    explanation: Explanation


def explain(rule: Rule, path: Path, *, seed: int, rules_from: tuple[Path, ...] = ()) -> RuleExplanation:
    """Run the seed at ``path`` in a child with limits and say where ``rule`` applies in it, and why not elsewhere.

    ``seed`` decides the inputs that the facts are taken on. Raises InvalidSeed, RunnerFailed, and InternalError.
    """
    program = read_program(path, str(path))
    paths = tuple(p.absolute() for p in rules_from)
    job = ExplainJob(program=program, seed=seed, rule=rule.name, rules_from=tuple(map(str, paths)))
    with (
        tempfile.TemporaryDirectory(prefix="eqfuzz-explain-") as folder,
        Pool(Environment(Path(folder), shown=paths), Limits(), jobs=1, warm=False) as pool,
    ):
        return RuleExplanation(rule, program, _explanation(pool, job))


def _explanation(pool: Pool, job: ExplainJob) -> Explanation:
    name = job.program.name
    reply = pool.ask(job)
    if reply.invalid is not None:
        raise InvalidSeed(name, reply.invalid.reason, reply.invalid.line)
    if reply.exit.reason == "error" and not job.program.untrusted:
        raise InternalError(f"{name}: {reply.exit.detail}", reply.exit.output)
    if reply.exit.reason != "done":
        raise InvalidSeed(name, death_in_words(reply.stage, reply.exit.reason, reply.exit.detail))
    if reply.answer is None:
        raise InternalError(f"{name}: the child ended without an explanation", "")
    return reply.answer.explanation
