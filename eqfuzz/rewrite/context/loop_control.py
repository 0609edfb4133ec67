"""Control flow in a syntax tree: where statements jump to, what suspends, which names and scopes stand in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import own_nodes, path_to, require_one_text, require_ordinary, shared_names, walk
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.source.edit import Edit, edited, indented, skip
from eqfuzz.rewrite.source.names import names_in
from eqfuzz.rewrite.source.purity import is_pure

DEFINITIONS = (cst.FunctionDef, cst.ClassDef, cst.Lambda)

_FRAME_READERS = frozenset("locals vars eval exec dir globals super __class__".split())
"""What these names mean depends on the function that they stand in."""

_CONSUMERS = frozenset("sum list tuple max min any all sorted dict set".split())
_LIBRARIES = frozenset("torch math operator".split())
_MOST_LINES = 80


def jumps(body: cst.CSTNode) -> Iterator[cst.Break | cst.Continue]:
    """The ``break`` and ``continue`` of the loop that ``body`` is the body of; a nested loop's own are not."""
    if isinstance(body, (cst.Break, cst.Continue)):
        yield body
    elif isinstance(body, (cst.For, cst.While)):
        if body.orelse is not None:
            yield from jumps(body.orelse)
    elif not isinstance(body, DEFINITIONS):
        for child in body.children:
            yield from jumps(child)


def has(node: cst.CSTNode, *kinds: type[cst.CSTNode]) -> bool:
    """Whether a node of these kinds runs as part of ``node``."""
    return any(isinstance(n, kinds) for n in own_nodes(node))


def require_no_jump(body: cst.CSTNode, *kinds: type[cst.CSTNode]) -> None:
    for jump in jumps(body):
        if not kinds or isinstance(jump, kinds):
            skip(f"the body has a {type(jump).__name__.lower()}")


def require_plain(node: cst.CSTNode) -> None:
    """Skip what means something else inside another function, lambda or comprehension."""
    for inner in walk(node):
        if isinstance(inner, (cst.Return, cst.Yield, cst.Await, cst.Global, cst.Nonlocal, cst.NamedExpr, cst.Del)):
            skip(f"a {_word(inner)} cannot move into another scope")
        if isinstance(inner, cst.CompFor) and inner.asynchronous is not None:
            skip("an asynchronous comprehension cannot move into another scope")
        if isinstance(inner, cst.Name) and inner.value in _FRAME_READERS:
            skip(f"{inner.value} means something else in another scope")


def _word(node: cst.CSTNode) -> str:
    return "walrus" if isinstance(node, cst.NamedExpr) else type(node).__name__.lower()


def terminates(body: cst.BaseSuite) -> bool:
    """Whether control never runs past the end of ``body``."""
    last = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    if isinstance(last, (cst.Return, cst.Raise, cst.Continue, cst.Break)):
        return True
    if not isinstance(last, cst.If) or not terminates(last.body) or last.orelse is None:
        return False
    return (
        terminates(cst.IndentedBlock([last.orelse]))
        if isinstance(last.orelse, cst.If)
        else terminates(last.orelse.body)
    )


def fresh(ctx: RewriteContext, stem: str) -> str:
    """A new local name; Skip where the function inspects its own variables."""
    require_ordinary(ctx)
    return ctx.new_name(stem)


def simple_name(ctx: RewriteContext, target: cst.CSTNode) -> str:
    """The variable that ``target`` is, which nothing but its own function sees."""
    if not isinstance(target, cst.Name):
        skip("the target is not a plain variable")
    require_unshared(ctx, [target.value])
    return target.value


def require_unshared(ctx: RewriteContext, names: Iterable[str]) -> None:
    """Skip when one of ``names`` is global or nonlocal somewhere, or seen by what this function evaluates later."""
    names = frozenset(names)
    if shared := names & shared_names(ctx):
        skip(f"{min(shared)} is global or nonlocal")
    if late := names & _seen_late(ctx.statement.function):
        skip(f"a function or generator defined here may see {min(late)}")


def _seen_late(function: cst.FunctionDef) -> frozenset[str]:
    """Names in the definitions, lambdas, and generator expressions not consumed on the spot, inside ``function``."""
    consumed = {
        node.args[0].value
        for node in walk(function)
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and len(node.args) >= 1
        if node.func.value in _CONSUMERS
    }
    return frozenset(
        inner.value
        for node in walk(function.body)
        if isinstance(node, (*DEFINITIONS, cst.GeneratorExp)) and node not in consumed
        for inner in walk(node)
        if isinstance(inner, cst.Name)
    )


