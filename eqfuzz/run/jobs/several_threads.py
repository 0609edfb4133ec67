"""Several threads for a cell: eager, reference and compiled run have the same number of them.

A forked child does not inherit the threads of its parent and would deadlock waiting for them. So a process that has had
several threads must not fork: such a cell has a fork of its own, or comes last in a process that forks no more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator

import torch

from eqfuzz.oracle.compare.eager_judge import judge_self
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.processes.cpu_affinity import unpinned

EAGER_RUNS = 4
"""Runs in eager that must not differ: with several threads the result may depend on their order."""


@contextlib.contextmanager
def several_threads(count: int) -> Generator[None]:
    """Context in which torch uses ``count`` threads, on all cores of this process; with 1 nothing changes."""
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
    """``subject`` observed in eager with the present number of threads.

    Also why eager fails so, and why values that differ prove nothing; empty strings where neither is the case.
    """
    count = torch.get_num_threads()
    again = subject.observed_again()
    for alone, call in zip(subject.eager.calls, again.eager.calls, strict=False):
        if call.raised is not None and alone.raised is None:
            words = f"eager raises with {count} threads: {call.raised.type}: {call.raised.message}"
            return again, words, ""
    for _ in range(EAGER_RUNS - 1):
        if judge_self(again.eager, observe(again.loaded.instance, again.calls)).kind is not VerdictKind.AGREE:
            return again, "", f"eager gives something else each time with {count} threads"
    return again, "", ""
