"""The names of everything that can be checked, and which of it is checked by default. Light: the CLI reads it."""

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
"""Aspects in which a compiled run may not differ from the eager one (``eqfuzz.oracle.compare.oracles``)."""

CALLS = ("repeat", "values", "integers", "guards")
"""Further calls of the compiled function (``eqfuzz.oracle.observe.call_sequence``)."""

AFTERWARDS = ("audit", "draws", "stage", "place")
"""What a confirmed finding is looked at with: its operators alone (``eqfuzz.oracle.audit.local_audit``), with other
inputs, on other backends (``eqfuzz.triage.findings.stage``), with parts of the compiler switched off
(``eqfuzz.triage.findings.fingerprint``)."""

EXTRA = ("speed",)
"""What costs too much to be checked unasked: steady slowness."""

CHECKS = (*ORACLES, *CALLS, *AFTERWARDS, *EXTRA)
DEFAULT_CHECKS = (*ORACLES, *CALLS, *AFTERWARDS)