def require_unseen(ctx: RewriteContext, names: Iterable[str], node: cst.CSTNode) -> None:
    """Skip when the function may read one of ``names`` outside ``node``, so that what it stores there matters.

    The ``else`` of a loop and what it iterates count as outside, the bodies of other loops that bind the name do not.
    """
    require_unshared(ctx, names)
    for name in sorted(names):
        if name in _read_apart(ctx, node, name):
            skip(f"{name} is used elsewhere")


def _read_apart(ctx: RewriteContext, node: cst.CSTNode, name: str) -> frozenset[str]:
    """What is read outside ``node`` and outside other loops whose own target ``name`` is; what is deleted counts."""
    function = ctx.statement.function
    around = path_to(function, node)
    own_loops: list[cst.For] = []
    _collect_loops(function.body, name, around, own_loops)
    reads = ctx.elsewhere(node, *own_loops).reads
    for loop in own_loops:
        reads |= ctx.names(loop.iter).reads
    if isinstance(node, cst.For):
        reads |= ctx.names(node.iter).reads
    if isinstance(node, (cst.For, cst.While)) and node.orelse is not None:
        reads |= names_in(ctx.block(node.orelse.body)).reads
    deleted = {n.value for d in walk(function) if isinstance(d, cst.Del) for n in walk(d) if isinstance(n, cst.Name)}
    return reads | deleted


def _collect_loops(node: cst.CSTNode, name: str, around: Sequence[cst.CSTNode], loops: list[cst.For]) -> None:
    """The outermost loops over ``name``, without an else, that do not lie around or in a place."""
    if around and node is around[-1]:
        return
    binds = isinstance(node, cst.For) and node.orelse is None and node.asynchronous is None
    if binds and not any(node is a for a in around):
        assert isinstance(node, cst.For)
        if name in {n.value for n in walk(node.target) if isinstance(n, cst.Name)} and not _stores_items(node.target):
            loops.append(node)
            return
    for child in node.children:
        _collect_loops(child, name, around, loops)


def _stores_items(target: cst.CSTNode) -> bool:
    return any(isinstance(n, (cst.Attribute, cst.Subscript)) for n in walk(target))


def reads_of(node: cst.CSTNode, name: str) -> list[cst.Name]:
    """Every place in ``node`` that reads the variable ``name``; Skip where another scope has one of that name."""
    reads: list[cst.Name] = []
    _collect_reads(node, name, reads)
    return reads


def _collect_reads(node: cst.CSTNode, name: str, reads: list[cst.Name]) -> None:
    match node:
        case cst.Name():
            if node.value == name:
                reads.append(node)
            return
        case cst.FormattedString() | cst.FunctionDef() | cst.ClassDef() | cst.Lambda() | cst.Match():
            if any(isinstance(n, cst.Name) and n.value == name for n in walk(node)):
                skip(f"{name} stands inside a {_word(node)}")
            return
        case cst.Attribute():
            _collect_reads(node.value, name, reads)
            return
        case cst.Arg():
            _collect_reads(node.value, name, reads)
            return
        case cst.CompFor() | cst.For() | cst.AssignTarget() | cst.AugAssign() | cst.AnnAssign() | cst.NamedExpr():
            if any(isinstance(n, cst.Name) and n.value == name for n in walk(node.target)) and not isinstance(
                node.target, (cst.Subscript, cst.Attribute)
            ):
                skip(f"{name} is stored")
        case cst.Del() | cst.Global() | cst.Nonlocal() | cst.Import() | cst.ImportFrom() | cst.AsName():
            if any(isinstance(n, cst.Name) and n.value == name for n in walk(node)):
                skip(f"{name} is stored")
            return
        case _:
            pass
    for child in node.children:
        _collect_reads(child, name, reads)


def with_value(ctx: RewriteContext, node: cst.CSTNode, name: str, text: str) -> list[Edit]:
    """Edits that put ``text``, an atom, wherever ``node`` reads ``name``."""
    return [Edit(ctx.syntax.span(n), text) for n in reads_of(node, name)]


def number_atom(number: int) -> str:
    """A literal that may stand for a name anywhere, also before an attribute or a power."""
    return f"({number})"


