"""One job for every rule, in processes that it may kill: common to checks and measurements of the library."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from eqfuzz.mutate.parallel import Ending, run_all
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.job import ChildEvent, JobReply
from eqfuzz.run.messages.rule_jobs import RuleJob
from eqfuzz.run.processes.pool import Pool

A = TypeVar("A", bound=ChildEvent)


def each_rule(
    rules: Sequence[Rule],
    kind: type[RuleJob[A]],
    job_of: Callable[[Rule], RuleJob[A]],
    started: Callable[[int, Rule], None],
    ended: Callable[[int, Rule, JobReply[A]], None],
    *,
    jobs: int,
) -> bool:
    """Run ``job_of`` every rule, a job of this ``kind``; ``ended`` gets the reply.

    The callbacks are called one at a time. Returns whether Ctrl-C ended it early; after that there are no calls. Raises
    RunnerFailed when no process can be started.
    """
    jobs = max(1, min(jobs, len(rules)))
    lock, stop = threading.Lock(), threading.Event()

    def run(index: int, rule: Rule) -> None:
        with lock:
            if stop.is_set():
                return
            started(index, rule)
        reply = pool.ask(job_of(rule))
        with lock:
            if not stop.is_set():  # results after Ctrl-C are of interrupted jobs
                ended(index, rule, reply)

    # The processes are kept and take one rule after another: Dynamo's first trace costs as much as ten proofs.
    with (
        tempfile.TemporaryDirectory(prefix="eqfuzz-rules-") as folder,
        Pool(Environment(Path(folder)), Limits(), runner="spawn", jobs=jobs, target=kind.TARGET, warm=False) as pool,
    ):
        calls = (partial(run, i, r) for i, r in enumerate(rules))
        return run_all(pool, calls, stop, jobs=jobs) is Ending.INTERRUPTED
