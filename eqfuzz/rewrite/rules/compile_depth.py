"""Compile depth of rules: the last stage of the compiler at which a rewritten program differs from the original.

The levels are measured (``eqfuzz rules survival``) and kept beside the rules, in ``survival.json``.
"""

from __future__ import annotations

import json
from enum import IntEnum
from functools import cache
from pathlib import Path

from eqfuzz.program import shipped


class CompileStage(IntEnum):
    """Stages in order; a rule's level is the last one at which both sides still differ.

    ``NOWHERE``: Dynamo traces both sides to one graph. ``KERNEL``: the C++ kernels differ.
    """

    NOWHERE = 0
    DYNAMO = 1
    ATEN = 2
    POST_GRAD = 3
    CODE = 4
    KERNEL = 5

    @property
    def word(self) -> str:
        """``post-grad`` and so on, for people and files."""
        return self.name.lower().replace("_", "-")


WORDS = {level.word: level for level in CompileStage}

WEIGHTS = {
    CompileStage.NOWHERE: 1.0,
    CompileStage.DYNAMO: 1.5,
    CompileStage.ATEN: 2.0,
    CompileStage.POST_GRAD: 2.5,
    CompileStage.CODE: 4.0,
    CompileStage.KERNEL: 5.0,
}
"""How much more often a strategy draws a rule that gets so far; Dynamo and the passes deserve tests too."""

_UNMEASURED = 3.0


def level_of(rule: str) -> CompileStage | None:
    """The measured level of a shipped rule; None when it has not been measured."""
    return _measured().get(rule)


def weight_of(rule: str) -> float:
    """How often a strategy draws the rule, as a ratio."""
    level = level_of(rule)
    return _UNMEASURED if level is None else WEIGHTS[level]


def data_file() -> Path:
    """Where the measurements are kept."""
    return shipped.folder("rewrites") / "survival.json"


@cache
def _measured() -> dict[str, CompileStage]:
    path = data_file()
    if not path.is_file():
        return {}
    return {name: WORDS[word] for name, word in json.loads(path.read_text(encoding="utf-8"))["levels"].items()}
