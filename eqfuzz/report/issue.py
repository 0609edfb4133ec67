"""A finding as an issue for PyTorch, in the form of its bug template."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from eqfuzz.errors import one_line
from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.program.definitions_only import program_text
from eqfuzz.program.parsing import parse
from eqfuzz.program.release import Release
from eqfuzz.report.evidence import environment, evidence_text, fence_for
from eqfuzz.report.formatting import printable, value
from eqfuzz.report.issue_searches import searches
from eqfuzz.torch_internals.bisector import application
from eqfuzz.triage.confirm.replay import STILL_FAILING
from eqfuzz.triage.findings.buckets import bucket_id
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.fingerprint import guarded_by
from eqfuzz.triage.findings.program_features import features_of
from eqfuzz.triage.findings.stage import STAGES, Blame, backends_below, third_opinions
from eqfuzz.triage.reproducer.header import without_imports_of_torch
from eqfuzz.triage.upstream.evidence import UpstreamEvidence
from eqfuzz.triage.upstream.gate import GateWarning
from eqfuzz.triage.upstream.labels import asks_for_priority, suggested_labels
from eqfuzz.triage.upstream.tracker import LikelyDuplicate

_TEMPLATE = Path(__file__).with_name("issue.md.j2")
_WORDS = {
    VerdictKind.WRONG_RESULT: "gives a wrong result",
    VerdictKind.WRONG_METADATA: "returns other metadata than eager",
    VerdictKind.WRONG_GRADIENT: "gives a wrong gradient",
    VerdictKind.WRONG_SIDE_EFFECT: "leaves other state behind than eager",
    VerdictKind.EXCEPTION_MISMATCH: "and eager raise different exceptions, or only one raises",
    VerdictKind.COMPILER_CRASH: "fails to compile",
    VerdictKind.PROCESS_CRASH: "kills the process",
    VerdictKind.HANG: "does not end",
    VerdictKind.OUT_OF_MEMORY: "exhausts memory",
}
_PARTS = {"lowerings": "the lowering of `{}`", "decomposition": "the decomposition of `{}`"}
_DTYPE = re.compile(r"torch\.((?:u?int|float|bfloat|complex)\d+|bool)\b")


def issue_text(
    finding: Finding,
    evidence: UpstreamEvidence,
    checks: Mapping[str, Mapping[str, bool]],
    *,
    release: Release,
    versions: str,
    beside: str = "",
    warnings: Sequence[GateWarning] = (),
    duplicates: Sequence[LikelyDuplicate] = (),
) -> str:
    """The text of ``issue.md``. ``checks`` are the results of PyTorch's own accuracy checks, by path of the value.

    ``release`` is the torch that gave the ``evidence``, ``versions`` the output of its collect_env. ``beside`` is the
    file with private values that the script reads. ``warnings`` are those of the gate.
    """
    markdown = environment()
    markdown.filters["in_comment"] = lambda text: printable(one_line(text)).replace("--", "- -")
    raises = finding.verdict.kind in (VerdictKind.COMPILER_CRASH, VerdictKind.EXCEPTION_MISMATCH)
    outcome, script = evidence.outcome, evidence.script.text
    texts = script, outcome.output, finding.original.source, finding.transformed.source, _error(finding), versions
    return markdown.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        title=title(finding),
        summary=_summary(finding),
        script=script.strip("\n"),
        output=outcome.output.strip("\n"),
        beside=beside,
        expected=_expected(finding.verdict.evidence or Evidence()),
        backends=[] if evidence.backends else _backends(finding),
        sections=evidence_text(evidence, labels_of(finding, evidence)),
        facts=_facts(finding, evidence, checks),
        derivation=finding.derivation,
        only_transformed=finding.only_transformed,
        original_is_right=finding.original_is_right,
        diff=_diff(finding) if finding.derivation else "",
        searches=searches(finding),
        error=_error(finding) if raises else "",
        versions=versions.strip("\n"),
        fence=fence_for(texts),
        warnings=warnings,
        duplicates=duplicates,
        priority=asks_for_priority(evidence, finding.severity),
        fails=outcome.status == STILL_FAILING,
        torch=release.in_full(),
        found_with=finding.environment.release.in_full(),
        eqfuzz=finding.environment.eqfuzz,
        id=finding.id,
        bucket=bucket_id(finding.fingerprint) if finding.fingerprint else "",
    )


def title(finding: Finding) -> str:
    """``[Inductor] amin (int8): torch.compile gives a wrong result``."""
    stage = finding.stage or finding.config
    names = application(finding.exact_blame.detail) if finding.exact_blame is not None else ""
    about = names or ", ".join(features_of(finding.transformed)[:3]) or finding.transformed.entry
    dtypes = ", ".join(sorted(set(_DTYPE.findall(finding.transformed.source))))
    return f"[{stage}] {about}{f' ({dtypes})' if dtypes else ''}: torch.compile {_WORDS[finding.verdict.kind]}"


def _summary(finding: Finding) -> str:
    arguments = ", ".join(f"`{k}={v!r}`" for k, v in finding.settings.items() if k not in ("name", "threads", "graph"))
    parts = [f"`torch.compile` {_WORDS[finding.verdict.kind]} for the program below, on {finding.device.upper()}"]
    parts[0] += f" with {finding.threads} threads" if finding.threads > 1 else ""
    parts += [f"under {arguments}"] if arguments else []
    guarded = guarded_by(finding)
    parts += [f"when it is called again and {guarded} has changed: a guard is missing"] if guarded else []
    text = ", ".join(parts) + "."
    if finding.exact_blame is not None:
        text += f" At fault is {_part(finding.exact_blame)}."
    elif finding.place:
        text += f" At fault: {finding.place}."
    if finding.graph_steps:
        text += "\n\nCustom passes rewrite its graphs to equal ones: "
        text += "; ".join(f"`{step}`" for step in finding.graph_steps) + "."
    if not finding.verdict.is_about_values:
        text += f"\n\n{finding.verdict.message}"
    elif finding.verdict.oracle:
        text += f"\n\nA check of one's own, `{finding.verdict.oracle}`, complains: {finding.verdict.message}"
    return text


def _part(blame: Blame) -> str:
    name = application(blame.detail)
    return _PARTS.get(blame.subsystem, f"`{{}}` of Inductor's {blame.subsystem}").format(name)


def _expected(evidence: Evidence) -> str:
    if evidence.reference is None and evidence.eager is None:
        return ""
    where = f"`{evidence.path}" + (f"[{', '.join(map(str, evidence.index))}]`" if evidence.index else "`")
    text = f"**{where}** is `{value(evidence.eager)}` in eager and `{value(evidence.compiled)}` compiled"
    if evidence.reference is not None and evidence.allowed:
        text += f"; computed in float64 it is `{value(evidence.reference)}`, and rounding explains a distance of"
        text += f" {evidence.allowed:.3g} from it"
    wrong = (
        f" {evidence.wrong_elements:,} of {evidence.elements:,} elements are wrong." if evidence.elements > 1 else ""
    )
    return f"{text}.{wrong}"


def _backends(finding: Finding) -> list[tuple[str, str]]:
    kinds, own = finding.backends, finding.settings.get("backend", "inductor")
    rows = [(backend, kinds[backend]) for backend in (*backends_below(own), *third_opinions(own)) if backend in kinds]
    return [*rows, (own, f"**{finding.verdict.kind}**")]


def labels_of(finding: Finding, evidence: UpstreamEvidence) -> list[str]:
    """The labels that triage would give."""
    backend = next((name for name, stage in STAGES.items() if stage == finding.stage), "")
    return suggested_labels(evidence, finding.severity, finding.device, backend=backend)


def _facts(finding: Finding, evidence: UpstreamEvidence, checks: Mapping[str, Mapping[str, bool]]) -> list[str]:
    """The results of further checks, one line each."""
    facts: list[str] = []
    path = finding.path
    if path in checks:
        words = {True: "passes: it is too coarse for this", False: "fails"}
        facts.append(f"`torch._dynamo.utils.same(eager, compiled, fp64_ref)` {words[checks[path]['same']]}")
        facts.append(f"`torch.testing.assert_close(compiled, eager)` {words[checks[path]['assert_close']]}")
    blame = finding.exact_blame
    if blame is not None and evidence.bisected is None:
        place = f"`{blame.subsystem}: {blame.detail}`"
        facts.append(f"`torch._inductor.compiler_bisector` ends at {place}: with that switched off the result is right")
    facts += [
        f"judged alone, on the operands that the compiled run gave it, wrong is {line}" for line in finding.suspects
    ]
    if finding.about_threads:
        facts.append(f"threads: {finding.about_threads}")
    if finding.draws is not None:
        facts.append(f"{finding.draws} random draws of the inputs show it")
    if finding.reduced is not None:
        before, after = finding.reduced.statements
        facts.append(f"reduced from {before} statements to {after}")
    return facts


def without_docstring(script: str) -> str:
    """A script without the string that it begins with."""
    body = parse(script).body
    first = body[0]
    lines = script.splitlines()
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        lines = lines[(first.end_lineno or 0) :]
    return "\n".join(lines).strip("\n")


def _error(finding: Finding) -> str:
    frames = finding.verdict.evidence.frames if finding.verdict.evidence is not None else ()
    return "\n".join([finding.verdict.message, *(f"  in {frame}" for frame in frames)])


def _diff(finding: Finding) -> str:
    texts = (without_imports_of_torch(program_text(p))[0] for p in (finding.original, finding.transformed))
    before, after = (text.splitlines() for text in texts)
    return "\n".join(list(difflib.unified_diff(before, after, "the original", "shows it", lineterm="", n=2)))
