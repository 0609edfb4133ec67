"""An expression as a function of the variables that it reads, so that it can be evaluated elsewhere."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Iterator, Sequence

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.source.edit import Edit, edited, skip
from eqfuzz.rewrite.source.syntax import dotted

_SIMPLE = ("tensor", "int", "float", "bool")


@dataclasses.dataclass(frozen=True)
class Closure:
    """``body`` reads the ``parameters``; where the expression stood they are ``arguments``, seen to be ``facts``."""

    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    body: str
    facts: tuple[Sequence[Fact], ...]

    @property
    def function(self) -> str:
        """A lambda of the parameters."""
        return f"lambda {', '.join(self.parameters)}: {self.body}"

    @property
    def argument_list(self) -> str:
        """The arguments, separated by commas."""
        return ", ".join(self.arguments)


def closed(expression: cst.BaseExpression, ctx: RewriteContext) -> Closure:
    """``expression`` closed over tensors and numbers: local variables, and attributes of them such as ``self.scale``.

    Raises Skip where it has side effects, opens a scope, or reads anything else of the place; and where a tensor that
    it reads is written to later, so that evaluating it again would give something else.
    """
    ctx.require_pure(expression)
    names: dict[str, str] = {}
    facts: list[Sequence[Fact]] = []
    edits: list[Edit] = []
    start, end = ctx.syntax.span(expression)
    for node in _reads(expression, ctx):
        text = ctx.text(node)
        if text not in names:
            seen = ctx.facts(node)
            for fact in seen:
                if fact.kind not in _SIMPLE:
                    skip(f"{text} is {fact.describe()}, neither a tensor nor a number")
                if fact.mutated:
                    skip(f"{text} is changed later")
            names[text] = text if isinstance(node, cst.Name) else ctx.new_name(dotted(node).rpartition(".")[2])  # type: ignore[union-attr]
            facts.append(seen)
        left, right = ctx.syntax.span(node)
        edits.append(Edit((left - start, right - start), names[text]))
    if not any(fact.is_tensor for seen in facts for fact in seen):
        skip("it reads no tensor")
    body = edited(ctx.syntax.text[start:end], edits)
    return Closure(tuple(names.values()), tuple(names), f"({body})" if "\n" in body else body, tuple(facts))


def _reads(node: cst.CSTNode, ctx: RewriteContext) -> Iterator[cst.Name | cst.Attribute]:
    """The names and attribute chains that depend on the place. Raises Skip for what cannot stand elsewhere."""
    match node:
        case cst.Name():
            if node.value in ctx.locals:
                yield node
            elif node.value not in ctx.syntax.imports and not hasattr(builtins, node.value):
                skip(f"{node.value} is neither a local variable nor imported")
            return
        case cst.Attribute():
            path = dotted(node) or ""
            is_own = path and path.partition(".")[0] in ctx.locals and not _is_method_of_tensor(node, ctx)
            if is_own:
                yield node
            else:
                yield from _reads(node.value, ctx)
            return
        case cst.Lambda() | cst.BaseComp() | cst.FormattedString() | cst.ConcatenatedString() | cst.StarredElement():
            skip("the expression contains a scope or a formatted string")
        case cst.Call():
            if isinstance(node.func, cst.Attribute) and ctx.resolved(node.func) is None:
                yield from _reads(node.func.value, ctx)
            elif ctx.resolved(node.func) is None:
                yield from _reads(node.func, ctx)
            for argument in node.args:
                yield from _reads(argument.value, ctx)
            return
        case _:
            pass
    for child in node.children:
        yield from _reads(child, ctx)


def _is_method_of_tensor(node: cst.Attribute, ctx: RewriteContext) -> bool:
    """Whether the chain is ``x.shape`` of a tensor ``x``, which stays with ``x``."""
    return isinstance(node.value, cst.Name) and node.value.value != "self" and ctx.facts(node.value)[0].is_tensor
