"""The names of all checks, and those that run by default. Must not import torch: the CLI imports it."""

from __future__ import annotations

from collections.abc import Collection

from eqfuzz.program.suggestions import did_you_mean

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
other backends, parts of the compiler disabled (``eqfuzz.triage.locate``)."""

EXTRA = ("speed",)
"""Checks that cost too much to run by default: steady slowness."""

CHECKS = (*ORACLES, *CALLS, *AFTERWARDS, *EXTRA)
DEFAULT_CHECKS = (*ORACLES, *CALLS, *AFTERWARDS)


def require_checks(names: Collection[str]) -> None:
    """Raises ValueError, with a suggestion, for a name that is no check."""
    for name in names:
        if name not in CHECKS:
            raise ValueError(f"no check {name!r}{did_you_mean(name, CHECKS)}; known: {', '.join(CHECKS)}")


def choose_checks(added: Collection[str], removed: Collection[str]) -> tuple[str, ...]:
    """The default checks and those added, without those removed, in the order of ``CHECKS``. Raises ValueError."""
    require_checks((*added, *removed))
    return tuple(name for name in CHECKS if name not in removed and (name in DEFAULT_CHECKS or name in added))
