"""Several threads for a cell: eager, what bounds its errors and what is compiled have the same number of them.

Forks do not have the threads of the process that they come from, and wait for them for ever. So no process is forked
once it has been here: a cell comes first in its own fork, or last in a process that forks nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from eqfuzz.oracle.compare.eager_judge import judge_self
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.processes.cpu_affinity import unpinned

EAGER_RUNS = 4
"""Runs in eager that must not differ: what is the same each time with one thread may depend on which comes first."""


@contextlib.contextmanager
def several_threads(count: int) -> Iterator[None]:
    """Let torch use ``count`` threads in this process, on all its cores; nothing changes where that is 1."""
    if count == 1:
        yield
        return
    before = torch.get_num_threads()
    with unpinned():
        torch.set_num_threads(count)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def observed_again(subject: LoadedVariant) -> tuple[LoadedVariant, str, str]:
    """``subject`` as eager and its reference are with the threads that there are now.

    Besides, why it does not run so, and why values that differ prove nothing; empty where neither is known.
    """
    count = torch.get_num_threads()
    again = subject.anew()
    for alone, call in zip(subject.eager.calls, again.eager.calls, strict=False):
        if call.raised is not None and alone.raised is None:
            words = f"eager raises with {count} threads: {call.raised.type}: {call.raised.message}"
            return again, words, ""
    for _ in range(EAGER_RUNS - 1):
        if judge_self(again.eager, observe(again.loaded.instance, again.calls)).kind is not VerdictKind.AGREE:
            return again, "", f"eager gives something else each time with {count} threads"
    return again, "", ""
