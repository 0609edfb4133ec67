"""SARIF 2.1.0 of a run: a rule for each kind of verdict, a result for each finding, known issues suppressed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import eqfuzz
from eqfuzz.events.regressions import BucketState, DiffStarted
from eqfuzz.oracle.compare.verdict import FINDINGS, VerdictKind
from eqfuzz.report.formatting import encodable
from eqfuzz.report.machine.file_location import relative
from eqfuzz.report.machine.json_lines import plain_json
from eqfuzz.report.machine.reported_finding import SCRIPT_KIND, ReportedFinding
from eqfuzz.report.machine.run_facts import facts, headline, not_tried
from eqfuzz.report.machine.run_record import NOT_COMPLETED, RunRecord
from eqfuzz.report.verdict_texts import MEANING
from eqfuzz.triage.findings.severity import Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_MEANING: dict[str, str] = {
    **{str(kind): MEANING[kind] for kind in VerdictKind if kind in FINDINGS},
    SCRIPT_KIND: "a stand-alone script shows a difference",
}

_ROOT = "%SRCROOT%"
"""What the consumer of the file puts before relative paths: the folder that eqfuzz was called in."""

_BASELINE = {
    BucketState.NEW: "new",
    BucketState.FIXED: "absent",
    BucketState.STILL: "unchanged",
    BucketState.UNCLEAR: "unchanged",
}
_KIND_OF_RESULT = {BucketState.FIXED: "pass", BucketState.UNCLEAR: "review"}
"""Those that are no failures have the level ``none``."""


def sarif_text(record: RunRecord) -> str:
    """The text of the file; lone surrogates in names are replaced."""
    return json.dumps(plain_json(_log(record)), indent=1, allow_nan=False, default=str) + "\n"


def _log(record: RunRecord) -> dict[str, Any]:
    kinds = [kind for kind in _MEANING if any(one.kind == kind for one in record.findings)]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "eqfuzz",
                        "version": eqfuzz.__version__,
                        "semanticVersion": eqfuzz.__version__,
                        "shortDescription": {"text": "A fuzzer for torch.compile"},
                        "rules": [_rule(kind) for kind in kinds],
                    }
                },
                "automationDetails": {"id": "eqfuzz/"},
                **_baseline(record),
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(record)],
                "results": [_result(one, kinds) for one in record.findings],
                "properties": {
                    "result": headline(record),
                    "run": {label: encodable(text) for label, text in facts(record).items()},
                    "notTried": [encodable(line) for line in not_tried(record)],
                },
            }
        ],
    }


def _baseline(record: RunRecord) -> dict[str, str]:
    """A name of what was compared with, which every result with a ``baselineState`` needs."""
    start = record.start
    return {"baselineGuid": str(uuid.uuid5(uuid.NAMESPACE_OID, start.base))} if isinstance(start, DiffStarted) else {}


def _rule(kind: str) -> dict[str, Any]:
    words = "".join(part.capitalize() for part in kind.split("-"))
    return {
        "id": kind,
        "name": words,
        "shortDescription": {"text": _MEANING[kind]},
        "fullDescription": {"text": f"{_MEANING[kind]}. Confirmed by a stand-alone script in a fresh process."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["correctness", "torch.compile"]},
    }


def _invocation(record: RunRecord) -> dict[str, Any]:
    errors = [{"level": "error", "message": {"text": encodable(error)}} for error in record.all_errors]
    skipped = [
        {
            "level": "note" if seed.skipped == NOT_COMPLETED else "warning",
            "message": {"text": encodable(seed.skipped)},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(relative(seed.seed))}}],
        }
        for seed in record.seeds
        if seed.skipped
    ]
    return {
        "executionSuccessful": record.end is not None and not record.all_errors,
        "toolExecutionNotifications": [*errors, *skipped],
    }


def _result(one: ReportedFinding, kinds: Sequence[str]) -> dict[str, Any]:
    fingerprint = one.title if one.finding is None or one.finding.fingerprint else one.id
    kind = _KIND_OF_RESULT.get(one.state, "fail") if one.state is not None else "fail"
    level = "warning" if one.severity is Severity.METADATA else "error"
    result: dict[str, Any] = {
        "ruleId": one.kind,
        "ruleIndex": kinds.index(one.kind),
        "kind": kind,
        "level": level if kind == "fail" else "none",
        "message": {"text": encodable(one.message) or one.kind},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(one.location.path),
                    "region": {"startLine": one.location.line},
                }
            }
        ],
        "partialFingerprints": {
            "eqfuzzBucket/v1": hashlib.sha256(fingerprint.encode(errors="replace")).hexdigest(),
            "eqfuzzFinding/v1": encodable(one.id),
        },
        "rank": round(100.0 * (1 - one.rank / (1 + len(Severity))), 1),
        "properties": _properties(one),
    }
    if one.state is not None:
        result["baselineState"] = _BASELINE[one.state]
    if one.script.is_file():
        result["attachments"] = [
            {"description": {"text": "Stand-alone script"}, "artifactLocation": _artifact(relative(str(one.script)))}
        ]
    if one.issue:
        result["workItemUris"] = [_uri(one.issue)]
        result["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": f"known issue: {encodable(one.issue)}"}
        ]
    return result


def _properties(one: ReportedFinding) -> dict[str, Any]:
    """Severity, place and numbers; texts that are not known are left out."""
    finding = one.finding
    texts = {"severity": str(one.severity or ""), "bucket": one.bucket, "fingerprint": one.title, "finding": one.id}
    if finding is None:
        return {name: encodable(text) for name, text in texts.items() if text}
    texts |= {
        "stage": finding.stage,
        "place": finding.place,
        "fingerprint": finding.fingerprint,
        "device": finding.device,
        "config": finding.config,
        "torch": finding.environment.release.in_full(),
    }
    evidence = finding.verdict.evidence
    return {
        **{name: encodable(text) for name, text in texts.items() if text},
        "rules": [step.rule for step in finding.derivation],
        "onlyTransformed": finding.only_transformed,
        **({"evidence": _clean(dataclasses.asdict(evidence))} if evidence is not None else {}),
    }


def _clean(value: Any) -> Any:
    """``value`` without characters that the file cannot hold."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {key: _clean(inner) for key, inner in value.items()}
    return [_clean(inner) for inner in value] if isinstance(value, list | tuple) else value


def _artifact(path: str) -> dict[str, str]:
    """An ``artifactLocation``, whose ``uri`` is absolute where ``path`` is."""
    if Path(path).is_absolute():
        return {"uri": f"file://{quote(path, errors='replace')}"}
    return {"uri": quote(path, errors="replace"), "uriBaseId": _ROOT}


def _uri(address: str) -> str:
    """``address`` with what no URI may hold encoded."""
    return quote(encodable(address), safe="%/:=&?~#+!$,;'@()*[]", errors="replace")
