"""The rule library on the console: one line per rule, and what its tags mean. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from eqfuzz.report.formatting import count
from eqfuzz.report.layout import print_text
from eqfuzz.report.tables import print_listing
from eqfuzz.rewrite.rules.compile_depth import level_of
from eqfuzz.rewrite.rules.exactness import Exactness

if TYPE_CHECKING:
    from eqfuzz.rewrite.rules.declarations import RuleDeclaration
    from eqfuzz.rewrite.rules.rule import Rule

    ListedRule = Rule | RuleDeclaration

STYLES = {Exactness.BITWISE: "green", Exactness.ULP: "yellow", Exactness.REAL: "red"}

TAGS = {
    "layout": "the result may have other strides; weakens a derivation to ulp",
    "breaks-graph": "Dynamo cannot keep one graph",
    "other-gradients": "the gradients of both sides may differ",
    "generator": "writes statements itself, at the sites it is offered",
}


def tags_of(rule: ListedRule) -> list[str]:
    """The tags of the rule, as in TAGS."""
    held = (rule.layout, rule.breaks_graph, not rule.gradients, rule.is_generator)
    return [tag for tag, holds in zip(TAGS, held, strict=True) if holds]


def survival_of(rule: ListedRule) -> str | None:
    """The compile depth of the rule; None if it was not measured."""
    level = level_of(rule.name)
    return level.word if level is not None else None


def to_fields(rule: ListedRule) -> dict[str, Any]:
    """The rule's line in ``eqfuzz rules --format json``."""
    return {
        "family": rule.family,
        "name": rule.name,
        "exactness": str(rule.exact),
        "tags": tags_of(rule),
        "gradients": rule.gradients,
        "survival": survival_of(rule),
        "place": rule.place,
        "source": rule.source,
        "doc": rule.doc,
    }


def print_rules(console: Console, rules: Sequence[ListedRule]) -> None:
    """One row per rule, and the totals."""
    rows = [
        [
            (rule.family, "dim"),
            (rule.name.partition("/")[2], ""),
            (str(rule.exact), STYLES[rule.exact]),
            (survival_of(rule) or "", ""),
            (", ".join(tags_of(rule)), "dim"),
        ]
        for rule in rules
    ]
    print_listing(console, ("family", "name", "exactness", "depth", "tags"), rows)
    families = len({rule.family for rule in rules})
    classes = [(str(c), sum(r.exact is c for r in rules)) for c in Exactness]
    tags = [(tag, sum(tag in tags_of(r) for r in rules)) for tag in TAGS]
    parts = "  ·  ".join(f"{name} {number:,}" for name, number in (*classes, *tags) if number)
    console.print()
    total = f"{count(len(rules), 'rule')} in {count(families, 'family', 'families')}"
    print_text(console, Text.assemble((total, "bold"), (f"  ·  {parts}", "dim")))
