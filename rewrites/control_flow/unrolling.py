"""Turns of a loop written out one by one, taken off at either end, grouped, flattened; and runs rolled up again."""

import itertools

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import walk
from eqfuzz.rewrite.context.loop_control import (
    afterwards,
    fresh,
    has,
    number_atom,
    otherwise,
    require_harmless,
    require_no_jump,
    require_short,
    require_unseen,
    require_unshared,
    simple_name,
    stores_of_body,
    with_value,
)
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, indented, skip

MOST_TURNS = 12

COUNTED = """
def program(x, y):
    r = x
    for j in range(3):
        r = torch.sin(r) + j
    return r * y
"""

COUNTED_WITH_MORE = """
def program(x, y):
    r, seen = x, []
    for j in range(1, 9, 2):  # odd numbers
        if j == 5:
            r = r - y
        seen.append(r * j)
        for t in (x, y):
            if j == 3:
                break
            r = r + t
    else:
        r = r + 1
    return r, j, seen
"""

SKIPPING = """
def program(x, y):
    for j in range(4):
        if j == 1:
            continue
        x = x * 0.5 + y * j
    return x
"""


def loop_range(loop: cst.For, ctx: RewriteContext, least: int = 1, most: int = MOST_TURNS) -> range:
    """What a loop counts through; Skip unless that is known and short."""
    if loop.asynchronous is not None:
        skip("the loop is asynchronous")
    require_harmless(ctx, loop.iter)  # what it counts through is not computed any more
    numbers = ctx.value(loop.iter, "range")
    if not least <= len(numbers) <= most:
        skip(f"the loop has {len(numbers)} turns")
    return numbers


def range_text(numbers: range, ctx: RewriteContext) -> str:
    text = ctx.builtin("range")
    if numbers.step != 1:
        return f"{text}({numbers.start}, {numbers.stop}, {numbers.step})"
    return f"{text}({numbers.start}, {numbers.stop})" if numbers.start else f"{text}({numbers.stop})"


@rule(exact="bitwise", where=[floating("x", "y")], example=[COUNTED, COUNTED_WITH_MORE])
def unroll_loop(loop: cst.For, ctx: RewriteContext):
    """A loop that counts through few known numbers is its iterations, one after the other."""
    require_no_jump(loop.body)
    target, body = ctx.text(loop.target), ctx.block(loop.body)
    text = "\n".join(f"{target} = {number}\n{body}" for number in loop_range(loop, ctx)) + afterwards(loop, ctx)
    require_short(text)
    yield text


