"""Behind ``eqfuzz rules explain``: one seed studied in a child, one rule explained on it."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

from eqfuzz.mutate.seed_run import InternalError
from eqfuzz.program.formats import read_program
from eqfuzz.program.program import InvalidSeed, Program
from eqfuzz.rewrite.derivation import RewriteStep
from eqfuzz.rewrite.explanation import Explanation, Miss, RuleMatch
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.run.environment import Environment
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.limits import Limits
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
    limits = Limits()
    shown = tuple(p.absolute() for p in rules_from)
    case = Case(
        program=program,
        seed=seed,
        rules=(rule.name,),
        strategy="each",
        depth=1,
        variants=0,
        devices=(),
        configs=(),
        load_seconds=limits.load_s,
        eager_seconds=limits.eager_s,
        compile_seconds=limits.compile_s,
        rules_from=tuple(map(str, shown)),
        job="explain",
    )
    with (
        tempfile.TemporaryDirectory(prefix="eqfuzz-explain-") as folder,
        Pool(Environment(Path(folder), shown=shown), limits, jobs=1, warm=False) as pool,
    ):
        return RuleExplanation(rule, program, _explanation(pool, case))


def _explanation(pool: Pool, case: Case) -> Explanation:
    name = case.program.name
    told: Explanation | None = None
    stage = "start"
    for event in pool.run(case.to_json()):
        match event["event"]:
            case "stage":
                stage = event["stage"]
            case "invalid":
                raise InvalidSeed(name, event["reason"], event["line"])
            case "explained":
                matches = tuple(RuleMatch(RewriteStep(**m["step"]), m["source"]) for m in event["matches"])
                told = Explanation(matches, tuple(Miss(**m) for m in event["misses"]), event["looked_at"])
            case "exit" if event["reason"] == "error" and not case.program.untrusted:
                raise InternalError(f"{name}: {event['detail']}", event["output"])
            case "exit" if event["reason"] != "done":
                raise InvalidSeed(name, death_in_words(stage, event["reason"], event["detail"]))
    if told is None:
        raise InternalError(f"{name}: the runner ended without an explanation", "")
    return told
