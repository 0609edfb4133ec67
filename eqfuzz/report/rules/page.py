"""The page of one rule, on the console and as an object."""

from __future__ import annotations

import inspect
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from eqfuzz.report.formatting import printable
from eqfuzz.report.layout import LabelledTexts, print_text
from eqfuzz.report.rules.listing import STYLES, TAGS, survival_of, tags_of, to_fields
from eqfuzz.report.source import SourceDiff, highlighted
from eqfuzz.rewrite.proof.demonstration import Demonstration
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.library import equation_of
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.source.template import code_of

MEANINGS = {
    Exactness.BITWISE: "equal bit for bit in eager",
    Exactness.ULP: "equal up to a few roundings",
    Exactness.REAL: "equal over the real numbers only",
}


def to_page(rule: Rule, demonstration: Demonstration | str) -> dict[str, Any]:
    """The object that ``eqfuzz rules show NAME --format json`` prints."""
    sides = sides_of(rule)
    example: dict[str, Any] = (
        {"problem": demonstration}
        if isinstance(demonstration, str)
        else {
            "operands": demonstration.operands,
            "before": demonstration.example.source,
            "after": demonstration.variant.program.source,
            "steps": [vars(step) for step in demonstration.variant.derivation],
        }
    )
    return {
        **to_fields(rule),
        "left": sides[0] if sides else None,
        "right": sides[1] if sides else None,
        "sorts": rule.sorts,
        "nodes": [node.__name__ for node in rule.nodes],
        "guards": [guard.text for guard in rule.where],
        "code": inspect.getsource(rule.function),
        "example": example,
    }


def print_page(console: Console, rule: Rule, demonstration: Demonstration | str) -> None:
    """The declaration of the rule, and an example of it."""
    print_text(console, Text(rule.name, style="bold magenta"))
    console.print(Padding(Text(printable(rule.doc)), (0, 0, 1, 2)))
    rows: list[tuple[str, Text]] = []
    sides = sides_of(rule)
    if sides:
        rows.append(("equation", _code(f"{sides[0]}  →  {sides[1]}")))
        if rule.sorts:
            rows.append(("operands", Text(", ".join(f"{name}: {sort}" for name, sort in rule.sorts.items()))))
    else:
        rows.append(("looks at", Text(", ".join(node.__name__ for node in rule.nodes))))
    exactness = Text.assemble((str(rule.exact), f"bold {STYLES[rule.exact]}"), f"  {MEANINGS[rule.exact]}")
    rows.append(("exactness", exactness))
    for number, guard in enumerate(rule.where):
        rows.append(("" if number else "only where", Text(printable(guard.text))))
    for number, tag in enumerate(tags_of(rule)):
        rows.append(("" if number else "tags", Text.assemble((tag, "bold"), f"  {TAGS[tag]}")))
    rows.append(("compile depth", Text(survival_of(rule) or "not measured")))
    if rule.source:
        rows.append(("source", Text(printable(rule.source))))
    rows.append(("declared in", Text(rule.place)))
    console.print(LabelledTexts(rows, margin=2), Text(), crop=False)
    console.print(Text("  example", style="bold"))
    console.print(*_example(demonstration), Text(), crop=False)
    console.print(Text("  declaration", style="bold"))
    lines, first = inspect.getsourcelines(rule.function)
    code = Syntax(
        "".join(lines).rstrip(),
        "python",
        theme="ansi_dark",
        background_color="default",
        line_numbers=True,
        start_line=first,
        word_wrap=True,
    )
    console.print(Padding(code, (0, 0, 0, 2)))


def _example(demonstration: Demonstration | str) -> tuple[RenderableType, ...]:
    if isinstance(demonstration, str):
        return (Padding(Text(f"no example: {demonstration}", style="yellow"), (0, 0, 0, 4)),)
    example, variant = demonstration.example, demonstration.variant
    diff = SourceDiff(example.source, variant.program.source, variant.derivation, margin=4)
    return diff, Padding(Text(f"for {demonstration.operands}", style="dim"), (0, 0, 0, 4))


def sides_of(rule: Rule) -> tuple[str, str] | None:
    """Left and right as text; None for a generator."""
    if rule.is_generator:
        return None
    equation = equation_of(rule)
    return code_of(equation.left).strip(), code_of(equation.right).strip()


def _code(text: str) -> Text:
    code = highlighted(text)
    code.rstrip()
    return code