@rule(exact="bitwise", where=[floating("x", "y")], example=COUNTED)
def unroll_loop_with_literals(loop: cst.For, ctx: RewriteContext):
    """A loop over known numbers is its iterations with the numbers in place of a variable that only the loop reads."""
    require_no_jump(loop.body)
    name = simple_name(ctx, loop.target)
    require_unseen(ctx, [name], loop)
    turns = [ctx.block(loop.body, with_value(ctx, loop.body, name, number_atom(n))) for n in loop_range(loop, ctx)]
    text = "\n".join(turns) + afterwards(loop, ctx)
    require_short(text)
    yield text


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        total = 0
        for t, k in ((x, 1), (y, 2), (x, 3)):
            total = total + t * k
        for name in ["low", "high"]:
            total = total - 1 if name == "low" else total * 2
        return total
    """,
)
def unroll_listed_items(loop: cst.For, ctx: RewriteContext):
    """A loop over a tuple or list written out is its iterations, when no iteration changes what the later items are."""
    if not isinstance(loop.iter, (cst.Tuple, cst.List)) or loop.asynchronous is not None:
        return
    require_no_jump(loop.body)
    items = [element.value for element in loop.iter.elements]
    if not items or any(isinstance(e, cst.StarredElement) for e in loop.iter.elements):
        skip("the items are not listed")
    names = frozenset().union(*(_constant_names(item) for item in items))
    require_unshared(ctx, names)
    changed = names & (ctx.names(loop.body).stores | {n.value for n in walk(loop.target) if isinstance(n, cst.Name)})
    if changed:
        skip(f"{min(changed)} is stored in the loop")
    target, body = ctx.text(loop.target), ctx.block(loop.body)
    text = "\n".join(f"{target} = {ctx.text(item)}\n{body}" for item in items) + afterwards(loop, ctx)
    require_short(text)
    yield text


def _constant_names(item: cst.BaseExpression) -> frozenset[str]:
    """The variables in an item of variables and literals; Skip for anything that is computed."""
    allowed = (cst.Name, cst.Integer, cst.Float, cst.SimpleString, cst.Tuple, cst.Element, cst.UnaryOperation)
    for node in walk(item):
        if isinstance(node, (cst.BaseExpression, cst.BaseElement)) and not isinstance(node, allowed):
            skip("an item is computed")
    return frozenset(n.value for n in walk(item) if isinstance(n, cst.Name)) - {"True", "False", "None"}


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        total = 0.0
        for a, b in tuple(zip((x, y), (y, 2))):
            total = total + a * b
        for row in torch.stack([total, total * 2]):
            total = total + row
        return total
    """,
)
def unroll_items(loop: cst.For, ctx: RewriteContext):
    """A loop over few items, which are taken from the tuple, or are the rows of the tensor, one by one."""
    if loop.asynchronous is not None or isinstance(loop.iter, (cst.Tuple, cst.List)):
        return
    require_no_jump(loop.body)
    facts = ctx.facts(loop.iter)
    counts = {f.shape[0] if f.is_tensor and f.shape else f.length if f.kind == "tuple" else None for f in facts}
    (count,) = counts if len(counts) == 1 else (None,)
    if count is None or not 1 <= count <= MOST_TURNS:
        skip(f"{facts[0].describe()} has no small, known number of items")
    rows = fresh(ctx, "rows")
    target, body = ctx.text(loop.target), ctx.block(loop.body)
    taken = f"{ctx.atom(loop.iter)}.unbind(0)" if facts[0].is_tensor else ctx.text(loop.iter)
    turns = "\n".join(f"{target} = {rows}[{i}]\n{body}" for i in range(count))
    text = f"{rows} = {taken}\n{turns}{afterwards(loop, ctx)}"
    require_short(text)
    yield text


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        for j in range(2, 10, 2):
            if j == 6 and y.numel() > 5:
                break
            x = x * 0.5 + y * j
        else:
            x = x + 1
        return x, j
    """,
)
def unroll_loop_by_two(loop: cst.For, ctx: RewriteContext):
    """Two iterations at a time, where their number is even."""
    name = simple_name(ctx, loop.target)
    numbers = loop_range(loop, ctx, least=2, most=64)
    if len(numbers) % 2:
        skip("the number of iterations is odd")
    require_no_jump(loop.body, cst.Continue)
    if name in stores_of_body(ctx, loop.body):
        skip(f"{name} is stored in the loop")
    body = ctx.block(loop.body)
    half = range(numbers.start, numbers.stop, numbers.step * 2)
    both = f"{body}\n{name} = {name} + {numbers.step}\n{body}"
    require_short(both)
    yield f"for {name} in {range_text(half, ctx)}:\n{indented(both)}{otherwise(loop, ctx)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[COUNTED, COUNTED_WITH_MORE])
def peel_first_iteration(loop: cst.For, ctx: RewriteContext):
    """The first iteration stands before the loop over the rest."""
    require_no_jump(loop.body)
    numbers = loop_range(loop, ctx, least=1, most=1000)
    target, body = ctx.text(loop.target), ctx.block(loop.body)
    rest = f"for {target} in {range_text(numbers[1:], ctx)}:\n{indented(body)}{otherwise(loop, ctx)}"
    yield f"{target} = {numbers[0]}\n{body}\n{rest}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[COUNTED, COUNTED_WITH_MORE])
def peel_last_iteration(loop: cst.For, ctx: RewriteContext):
    """The last iteration stands behind the loop over the others."""
    require_no_jump(loop.body)
    numbers = loop_range(loop, ctx, least=1, most=1000)
    target, body = ctx.text(loop.target), ctx.block(loop.body)
    others = f"for {target} in {range_text(numbers[:-1], ctx)}:\n{indented(body)}"
    yield f"{others}\n{target} = {numbers[-1]}\n{body}{afterwards(loop, ctx)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[COUNTED, COUNTED_WITH_MORE, SKIPPING])
def split_loop(loop: cst.For, ctx: RewriteContext):
    """Two loops, one over the first numbers and one over the others."""
    require_no_jump(loop.body, cst.Break)
    numbers = loop_range(loop, ctx, least=2, most=1000)
    target, body = ctx.text(loop.target), indented(ctx.block(loop.body))
    middle = (len(numbers) + 1) // 2
    first, second = (f"for {target} in {range_text(r, ctx)}:\n{body}" for r in (numbers[:middle], numbers[middle:]))
    yield f"{first}\n{second}{otherwise(loop, ctx)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[SKIPPING, COUNTED_WITH_MORE])
def tile_loop(loop: cst.For, ctx: RewriteContext):
    """A loop over blocks of iterations around a loop over the iterations of a block."""
    require_no_jump(loop.body, cst.Break)
    numbers = loop_range(loop, ctx, least=4, most=1000)
    size = next((s for s in (2, 3, 5) if len(numbers) % s == 0), None)
    if size is None:
        skip(f"{len(numbers)} iterations cannot be divided into equal blocks")
    start, step = fresh(ctx, "start"), numbers.step
    blocks = range(numbers.start, numbers.start + step * len(numbers), step * size)
    block = f"{ctx.builtin('range')}({start}, {start} + {step * size}, {step})"
    inner = f"for {ctx.text(loop.target)} in {block}:\n{indented(ctx.block(loop.body))}"
    yield f"for {start} in {range_text(blocks, ctx)}:\n{indented(inner)}{otherwise(loop, ctx)}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        for i in range(2):
            for j in range(1, 7, 2):
                if j == 3 and i == 1:
                    continue
                x = x + y * (i - j)
        return x, i, j
    """,
)
def flatten_nested_loops(loop: cst.For, ctx: RewriteContext):
    """Two nested loops over known numbers are one loop over all pairs."""
    inner = loop.body.body[0]
    if len(loop.body.body) != 1 or not isinstance(inner, cst.For):
        return
    if inner.orelse is not None:
        skip("the inner loop has an else")
    require_no_jump(inner.body, cst.Break)
    outer_name, inner_name = simple_name(ctx, loop.target), simple_name(ctx, inner.target)
    outer, turns = loop_range(loop, ctx, most=1000), loop_range(inner, ctx, most=1000)
    if outer_name in stores_of_body(ctx, inner.body) or outer_name == inner_name:
        skip(f"{outer_name} is stored in the inner loop")
    body, rest = ctx.block(inner.body), otherwise(loop, ctx)
    pairs = f"{ctx.path('itertools.product')}({range_text(outer, ctx)}, {range_text(turns, ctx)})"
    yield f"for {outer_name}, {inner_name} in {pairs}:\n{indented(body)}{rest}"
    flat, count = fresh(ctx, "flat"), len(turns)
    indices = (
        f"{outer_name} = {outer.start} + {outer.step} * ({flat} // {count})\n"
        f"{inner_name} = {turns.start} + {turns.step} * ({flat} % {count})"
    )
    total = range_text(range(len(outer) * count), ctx)
    yield f"for {flat} in {total}:\n{indented(f'{indices}{chr(10)}{body}')}{rest}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        x = torch.sin(x) + y * 1
        x = torch.sin(x) + y * 3
        x = torch.sin(x) + y * 5
        y *= x
        y *= x
        return x, y
    """,
)
def statements_to_loop(first: cst.Assign | cst.AugAssign | cst.Expr, ctx: RewriteContext):
    """Neighbouring statements that differ only in integers that count evenly are one loop."""
    if isinstance(first, cst.Expr) and isinstance(first.value, (cst.SimpleString, cst.ConcatenatedString)):
        return
    run = statements_alike(ctx)
    while len(run) > 1 and (counts := constant_steps([_integers(s) for s in run])) is None:
        run = run[:-1]
    if len(run) < 2:
        return
    if has(first, cst.GeneratorExp) or any(isinstance(n, cst.Lambda) for n in walk(first)):
        skip("code that is evaluated later would read the last number")
    counter, integers = fresh(ctx, "k"), _integers(first)
    edits = [
        Edit(ctx.syntax.span(node), linear_term(counter, node.evaluated_value, step))
        for node, step in zip(integers, counts, strict=True)
        if step
    ]
    body = ctx.lines(first, edits)
    end = ctx.syntax.span(run[-1])[1]
    yield f"for {counter} in {ctx.builtin('range')}({len(run)}):\n{indented(body)}", Edit((ctx.here.span[1], end), "")


def linear_term(counter: str, start: int, step: int) -> str:
    multiple = counter if step == 1 else f"{step} * {counter}"
    return f"({start} + {multiple})" if start else f"({multiple})"


def statements_alike(ctx: RewriteContext) -> list[cst.CSTNode]:
    """The statement here and those right behind it that have the same text but for their integers."""
    alike: list[cst.CSTNode] = []
    for line in ctx.statement.block[ctx.statement.index :]:
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            break
        if alike and text_without_integers(ctx, line.body[0]) != text_without_integers(ctx, alike[0]):
            break
        alike.append(line.body[0])
    return alike


def _integers(statement: cst.CSTNode) -> list[cst.Integer]:
    return [n for n in walk(statement) if isinstance(n, cst.Integer)]


def text_without_integers(ctx: RewriteContext, statement: cst.CSTNode) -> str:
    """The text of a statement with a mark for each integer."""
    if any(isinstance(n, cst.FormattedString) for n in walk(statement)):
        skip("an f-string stands in the statement")
    return ctx.lines(statement, [Edit(ctx.syntax.span(n), "\0") for n in _integers(statement)])


def constant_steps(rows: list[list[cst.Integer]]) -> list[int] | None:
    """The even steps by which each integer grows from statement to statement; None when some do not."""
    steps: list[int] = []
    for column in zip(*rows, strict=True):
        values = [node.evaluated_value for node in column]
        differences = {b - a for a, b in itertools.pairwise(values)}
        if len(differences) != 1:
            return None
        steps.append(differences.pop())
    return steps
