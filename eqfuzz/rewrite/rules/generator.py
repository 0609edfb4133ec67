"""Generators: rules that write source text themselves, for rewrites that are no equation between two expressions.

A generator is a function decorated with ``rule`` whose first parameter is annotated with the libcst nodes that it
handles and whose second is the RewriteContext. It yields every way in which it can rewrite that node::

    @rule(exact="bitwise", example='''
    def program(x, y):
        for j in range(3):
            x = torch.sin(x) + y * j
        return x
    ''')
    def unrolled(loop: cst.For, ctx: RewriteContext):
        \"\"\"A loop over a range of known length, iteration by iteration.\"\"\"
        numbers = ctx.value(loop.iter, "range")
        ...
        yield "\\n".join(turns)

It yields text for the node itself (statements as lines without indentation), an Edit, or a tuple of these where other
places change too (``ctx.ahead``, ``ctx.hoisted``, ``ctx.define``, ``ctx.replace``). ``skip("reason")`` says why there
is no rewrite. Statement nodes (``cst.For``, ``cst.Assign``, ``cst.Return`` …) are offered when they are alone on their
line in a function of the code under test, expression nodes wherever their value may be replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.probe import Facts
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.source.edit import Edit, Skip
from eqfuzz.rewrite.source.syntax import Expression, Statement, Syntax

Written = str | Edit | tuple[str | Edit, ...]
"""The values that a generator yields."""


class GeneratorRule:
    """A rule that writes source text itself."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.nodes = rule.nodes
        self._write: Callable[..., Iterator[Written]] = rule.function

    def changes(
        self, here: Expression | Statement, syntax: Syntax, facts: Facts
    ) -> Iterator[tuple[tuple[Edit, ...], RewriteContext] | str]:
        """Every way to write the node here as edits, the one of the node itself first; or why there is none.

        Names and imports requested for one change may be used by the next ones, so they accumulate.
        """
        place = RewriteContext(syntax, facts, here)
        changes = self._write(here.node, place)
        try:
            for written in changes:
                yield self._edits(written, place), place
        except Skip as reason:
            yield str(reason)

    def _edits(self, written: Written, place: RewriteContext) -> tuple[Edit, ...]:
        parts = written if isinstance(written, tuple) else (written,)
        edits = tuple(_own(part, place) if isinstance(part, str) else part for part in parts)
        own = place.here.span
        return tuple(sorted(edits, key=lambda e: (e.span != own, e.span)))


def _own(text: str, place: RewriteContext) -> Edit:
    """The edit that puts ``text`` where the node offered stands."""
    here = place.here
    if isinstance(here, Statement):
        return Edit(here.span, place.at_indent(text))
    return Edit(here.span, text if (here.enclosed and "\n" not in text) or _is_atom(text) else f"({text})")


def _is_atom(text: str) -> bool:
    """Whether ``text`` binds as tightly as a name."""
    if "\n" in text:
        return False
    try:
        node = cst.parse_expression(text)
    except cst.ParserSyntaxError:  # reported when the variant is compiled
        return False
    return bool(node.lpar) or isinstance(node, (cst.Name, cst.Call, cst.Attribute, cst.Subscript, cst.List, cst.Dict))
