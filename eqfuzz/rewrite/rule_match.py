"""What is known about a rule in a program: where it applies, and where it almost does."""

from __future__ import annotations

import dataclasses

from eqfuzz.rewrite.rewrite_step import RewriteStep


@dataclasses.dataclass(frozen=True)
class RuleMatch:
    """A place where the rule applies: what it writes, and the whole program after that."""

    step: RewriteStep
    source: str


@dataclasses.dataclass(frozen=True)
class Miss:
    """A place that has the form the rule looks for, at ``line``, and why it does not apply.

    ``bindings`` are the texts that an equation's parameters stand for there.
    """

    line: int
    text: str
    bindings: dict[str, str]
    reason: str


@dataclasses.dataclass(frozen=True)
class Explanation:
    """All matches and near misses by line; ``looked_at`` counts the nodes of the kind that the rule begins with."""

    matches: tuple[RuleMatch, ...]
    misses: tuple[Miss, ...]
    looked_at: int
