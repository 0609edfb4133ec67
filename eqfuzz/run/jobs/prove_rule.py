"""The proof of one rule as a case: what a child runs for ``eqfuzz rules check``, and a wrong rule may kill."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any

from eqfuzz.rewrite.proof.proof import prove
from eqfuzz.rewrite.rules.user_rules import rules_for_children

SECONDS_PER_DRAW = 1.0
SECONDS_AT_LEAST = 120.0
"""Wall limit of one proof; two hundred draws take about half a second."""


def run_proof(data: dict[str, Any], emit: Callable[[dict[str, Any]], None]) -> None:
    """Prove the rule named in ``data`` (``rule``, ``draws``, ``rules_from``) and emit ``proved``."""
    emit({"event": "stage", "stage": "proof", "seconds": SECONDS_AT_LEAST + SECONDS_PER_DRAW * data["draws"]})
    rule = rules_for_children(tuple(data["rules_from"]))[data["rule"]]
    began = time.monotonic()
    try:
        proof = prove(rule, data["draws"])
    except Exception as error:  # guards, generators and examples are the rule's own code: it does not hold
        told = {"draws": 0, "rewrites": 0, "problems": [f"trying it raises {_words(error)}"]}
    else:
        told = {"draws": proof.draws, "rewrites": proof.rewrites, "problems": list(proof.problems)}
    emit({"event": "proved", **told, "seconds": round(time.monotonic() - began, 3)})


def _words(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({frame.filename}:{frame.lineno})"
