"""The rules that a verb is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eqfuzz.cli.loading_notice import loading_notice
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eqfuzz.rewrite.rules.declarations import RuleDeclaration
    from eqfuzz.rewrite.rules.rule import Rule


def all_rules(rules_from: list[Path] | None) -> tuple[Rule, ...]:
    """The shipped rules and the user's. Raises UsageError for a rule file that cannot be used."""
    with loading_notice():
        from eqfuzz.rewrite.rules.rule import RuleError
        from eqfuzz.rewrite.rules.user_rules import known_rules

        try:
            return known_rules(rules_from or ())
        except RuleError as error:
            raise UsageError(f"--rules-from: {error}") from None


def selected_rules(selection: list[str] | None, rules_from: list[Path] | None) -> tuple[Rule, ...]:
    """The rules that the words of ``selection`` name together. Raises UsageError with a suggestion."""
    from eqfuzz.rewrite.rules.selection import select

    try:
        return select(all_rules(rules_from), ",".join(selection or ()))
    except ValueError as error:
        raise UsageError(str(error)) from None


def listed_rules(selection: list[str] | None, rules_from: list[Path] | None) -> Sequence[Rule | RuleDeclaration]:
    """What ``selected_rules`` returns, to be listed: the shipped rules as they are declared, without loading torch."""
    if rules_from:
        return selected_rules(selection, rules_from)

    from eqfuzz.rewrite.rules.declarations import shipped_declarations
    from eqfuzz.rewrite.rules.selection import select

    try:
        return select(shipped_declarations(), ",".join(selection or ()))
    except ValueError as error:
        raise UsageError(str(error)) from None


def named_rule(name: str, rules_from: list[Path] | None) -> Rule:
    """The one rule called ``name``. Raises UsageError with a suggestion."""
    from eqfuzz.rewrite.rules.selection import one

    try:
        return one(all_rules(rules_from), name)
    except ValueError as error:
        raise UsageError(str(error)) from None
