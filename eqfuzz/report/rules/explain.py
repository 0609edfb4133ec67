"""Where a rule applies in a seed: console and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from eqfuzz.commands.explain_rule import RuleExplanation
from eqfuzz.report.formatting import count, printable
from eqfuzz.report.layout import print_text
from eqfuzz.report.rules.page import sides_of
from eqfuzz.report.source import SourceDiff
from eqfuzz.rewrite.rules.equation import Equation
from eqfuzz.rewrite.rules.library import equation_of


def to_lines(explained: RuleExplanation) -> Iterator[str]:
    """A line of JSON per match (``match``) and near miss (``miss``), a ``summary`` last."""
    explanation = explained.explanation
    for match in explanation.matches:
        step = match.step
        fields = {"line": step.line, "before": step.before, "after": step.after, "source": match.source}
        yield json.dumps({"event": "match", **fields})
    for miss in explanation.misses:
        fields = {"line": miss.line, "text": miss.text, "bindings": miss.bindings, "reason": miss.reason}
        yield json.dumps({"event": "miss", **fields})
    summary = {
        "matches": len(explanation.matches),
        "misses": len(explanation.misses),
        "looked_at": explanation.looked_at,
    }
    yield json.dumps({"event": "summary", "rule": explained.rule.name, "seed": explained.program.name, **summary})


def print_explained(console: Console, explained: RuleExplanation) -> None:
    """Matches as diffs, then near misses with their reasons; in words when there is neither."""
    explanation, rule, program = explained.explanation, explained.rule, explained.program
    sides = sides_of(rule)
    head = Text.assemble((rule.name, "bold magenta"), ("  in  ", "dim"), printable(program.name))
    print_text(console, head)
    if sides:
        print_text(console, Text(f"  {sides[0]}  →  {sides[1]}", style="dim"))
    console.print()
    for match in explanation.matches:
        console.print(Text.assemble(("✓ ", "bold green"), (f"line {match.step.line}", "bold")))
        console.print(SourceDiff(program.source, match.source, [match.step], margin=2), Text(), crop=False)
    for miss in explanation.misses:
        bound = ", ".join(f"{name} is {_flat(value)}" for name, value in miss.bindings.items() if name != value)
        head = Text.assemble(("✗ ", "bold yellow"), (f"line {miss.line}", "bold"), f"  {_flat(miss.text)}")
        print_text(console, head.append(f"  ({bound})" if bound else "", style="dim"))
        console.print(Padding(Text(printable(miss.reason), style="yellow"), (0, 0, 0, 4)))
    if not explanation.matches and not explanation.misses:
        console.print(Text(_nowhere(explained), style="yellow"))
        return
    applies = f"{count(len(explanation.matches), 'place')} where it applies"
    console.print(Text(f"{applies}  ·  {count(len(explanation.misses), 'near miss', 'near misses')}", style="bold"))


def _flat(text: str) -> str:
    return " ".join(printable(text).split())


def _nowhere(explained: RuleExplanation) -> str:
    """Why there is neither a match nor a near miss."""
    rule, looked_at = explained.rule, explained.explanation.looked_at
    if rule.is_generator:
        nodes = " or ".join(_plain(node.__name__) for node in rule.nodes)
        if looked_at:
            return f"it looks at every {nodes}: there are {looked_at:,}, and it applies to none of them"
        return f"it looks at every {nodes}: there is none in the code under test"
    equation = equation_of(rule)
    if not looked_at:
        return f"the left side occurs nowhere: the code under test has no {_kind(equation)}"
    return f"the left side occurs nowhere: no {_kind(equation)} in the code under test is one ({looked_at:,} looked at)"


def _kind(equation: Equation) -> str:
    return _plain(equation.root.__name__)


def _plain(node: str) -> str:
    """The name of a libcst class in words: ``BinaryOperation`` as ``binary operation``."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in node).strip()
