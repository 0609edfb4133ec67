"""Guard probe: whether a missing Dynamo guard depends on the value's source or only on its type.

A number without a guard as an argument, as an attribute and as a global is one defect, not three.
"""

from __future__ import annotations

import dataclasses

from eqfuzz.program.formats import recognise
from eqfuzz.run.messages.finding_jobs import CompareJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.confirm.finding_cases import config_of, job_about
from eqfuzz.triage.confirm.rerun import trial
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.fingerprint import ARGUMENT, ATTRIBUTE, GLOBAL, changed_by, changed_to
from eqfuzz.triage.findings.stage import STAGES
from eqfuzz.triage.reduce.finding_reducer import GUARDS_TRIED, cheapest

_ARGUMENT = """\
import torch


def program(x, value):
    return x + 1 if value == OLD else x - 1


def inputs(rng):
    yield rng.normal(3), OLD
"""
_ATTRIBUTE = """\
import torch


class Program(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.value = OLD

    def forward(self, x):
        return x + 1 if self.value == OLD else x - 1


def inputs(rng):
    yield rng.normal(3)
"""
_GLOBAL = """\
import torch

VALUE = OLD


def program(x):
    return x + 1 if VALUE == OLD else x - 1


def inputs(rng):
    yield rng.normal(3)
"""

_PROBES = {ARGUMENT: _ARGUMENT, ATTRIBUTE: _ATTRIBUTE, GLOBAL: _GLOBAL}
"""A program for each source of a value; its two branches differ in every element."""

_HIDING = ("", "the keys of a dictionary", "the length of a list")
"""Changes that may be caused by a number without a guard."""

_KINDS: dict[type, tuple[str, str]] = {
    bool: ("a flag", "True"),
    int: ("a number", "3"),
    float: ("a number", "0.5"),
}


def unguarded(finding: Finding, pool: Pool) -> str:
    """``a number, wherever it is from``, where such values have no guard from other sources either.

    Empty where they have one, and where the finding is on the first call. Numbers are probed where the label of the
    call does not say what changed: the program changes it, or takes a number from a tensor. Raises RunnerFailed.
    """
    verdict, stage = finding.verdict, finding.stage
    source, value = changed_by(verdict), changed_to(verdict)
    of_dynamo = stage == STAGES["eager"] and source in (*_PROBES, *_HIDING)
    if finding.call == 0 or not (of_dynamo or (stage == STAGES["aot_eager"] and source in _PROBES)):
        return ""
    tried = [type(value)] if type(value) in _KINDS else [int, float]
    for kind, old in (_KINDS[kind_of_value] for kind_of_value in tried):
        missed = sum(_is_missed(other, old, finding, pool) for other in _PROBES if other != source)
        if missed >= (1 if source in _PROBES else 2):
            return f"{kind}, wherever it is from"
    return ""


def _is_missed(source: str, old: str, finding: Finding, pool: Pool) -> bool:
    config = cheapest(finding, config_of(finding))
    probe = dataclasses.replace(
        job_about(CompareJob, finding),
        program=recognise(_PROBES[source].replace("OLD", old), "a guard"),
        transformed="",
        configs=(config,),
        checks=("results", "guards"),
        steps=GUARDS_TRIED,
        input_sets=1,
        calls=0,
    )
    verdict = trial(pool, probe).shown.get(config.name)
    return verdict is not None and verdict.is_finding and changed_by(verdict) == source
