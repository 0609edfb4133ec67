"""Labels that PyTorch's triage gives to such a report."""

from __future__ import annotations

from eqfuzz.triage.findings.severity import Severity
from eqfuzz.triage.upstream.evidence import UpstreamEvidence
from eqfuzz.triage.upstream.mitigations import DECOMPOSITIONS, DYNAMIC, FAILS, PASSES

SILENT = (Severity.WRONG_VALUES, Severity.WRONG_GRADIENTS_OR_EFFECTS, Severity.LOST_VALIDATION)
"""The user does not notice that something is wrong."""

_BY_BACKEND = {
    "eager": ("module: dynamo",),
    "aot_eager": ("module: pt2-dispatcher", "module: aotdispatch"),
    "aot_eager_decomp_partition": ("module: pt2-dispatcher", "module: aotdispatch"),
    "inductor": ("module: inductor",),
}


def suggested_labels(evidence: UpstreamEvidence, severity: Severity, device: str, *, backend: str = "") -> list[str]:
    """The labels by the rubric for ``torch.compile``: component, dynamic shapes, silent errors.

    ``backend`` is the first that shows the defect, where the evidence has no backends.
    """
    labels = ["oncall: pt2", "topic: fuzzer"]
    first = evidence.first_backend or backend
    of_decompositions = DECOMPOSITIONS in evidence.cures or (
        evidence.bisected is not None and evidence.bisected.blame.subsystem == DECOMPOSITIONS
    )
    labels += ["module: decompositions"] if of_decompositions else _BY_BACKEND.get(first, ())
    if DYNAMIC in evidence.cures:
        labels.append("module: dynamic shapes")
    if severity in SILENT:
        labels.append("module: correctness (silent)")
    if is_regression(evidence):
        labels.append("module: regression")
    if evidence.traits.draws:
        labels.append("module: random")
    if evidence.traits.special or evidence.traits.limits or evidence.traits.subnormal:
        labels.append("module: edge cases")
    if device == "cuda" and evidence.on_cpu != FAILS:
        labels.append("module: cuda")
    return labels


def is_regression(evidence: UpstreamEvidence) -> bool:
    """Whether an earlier release passes and the newest one fails."""
    verdicts = [verdict for _, verdict in evidence.releases]
    return bool(verdicts) and verdicts[-1] == FAILS and PASSES in verdicts


def asks_for_priority(evidence: UpstreamEvidence, severity: Severity) -> str:
    """Why triage gives ``high priority``, in words; empty where it does not."""
    if is_regression(evidence):
        return "a regression"
    return "silently wrong" if severity in SILENT else ""
