"""The rule library on the console: the table of rules, and the page of one rule."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from eqfuzz.report.formatting import count, printable
from eqfuzz.report.source import SourceDiff
from eqfuzz.rewrite.proof.demonstration import Demonstration
from eqfuzz.rewrite.rules.compile_depth import level_of
from eqfuzz.rewrite.rules.library import equation_of, place_of
from eqfuzz.rewrite.rules.rule import Exactness, Rule
from eqfuzz.rewrite.source.template import code_of

STYLES = {Exactness.BITWISE: "green", Exactness.ULP: "yellow", Exactness.REAL: "red"}

MEANINGS = {
    Exactness.BITWISE: "equal bit for bit in eager",
    Exactness.ULP: "equal up to a few roundings",
    Exactness.REAL: "equal over the real numbers only",
}

TAGS = {
    "layout": "the result may have other strides; weakens a derivation to ulp",
    "breaks-graph": "Dynamo cannot keep one graph",
    "other-gradients": "the gradients of both sides may differ",
    "generator": "writes statements itself, at the sites it is offered",
}


def tags_of(rule: Rule) -> list[str]:
    """The tags of the rule, as in TAGS."""
    held = (rule.layout, rule.breaks_graph, not rule.gradients, rule.is_generator)
    return [tag for tag, holds in zip(TAGS, held, strict=True) if holds]


def survival_of(rule: Rule) -> str | None:
    """The compile depth of the rule; None if it was not measured."""
    level = level_of(rule.name)
    return level.word if level is not None else None


def to_fields(rule: Rule) -> dict[str, Any]:
    """The rule's line in ``eqfuzz rules --format json``."""
    return {
        "family": rule.family,
        "name": rule.name,
        "exactness": str(rule.exact),
        "tags": tags_of(rule),
        "gradients": rule.gradients,
        "survival": survival_of(rule),
        "place": place_of(rule),
        "source": rule.source,
        "doc": rule.doc,
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


def print_table(console: Console, rules: Sequence[Rule]) -> None:
    """One row per rule, and the totals."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("family", style="dim", no_wrap=True)
    table.add_column("name", overflow="fold")
    table.add_column("exactness", no_wrap=True)
    table.add_column("depth", no_wrap=True)
    table.add_column("tags", overflow="fold", style="dim")
    for rule in rules:
        exactness = Text(str(rule.exact), style=STYLES[rule.exact])
        name, tags = Text(rule.name.partition("/")[2]), Text(", ".join(tags_of(rule)))
        table.add_row(Text(rule.family), name, exactness, survival_of(rule), tags)
    console.print(table)
    families = len({rule.family for rule in rules})
    classes = [(str(c), sum(r.exact is c for r in rules)) for c in Exactness]
    tags = [(tag, sum(tag in tags_of(r) for r in rules)) for tag in TAGS]
    parts = "  ·  ".join(f"{name} {number:,}" for name, number in (*classes, *tags) if number)
    console.print()
    total = f"{count(len(rules), 'rule')} in {count(families, 'family', 'families')}"
    console.print(Text.assemble((total, "bold"), (f"  ·  {parts}", "dim")), soft_wrap=not console.is_terminal)


def print_page(console: Console, rule: Rule, demonstration: Demonstration | str) -> None:
    """The declaration of the rule, and an example of it."""
    console.print(Text(rule.name, style="bold magenta"))
    console.print(Padding(Text(printable(rule.doc)), (0, 0, 1, 2)))
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    sides = sides_of(rule)
    if sides:
        rows.add_row("equation", _code(f"{sides[0]}  →  {sides[1]}"))
        if rule.sorts:
            rows.add_row("operands", Text(", ".join(f"{name}: {sort}" for name, sort in rule.sorts.items())))
    else:
        rows.add_row("looks at", Text(", ".join(node.__name__ for node in rule.nodes)))
    exactness = Text.assemble((str(rule.exact), f"bold {STYLES[rule.exact]}"), f"  {MEANINGS[rule.exact]}")
    rows.add_row("exactness", exactness)
    for number, guard in enumerate(rule.where):
        rows.add_row("" if number else "only where", Text(printable(guard.text)))
    for number, tag in enumerate(tags_of(rule)):
        rows.add_row("" if number else "tags", Text.assemble((tag, "bold"), f"  {TAGS[tag]}"))
    rows.add_row("compile depth", Text(survival_of(rule) or "not measured"))
    if rule.source:
        rows.add_row("source", Text(printable(rule.source)))
    rows.add_row("declared in", Text(place_of(rule)))
    console.print(Padding(rows, (0, 0, 1, 2)))
    console.print(Text("  example", style="bold"))
    console.print(Padding(_example(demonstration), (0, 0, 1, 4)))
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


def _example(demonstration: Demonstration | str) -> RenderableType:
    if isinstance(demonstration, str):
        return Text(f"no example: {demonstration}", style="yellow")
    example, variant = demonstration.example, demonstration.variant
    diff = SourceDiff(example.source, variant.program.source, variant.derivation)
    return Group(diff, Text(f"for {demonstration.operands}", style="dim"))


def sides_of(rule: Rule) -> tuple[str, str] | None:
    """Left and right as text; None for a generator."""
    if rule.is_generator:
        return None
    equation = equation_of(rule)
    return code_of(equation.left).strip(), code_of(equation.right).strip()


def _code(text: str) -> Text:
    highlighted = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(text)
    highlighted.rstrip()
    return highlighted
