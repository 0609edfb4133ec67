"""``eqfuzz rules list`` and ``eqfuzz rules show``."""

from __future__ import annotations

import json

from eqfuzz.cli.options.common import LinesFormat, ObjectFormat, OutputFormat
from eqfuzz.cli.options.rewriting import RuleName, RuleSelection, RulesFrom
from eqfuzz.cli.rules.selection import listed_rules, named_rule


def list_rules(
    selection: RuleSelection = None, rules_from: RulesFrom = None, format: LinesFormat = OutputFormat.TEXT
) -> None:
    """List rules: exactness, depth, tags.

    Exit codes: 0 listed, 2 no such rule.
    """
    rules = listed_rules(selection, rules_from)

    from eqfuzz.report.rules.listing import print_rules, to_fields

    if format is OutputFormat.JSON:
        for rule in rules:
            print(json.dumps(to_fields(rule)))
        return

    from eqfuzz.report.terminal import make_console

    print_rules(make_console(), rules)


def show(name: RuleName, rules_from: RulesFrom = None, format: ObjectFormat = OutputFormat.TEXT) -> None:
    """Show a rule: equation, preconditions, example.

    Exit codes: 0 shown, 2 no such rule.
    """
    rule = named_rule(name, rules_from)

    from eqfuzz.report.rules.page import print_page, to_page
    from eqfuzz.rewrite.proof.demonstration import demonstrate

    demonstration = demonstrate(rule)
    if format is OutputFormat.JSON:
        print(json.dumps(to_page(rule, demonstration)))
        return

    from eqfuzz.report.terminal import make_console

    print_page(make_console(), rule, demonstration)
