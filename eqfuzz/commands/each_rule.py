"""Every rule once, in processes that it may kill: what checks and measurements of the library have in common."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from eqfuzz.mutate.parallel import all_through
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool


def each_rule(
    rules: Sequence[Rule],
    target: str,
    job: Mapping[str, Any],
    started: Callable[[int, Rule], None],
    ended: Callable[[int, Rule, list[dict[str, Any]]], None],
    *,
    jobs: int,
) -> bool:
    """Run ``target`` (``module:function``) on ``{"rule": name, **job}`` for every rule; ``ended`` gets its events.

    The callbacks are called one at a time. Returns whether Ctrl-C ended it early; nothing is told after that. Raises
    RunnerFailed when no process can be started.
    """
    jobs = max(1, min(jobs, len(rules)))
    lock, stop = threading.Lock(), threading.Event()

    def run(index: int, rule: Rule) -> None:
        with lock:
            if stop.is_set():
                return
            started(index, rule)
        events = list(pool.run({"rule": rule.name, **job}))
        with lock:
            if not stop.is_set():  # what comes after Ctrl-C was cut off
                ended(index, rule, events)

    # The processes are kept and take one rule after another: Dynamo's first trace costs as much as ten proofs.
    with (
        tempfile.TemporaryDirectory(prefix="eqfuzz-rules-") as folder,
        Pool(Environment(Path(folder)), Limits(), runner="spawn", jobs=jobs, target=target, warm=False) as pool,
    ):
        return all_through(pool, (partial(run, i, r) for i, r in enumerate(rules)), stop, jobs=jobs)
