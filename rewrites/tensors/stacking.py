"""Items made one by one: written out or rolled up in a list, taken by index, stacked or stored into a buffer."""

import itertools

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import bound_before, require_first, require_no_handler, require_one_text, walk
from eqfuzz.rewrite.context.loop_control import (
    fresh,
    number_atom,
    require_harmless,
    require_plain,
    require_short,
    require_unseen,
    require_unshared,
    rows_of,
    simple_name,
    text_with,
    with_value,
)
from eqfuzz.rewrite.context.patterns import assigned, called, expressions_in, only_statement, previous, target_names
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.preconditions import floating, same_dtype
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, indented, skip

Simple = cst.Assign | cst.AugAssign | cst.Return | cst.Expr

MOST_ITEMS = 12


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        parts = [torch.sin(x) * 1, torch.sin(x) * 3, torch.sin(x) * 5]
        return parts, [(y + 2, 7 - y), (y + 4, 6 - y)], [x, y]
    """,
)
def elements_rolled(statement: Simple, ctx: RewriteContext):
    """The items of a list that differ only in integers that count evenly are a comprehension over a range."""
    for node in expressions_in(statement, cst.List):
        assert isinstance(node, cst.List)
        items = [element.value for element in node.elements]
        if len(items) < 2 or any(isinstance(e, cst.StarredElement) for e in node.elements):
            continue
        rows = [[n for n in walk(item) if isinstance(n, cst.Integer)] for item in items]
        if any(isinstance(item, cst.Integer) for item in items) or not _counts_evenly(ctx, items, rows):
            continue
        require_plain(node)
        if any(isinstance(n, (cst.Lambda, cst.GeneratorExp, cst.FormattedString)) for n in walk(node)):
            skip("code that is evaluated later would read the last number")
        counter = fresh(ctx, "k")
        edits = [
            Edit(ctx.syntax.span(first), linear_term(counter, first.evaluated_value, second.evaluated_value))
            for first, second in zip(rows[0], rows[1], strict=True)
            if first.evaluated_value != second.evaluated_value
        ]
        element = text_with(ctx, items[0], edits)
        element = f"({element})" if isinstance(items[0], cst.Lambda) else element
        yield ctx.replace(node, f"[{element} for {counter} in {ctx.builtin('range')}({len(items)})]")


def _counts_evenly(ctx: RewriteContext, items: list[cst.BaseExpression], rows: list[list[cst.Integer]]) -> bool:
    """Whether the items have one text but for integers, and each integer grows by the same step from item to item."""
    outlines = {
        text_with(ctx, item, [Edit(ctx.syntax.span(n), "\0") for n in row])
        for item, row in zip(items, rows, strict=True)
    }
    if len(outlines) != 1:
        return False
    columns = [[n.evaluated_value for n in column] for column in zip(*rows, strict=True)]
    steps = [{b - a for a, b in itertools.pairwise(column)} for column in columns]
    return all(len(s) == 1 for s in steps) and any(s != {0} for s in steps)


def linear_term(counter: str, first: int, second: int) -> str:
    multiple = f"{second - first} * {counter}"
    return f"({first} + {multiple})" if first else f"({multiple})"


UNROLLED = """
def program(x, y):
    rows = (x, y, x + 1)
    powers = [y * j + j for j in range(1, 6, 2)]
    return [torch.sin(t) + t for t in rows], powers, [t * k for k, t in enumerate(rows)]