def rows_of(ctx: RewriteContext, sequence: cst.BaseExpression) -> int:
    """How many items the tuple or tensor in a local variable has, which indexing gives as iterating does."""
    if not isinstance(sequence, cst.Name):
        skip("the iterable is not a plain variable")
    facts = ctx.facts(sequence)
    counts = {
        f.shape[0] if f.is_tensor and f.shape else f.length if f.kind in ("tuple", "ints") else None for f in facts
    }
    if len(counts) != 1 or None in counts:
        skip(f"{sequence.value} is {facts[0].describe()}, not a tuple or tensor of one known length")
    if any(f.mutated for f in facts):
        skip(f"{sequence.value} is written to later, and its rows may be views")
    if any(f.is_tensor and not f.numel for f in facts):
        skip(f"{sequence.value} is empty")
    require_unshared(ctx, [sequence.value])
    (count,) = counts
    assert count is not None
    return count


def _items(fact: Fact) -> int | None:
    """How many items a tuple or tensor has."""
    if fact.is_tensor and fact.shape:
        return fact.shape[0]
    return fact.length if fact.kind == "tuple" else None


def stores_of_body(ctx: RewriteContext, body: cst.BaseSuite) -> frozenset[str]:
    """Variables that the statements of ``body`` store."""
    return names_in(ctx.block(body)).stores


def stores_of_loop(ctx: RewriteContext, loop: cst.For) -> frozenset[str]:
    """Variables that a loop stores, its target included."""
    return names_in(f"for {ctx.text(loop.target)} in ():\n{indented(ctx.block(loop.body))}").stores


def harmless(ctx: RewriteContext, expression: cst.CSTNode) -> bool:
    """Whether evaluating it changes nothing, with every call one of torch, math, or a method of a tensor."""
    return is_pure(expression) and all(_is_known(ctx, node) for node in walk(expression) if isinstance(node, cst.Call))


def require_harmless(ctx: RewriteContext, *expressions: cst.CSTNode) -> None:
    for expression in expressions:
        if not harmless(ctx, expression):
            skip(f"{' '.join(ctx.syntax.text_of(expression).split())[:40]} may have side effects")


def _is_known(ctx: RewriteContext, call: cst.Call) -> bool:
    if isinstance(call.func, cst.Name) and call.func.value in ("abs", "len", "int", "float", "bool", "range", "tuple"):
        return call.func.value not in ctx.locals | ctx.syntax.module_names | frozenset(ctx.syntax.imports)
    path = ctx.resolved(call.func)
    if path is not None:
        return path.split(".")[0] in _LIBRARIES
    if not isinstance(call.func, cst.Attribute):
        return False
    visits = ctx.visits(call.func.value)
    return bool(visits) and all(f.is_tensor for f in visits)


def require_short(text: str) -> None:
    """Skip where a rewrite would make a function much longer."""
    if text.count("\n") >= _MOST_LINES:
        skip("the result would be very long")


def otherwise(loop: cst.For | cst.While, ctx: RewriteContext) -> str:
    """The ``else`` of a loop, as it stands."""
    return f"\nelse:\n{indented(ctx.block(loop.orelse.body))}" if loop.orelse is not None else ""


def afterwards(loop: cst.For | cst.While, ctx: RewriteContext) -> str:
    """The ``else`` of a loop that is never broken off, as statements behind it."""
    return f"\n{ctx.block(loop.orelse.body)}" if loop.orelse is not None else ""


def parent_loop(ctx: RewriteContext) -> cst.For | cst.While | None:
    """The loop whose body the statement here stands in directly."""
    path = path_to(ctx.statement.function, ctx.statement.node)
    blocks = [i for i, node in enumerate(path) if isinstance(node, cst.BaseSuite)]
    owner = path[blocks[-1] - 1] if blocks and blocks[-1] else None
    return owner if isinstance(owner, (cst.For, cst.While)) and path[blocks[-1]] is owner.body else None


def text_with(ctx: RewriteContext, expression: cst.BaseExpression, edits: list[Edit]) -> str:
    """The text of an expression with edits made inside, in parentheses where it had some or has several lines."""
    require_one_text(ctx, expression)
    start, end = ctx.syntax.span(expression)
    text = edited(ctx.syntax.text[:end], edits)[start:]
    return f"({text})" if expression.lpar or "\n" in text else text
