"""Stands in for the pool: what its children would tell, by the job that they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.run.jobs.case import Case

Told = list[dict[str, Any]]

CALLS = "return (torch.tensor([1.0, 2.0, 3.0]),), {}"
DESCRIBED: dict[str, Any] = {
    "event": "described",
    "calls": CALLS,
    "state": None,
    "packs": True,
    "changes": [["", "", ""]],
    "globals": [],
    "functions": [],
    "problem": "",
}
"""A child's answer to ``describe``."""


class Children:
    """``tells`` has for each job the events of a case, or a function of the case that gives them."""

    def __init__(self, tells: Mapping[str, Told | Callable[[Case], Told]]) -> None:
        self._tells = tells
        self.cases: list[Case] = []

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        asked = Case.from_json(case)
        self.cases.append(asked)
        told = self._tells.get(asked.job, [])
        yield from told(asked) if callable(told) else told
        yield {"event": "exit", "reason": "done", "detail": "", "stage": None}

    @property
    def jobs(self) -> list[str]:
        return [case.job for case in self.cases]


def shown(verdicts: Mapping[str, Verdict]) -> Told:
    """Cells of a case, by configuration."""
    return [{"event": "cell", "config": name, "verdict": verdict.to_json()} for name, verdict in verdicts.items()]