"""


@rule(exact="bitwise", where=[floating("x", "y")], example=UNROLLED)
def comprehension_unrolled(statement: Simple, ctx: RewriteContext):
    """A comprehension over few known numbers or items is a list of its items."""
    for node in expressions_in(statement, cst.ListComp):
        clause = _plain_clause(node)
        if clause is None or not isinstance(clause.target, cst.Name):
            continue
        assert isinstance(node, cst.ListComp)
        name = clause.target.value
        require_plain(node)
        _require_nothing_later(node)
        values = observed_items(ctx, clause.iter)
        if not 1 <= len(values) <= MOST_ITEMS:
            skip(f"it makes {len(values)} items")
        items = [text_with(ctx, node.elt, with_value(ctx, node.elt, name, value)) for value in values]
        bracketed = [f"({item})" if isinstance(node.elt, cst.Lambda) else item for item in items]
        yield ctx.replace(node, f"[{', '.join(bracketed)}]")


def _plain_clause(node: cst.CSTNode) -> cst.CompFor | None:
    """The one clause without conditions of a list comprehension."""
    if not isinstance(node, cst.ListComp):
        return None
    clause = node.for_in
    return clause if clause.inner_for_in is None and not clause.ifs and clause.asynchronous is None else None


def _require_nothing_later(node: cst.CSTNode) -> None:
    if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(node)):
        skip("part of the loop's body is evaluated later")
    if any(isinstance(n, (cst.Is, cst.IsNot)) for n in walk(node)):
        skip("identities are compared in it")


def observed_items(ctx: RewriteContext, iterable: cst.BaseExpression) -> list[str]:
    """The items of a range, or of a tuple or tensor in a variable, as atoms."""
    if isinstance(iterable, cst.Name):
        return [f"{iterable.value}[{i}]" for i in range(rows_of(ctx, iterable))]
    numbers = ctx.value(iterable, "range")
    require_harmless(ctx, iterable)
    return [number_atom(n) for n in numbers]


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        rows, others = (x, y, x), (y, y, x, x)
        both = [p + q * p for p, q in zip(rows, others)]
        return both, [torch.sin(t) * t for t in rows], [t * k for k, t in enumerate(rows)]
    """,
)
def comprehension_by_index(statement: Simple, ctx: RewriteContext):
    """A comprehension over tuples or tensors takes their items by index, or those of all but the first of several."""
    for node in expressions_in(statement, cst.ListComp):
        clause = _plain_clause(node)
        if clause is None:
            continue
        assert isinstance(node, cst.ListComp)
        targets = target_names(clause.target)
        zipped = called(ctx, clause.iter, "zip")
        flat = isinstance(clause.target, cst.Name) or all(isinstance(e.value, cst.Name) for e in clause.target.elements)
        sources = zipped if zipped is not None else [clause.iter]
        alone = zipped is None and not isinstance(clause.target, cst.Name)
        if not flat or alone or len(sources) != len(targets) or len(set(targets)) != len(targets):
            continue
        require_plain(node)
        _require_nothing_later(node)
        counts = [rows_of(ctx, source) for source in sources]
        names = [ctx.text(source) for source in sources]
        if frozenset(names) & frozenset(targets):
            skip("a sequence has the name of an item")
        index = fresh(ctx, "i")
        items = [f"{name}[{index}]" for name in names]
        shortest = names[counts.index(min(counts))]
        taken = element_for_each_item(ctx, node.elt, targets, items)
        turns = f"{ctx.builtin('range')}({ctx.builtin('len')}({shortest}))"
        yield ctx.replace(node, f"[{taken} for {index} in {turns}]")
        if len(sources) > 1 and counts[0] == min(counts):
            taken = element_for_each_item(ctx, node.elt, targets[1:], items[1:])
            head = f"for {index}, {targets[0]} in {ctx.builtin('enumerate')}({names[0]})"
            yield ctx.replace(node, f"[{taken} {head}]")


def element_for_each_item(
    ctx: RewriteContext, element: cst.BaseExpression, targets: list[str], items: list[str]
) -> str:
    pairs = zip(targets, items, strict=True)
    return text_with(ctx, element, [edit for name, item in pairs for edit in with_value(ctx, element, name, item)])


@rule(
    exact="bitwise",
    where=[floating("x", "y"), same_dtype("x", "y"), same_shape("x", "y"), at_least_rank("x", 1)],
    example="""
    def program(x, y):
        rows = [x, y * 2, x + y]
        return torch.stack([torch.sin(t) * y for t in rows]) * torch.stack([x - y * k for k in range(3)], 0)
    """,
)
def stack_to_buffer(call: cst.Call, ctx: RewriteContext):
    """What is stacked is stored into new memory, item by item."""
    if ctx.resolved(call.func) != "torch.stack" or not call.args or len(call.args) > 2:
        return
    node = call.args[0].value
    clause = _plain_clause(node)
    if clause is None or call.args[0].keyword is not None or not _along_the_first(call.args[1:]):
        skip("the call does not stack a simple comprehension along the first dimension")
    assert isinstance(node, cst.ListComp)
    require_plain(node)
    require_harmless(ctx, node.elt)
    require_first(ctx, call)
    require_unseen(ctx, target_names(clause.target), node)
    result = observed_kind(ctx, call)
    rows = ctx.tensors(node.elt)
    wanted = (result.dtype, result.shape[1:], result.device)
    if not result.shape or any((f.dtype, f.shape, f.device) != wanted for f in rows):
        skip("the items differ in dtype or device")
    like = _on_the_same_device(ctx, node, result)
    buffer, row = fresh(ctx, "buffer"), fresh(ctx, "row")
    items = require_one_text(ctx, clause.iter)
    items = f"({items})" if isinstance(clause.iter, cst.Tuple) and not clause.iter.lpar else items
    new = f"{like}.new_empty({result.shape!r}, dtype={ctx.path(str(result.dtype))})"
    turns = f"for {row}, ({ctx.text(clause.target)}) in {ctx.builtin('enumerate')}({items}):"
    stored = f"{buffer}[{row}] = {require_one_text(ctx, node.elt)}"
    yield buffer, ctx.ahead(f"{buffer} = {new}\n{turns}\n{indented(stored)}")


