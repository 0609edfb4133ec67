"""Evidence for a report in Markdown: ratio, backends, mitigations, bisector, releases, unit test, labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import jinja2

from eqfuzz.triage.reproducer.script_files import TEST_FUNCTION
from eqfuzz.triage.upstream.evidence import RUNS, UpstreamEvidence
from eqfuzz.triage.upstream.script_parts import BACKEND_VARIABLE

_TEMPLATE = Path(__file__).with_name("evidence.md.j2")


def evidence_text(evidence: UpstreamEvidence, labels: Sequence[str]) -> str:
    """The sections about ``evidence``, without a line break at the end."""
    test = evidence.test.text if evidence.test is not None else ""
    bisected = evidence.bisected
    result = _result(evidence)
    template = environment().from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        evidence=evidence,
        runs=RUNS,
        variable=BACKEND_VARIABLE,
        script_name=TEST_FUNCTION,
        settings=[trial for trial in evidence.mitigations if not trial.mitigation.is_subsystem],
        subsystems=[trial for trial in evidence.mitigations if trial.mitigation.is_subsystem],
        bisection_result=result,
        failing=_variables(bisected.failing) if bisected is not None else "",
        passing=_variables(bisected.passing) if bisected is not None else "",
        labels=labels,
        fence=fence_for([test, result]),
    ).rstrip("\n")


def environment() -> jinja2.Environment:
    """How templates of Markdown are read: nothing in them is escaped."""
    return jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)


def fence_for(texts: Iterable[str]) -> str:
    """Backticks that end in none of the texts."""
    return "`" * max(3, 1 + max(len(run) for text in texts for run in re.findall(r"`*", text)))


def _variables(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in variables.items())


def _result(evidence: UpstreamEvidence) -> str:
    """The bisector's result as it prints it."""
    if evidence.bisected is None:
        return ""
    blame = evidence.bisected.blame
    fields = {
        "backend": blame.backend,
        "subsystem": blame.subsystem or None,
        "bisect_number": blame.number,
        "debug_info": blame.detail or None,
    }
    return f"BisectionResult({', '.join(f'{name}={value!r}' for name, value in fields.items())})"
