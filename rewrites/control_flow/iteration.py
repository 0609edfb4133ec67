"""How a loop takes its items: by iteration, index, enumerate, zip, count, forwards and backwards."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import require_no_handler, require_one_text, walk
from eqfuzz.rewrite.context.loop_control import (
    fresh,
    has,
    otherwise,
    reads_of,
    require_harmless,
    require_unseen,
    require_unshared,
    rows_of,
    simple_name,
    stores_of_loop,
)
from eqfuzz.rewrite.context.patterns import appended, assigned, called, only_statement, previous
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, indented, skip


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        xs = (x, y)
        for t in xs:
            x = x + t
        for i, t in enumerate(xs):
            x = x * t + i
        for t, u in zip(xs, (y, x, y)[1:]):
            x = x + t
        ys = (y, x, x)
        for t, u in zip(xs, ys):
            x = x * t - u
        return x, t, u
    """,
)
def items_to_indices(loop: cst.For, ctx: RewriteContext):
    """Items of tuples or rows of tensors are taken by index; also those of enumerate and zip."""
    if loop.asynchronous is not None:
        return
    enumerated, zipped = called(ctx, loop.iter, "enumerate"), called(ctx, loop.iter, "zip")
    targets = loop.target.elements if isinstance(loop.target, cst.Tuple) else ()
    if any(isinstance(e, cst.StarredElement) for e in targets):
        skip("a target is starred")
    if enumerated is not None:
        if len(enumerated) != 1 or len(targets) != 2 or not isinstance(targets[0].value, cst.Name):
            skip("enumerate has a start, or the loop has not two targets")
        sequences, stored, index = enumerated, [targets[1].value], targets[0].value.value
    elif zipped is not None:
        if not zipped or len(zipped) != len(targets):
            skip("zip without a target for each sequence")
        sequences, stored, index = zipped, [e.value for e in targets], ""
    else:
        sequences, stored, index = [loop.iter], [loop.target], ""
    counts = [rows_of(ctx, sequence) for sequence in sequences]
    names = [ctx.text(sequence) for sequence in sequences]
    changed = frozenset(names) & stores_of_loop(ctx, loop)
    if changed:
        skip(f"{min(changed)} is stored in the loop")
    index = index or fresh(ctx, "i")
    shortest = names[counts.index(min(counts))]
    items = ", ".join(ctx.text(t) for t in stored)
    taken = f"{items} = {', '.join(f'{name}[{index}]' for name in names)}"
    turns = f"{ctx.builtin('range')}({ctx.builtin('len')}({shortest}))"
    yield f"for {index} in {turns}:\n{indented(f'{taken}{chr(10)}{ctx.block(loop.body)}')}{otherwise(loop, ctx)}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        xs = (x, y, x)
        r = 1
        for i in range(len(xs)):
            if i:
                r = r * xs[i] + xs[0]
            r = r + torch.sin(xs[i]) * i
        return r, i
    """,
)
def indices_to_enumerate(loop: cst.For, ctx: RewriteContext):
    """A loop over all indices of a tuple or tensor is a loop over its numbered items."""
    index = simple_name(ctx, loop.target)
    numbers = ctx.value(loop.iter, "range")
    require_harmless(ctx, loop.iter)
    reads_of(loop.body, index)
    if has(loop.body, cst.Is, cst.IsNot):
        skip("identities are compared in the loop")
    for name, nodes in subscripts_by_name(loop.body, index).items():
        if name in stores_of_loop(ctx, loop) or any(_is_stored(loop.body, node) for node in nodes):
            skip(f"{name} or an item of it is stored in the loop")
        if any(numbers != range(rows_of(ctx, node.value)) for node in nodes):
            skip(f"not all items of {name}, or not in order")
        item = fresh(ctx, "item")
        body = ctx.block(loop.body, [Edit(ctx.syntax.span(node), item) for node in nodes])
        head = f"for {index}, {item} in {ctx.builtin('enumerate')}({name}):"
        yield f"{head}\n{indented(body)}{otherwise(loop, ctx)}"


def subscripts_by_name(body: cst.CSTNode, index: str) -> dict[str, list[cst.Subscript]]:
    """The places ``name[index]`` in ``body``, by name."""
    subscripts: dict[str, list[cst.Subscript]] = {}
    for node in walk(body):
        if not isinstance(node, cst.Subscript) or not isinstance(node.value, cst.Name) or len(node.slice) != 1:
            continue
        ctx = node.slice[0].slice
        if isinstance(ctx, cst.Index) and isinstance(ctx.value, cst.Name) and ctx.value.value == index and not ctx.star:
            subscripts.setdefault(node.value.value, []).append(node)
    return subscripts


def _is_stored(body: cst.CSTNode, item: cst.Subscript) -> bool:
    holders = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor, cst.AsName, cst.Del)
    for node in walk(body):
        if isinstance(node, holders):
            target = node if isinstance(node, (cst.Del, cst.AsName)) else node.target
            if any(inner is item for inner in walk(target)):
                return True
    return False


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        for i, t in enumerate((x, y)):
            x = x * t + i
        for i, t in enumerate([x, y], 2):
            x = x - t * i
        return x
    """,
)
def enumerate_to_count(loop: cst.For, ctx: RewriteContext):
    """Numbered items are items beside an endless count."""
    arguments = called(ctx, loop.iter, "enumerate")
    if arguments is None or not 1 <= len(arguments) <= 2:
        return
    start = f"{ctx.value(arguments[1], 'int')}" if len(arguments) == 2 else ""
    if len(arguments) == 2 and not isinstance(arguments[1], cst.Integer):
        skip("the start is computed")
    items = require_one_text(ctx, arguments[0])
    yield ctx.replace(loop.iter, f"{ctx.builtin('zip')}({ctx.path('itertools.count')}({start}), {items})")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        for j in range(1, 8, 3):
            x = x * 0.5 + y * j
        return x
    """,
)
def range_written_out(loop: cst.For, ctx: RewriteContext):
    """A short range of known numbers is a tuple of them, or the beginning of an endless count."""
    numbers = ctx.value(loop.iter, "range")
    require_harmless(ctx, loop.iter)
    if not 1 <= len(numbers) <= 12:
        skip(f"the loop has {len(numbers)} turns")
    yield ctx.replace(loop.iter, f"({', '.join(map(str, numbers))},)")
    count = f"{ctx.path('itertools.count')}({numbers.start}, {numbers.step})"
    yield ctx.replace(loop.iter, f"{ctx.path('itertools.islice')}({count}, {len(numbers)})")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        parts = []
        for j in range(4):
            parts.append(torch.sin(x) * j - y)
        rows = [None, None]
        for k in range(2):
            rows[k] = x + k
        return parts, rows
    """,
)
def reverse_iterations(loop: cst.For, ctx: RewriteContext):
    """Independent items are computed from the last to the first, and a list of them is then reversed."""
    assignment = assigned(previous(ctx))
    statement = only_statement(loop.body)
    name = simple_name(ctx, loop.target)
    if assignment is None or loop.orelse is not None:
        skip("no new container is created right before the loop, or the loop has an else")
    facts = ctx.facts(loop.iter)
    if any(f.kind not in ("range", "tuple") for f in facts):
        skip(f"{facts[0].describe()} may not be reversible")
    container, first = assignment
    require_unshared(ctx, [container])
    require_unseen(ctx, [name], loop)
    require_no_handler(ctx)
    items = f"{ctx.builtin('reversed')}({require_one_text(ctx, loop.iter)})"
    back = f"for {name} in {items}:\n{indented(ctx.block(loop.body))}"
    item = appended(statement)
    if item is not None and item[0] == container:
        if not isinstance(first, cst.List) or first.elements:
            skip(f"{container} is not empty before the loop")
        _require_independent(ctx, item[1], container)
        yield f"{back}\n{container}.reverse()"
        return
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        skip("the body does not fill a container")
    target = statement.targets[0].target
    if not any(node is target for node in subscripts_by_name(target, name).get(container, ())):
        skip("the body does not store by the loop's index")
    numbers = ctx.value(loop.iter, "range")
    if min(numbers, default=0) < 0 or not _is_new(ctx, first):
        skip(f"{container} may be more than new memory")
    require_harmless(ctx, first)
    _require_independent(ctx, statement.value, container)
    yield back


def _is_new(ctx: RewriteContext, value: cst.BaseExpression) -> bool:
    """Whether an expression makes a container that nothing else can see: a list display or fresh memory."""
    if isinstance(value, cst.List):
        return all(isinstance(e.value, cst.Name) and e.value.value == "None" for e in value.elements)
    if not isinstance(value, cst.Call):
        return False
    path = ctx.resolved(value.func) or ""
    return path.removeprefix("torch.") in ("empty", "zeros", "ones", "empty_like", "zeros_like", "ones_like")


def _require_independent(ctx: RewriteContext, item: cst.BaseExpression, container: str) -> None:
    """Skip when computing an item may change something, or reads the container."""
    require_harmless(ctx, item)
    if container in ctx.names(item).reads:
        skip(f"{container} is read in the loop")