def _along_the_first(rest: list[cst.Arg] | tuple[cst.Arg, ...]) -> bool:
    """Whether what follows the list says ``dim=0`` or nothing."""
    return all(
        isinstance(a.value, cst.Integer)
        and a.value.evaluated_value == 0
        and (a.keyword is None or a.keyword.value == "dim")
        for a in rest
    )


def observed_kind(ctx: RewriteContext, expression: cst.BaseExpression) -> Fact:
    """The one dtype, shape and device of a contiguous tensor, whatever its values."""
    facts = ctx.tensors(expression)
    kinds = {(f.dtype, f.shape, f.device, f.requires_grad) for f in facts}
    if len(kinds) != 1 or not facts[0].contiguous or not facts[0].numel:
        skip("the item is empty, or not the same kind of contiguous tensor every time")
    if facts[0].dtype is None or facts[0].dtype.is_complex:
        skip("complex tensors may be conjugated lazily")
    return facts[0]


def _on_the_same_device(ctx: RewriteContext, node: cst.CSTNode, result: Fact) -> str:
    """A variable with a tensor on the device of the result."""
    inner = {n for part in walk(node) if isinstance(part, cst.CompFor) for n in target_names(part.target)}
    bound = bound_before(ctx) - inner
    for name in walk(node):
        if isinstance(name, cst.Name) and name.value in bound and _is_tensor(ctx, name, result.device):
            return name.value
    return skip("no tensor in it exists before the loop")


def _is_tensor(ctx: RewriteContext, name: cst.Name, device: str) -> bool:
    visits = ctx.visits(name)
    return bool(visits) and all(f.is_tensor and f.device == device for f in visits)


@rule(
    exact="bitwise",
    where=[floating("x", "y"), same_dtype("x", "y"), same_shape("x", "y"), at_least_rank("x", 1)],
    example="""
    def program(x, y):
        z = x.new_empty((3, *y.shape))
        for j in range(3):
            z[j] = torch.sin(x) * j
        w = torch.zeros_like(z)
        for i in range(len(w)):
            w[i] = z[i] * y
        return z, w
    """,
)
def buffer_to_stack(loop: cst.For, ctx: RewriteContext):
    """New memory that a loop fills row by row is a stack of the rows."""
    assignment, statement = assigned(previous(ctx)), only_statement(loop.body)
    name = simple_name(ctx, loop.target)
    filled = isinstance(statement, cst.Assign) and len(statement.targets) == 1
    if assignment is None or not filled or loop.orelse is not None or not isinstance(loop.iter, cst.Call):
        skip("no tensor is created right before the loop, or the loop has more than one statement")
    assert isinstance(statement, cst.Assign)
    target, (buffer, new) = statement.targets[0].target, assignment
    if "".join(ctx.syntax.text_of(target).split()) != f"{buffer}[{name}]" or not isinstance(target, cst.Subscript):
        skip("the body does not store by the loop's index")
    callee = new.func if isinstance(new, cst.Call) else None
    function = callee.attr.value if isinstance(callee, cst.Attribute) else ""
    if function.removeprefix("new_").removesuffix("_like") not in ("empty", "zeros", "ones", "full"):
        skip(f"{buffer} may be more than new memory")
    require_harmless(ctx, new)
    require_harmless(ctx, statement.value)
    require_plain(statement.value)
    require_no_handler(ctx)
    require_unseen(ctx, [name], loop)
    require_unshared(ctx, [buffer])
    if buffer in ctx.names(statement.value).reads:
        skip(f"{buffer} is read in the loop")
    numbers = ctx.value(loop.iter, "range")
    if buffer in ctx.names(loop.iter).reads:
        items = f"{ctx.builtin('range')}({len(numbers)})"
    else:
        items = require_one_text(ctx, loop.iter)
    require_harmless(ctx, loop.iter)
    memory, rows = ctx.tensors(target.value), ctx.tensors(statement.value)
    first = memory[0]
    if not first.contiguous or not first.numel or numbers != range(first.shape[0]) or first.dtype is None:
        skip("the loop does not fill all rows of contiguous memory in order")
    if first.requires_grad or first.dtype.is_complex or len({f.shape for f in memory}) != 1:
        skip("the memory needs gradients, is complex, or not always of one shape")
    if any((f.dtype, f.shape, f.device) != (first.dtype, first.shape[1:], first.device) for f in rows):
        skip("a row is converted or broadcast")
    if not all(f.contiguous for f in rows):
        skip("stacks of rows that are not contiguous may have other strides")
    require_short(items)
    creation = ctx.statement.block[ctx.statement.index - 1]
    text = f"{ctx.path('torch.stack')}([{require_one_text(ctx, statement.value)} for {name} in {items}])"
    yield f"{buffer} = {text}", Edit((ctx.syntax.span(creation)[0], ctx.here.span[0]), "")
