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
)
"""Aspects in which a compiled run may not differ from the eager one (``eqfuzz.judge.oracles``)."""

CALLS = ("repeat", "values", "integers", "guards")
"""Further calls of the compiled function (``eqfuzz.judge.sequence``)."""

AFTERWARDS = ("audit", "stage")
"""What a confirmed finding is looked at with: its operators alone (``eqfuzz.judge.audit``), and on other backends
(``eqfuzz.triage.stage``)."""

EXTRA = ("speed",)
"""What costs too much to be checked unasked: steady slowness."""

CHECKS = (*ORACLES, *CALLS, *AFTERWARDS, *EXTRA)
DEFAULT_CHECKS = (*ORACLES, *CALLS, *AFTERWARDS)
