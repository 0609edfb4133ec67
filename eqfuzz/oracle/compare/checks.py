"""The names of all checks, and those that run by default. Imports nothing, since the CLI reads it."""

from __future__ import annotations

ORACLES = (
    "exceptions",
    "metadata",
    "results",
    "side-effects",
    "aliasing",
    "gradients",
    "prints",
    "warnings",
    "generators",
    "strides",
)
"""Aspects in which compiled and eager run are compared (``eqfuzz.oracle.compare.oracles``)."""

CALLS = ("repeat", "values", "integers", "guards")
"""Further calls of the compiled function (``eqfuzz.oracle.observe.call_sequence``)."""

AFTERWARDS = ("audit", "draws", "stage", "place")
"""Analyses of a confirmed finding: each operator in isolation (``eqfuzz.oracle.audit.local_audit``), other inputs,
other backends (``eqfuzz.triage.findings.stage``), parts of the compiler disabled
(``eqfuzz.triage.findings.fingerprint``)."""

EXTRA = ("speed",)
"""Checks that cost too much to run by default: steady slowness."""

CHECKS = (*ORACLES, *CALLS, *AFTERWARDS, *EXTRA)
DEFAULT_CHECKS = (*ORACLES, *CALLS, *AFTERWARDS)
