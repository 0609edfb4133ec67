"""Turns of a loop written out one by one, taken off at either end, grouped, flattened; and runs rolled up again."""

import itertools

import libcst as cst

from eqfuzz.rewrite.context.context import Place
from eqfuzz.rewrite.context.data_flow import walk
from eqfuzz.rewrite.context.loop_control import (
    afterwards,
    demand_harmless,
    demand_no_jump,
    demand_short,
    demand_unseen,
    demand_unshared,
    fresh,
    has,
    number_atom,
    otherwise,
    simple_name,
    stores_of_body,
    stores_of_loop,
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


def _numbers(loop: cst.For, at: Place, least: int = 1, most: int = MOST_TURNS) -> range:
    """What a loop counts through; Skip unless that is known and short."""
    if loop.asynchronous is not None:
        skip("the loop is asynchronous")
    demand_harmless(at, loop.iter)  # what it counts through is not computed any more
    numbers = at.value(loop.iter, "range")
    if not least <= len(numbers) <= most:
        skip(f"the loop has {len(numbers)} turns")
    return numbers


def _range(numbers: range, at: Place) -> str:
    text = at.builtin("range")
    if numbers.step != 1:
        return f"{text}({numbers.start}, {numbers.stop}, {numbers.step})"
    return f"{text}({numbers.start}, {numbers.stop})" if numbers.start else f"{text}({numbers.stop})"


@rule(exact="bitwise", where=[floating("x", "y")], example=[COUNTED, COUNTED_WITH_MORE])
def unrolled(loop: cst.For, at: Place):
    """A loop that counts through few known numbers is its turns, one after the other."""
    demand_no_jump(loop.body)
    target, body = at.text(loop.target), at.block(loop.body)
    text = "\n".join(f"{target} = {number}\n{body}" for number in _numbers(loop, at)) + afterwards(loop, at)
    demand_short(text)
    yield text


@rule(exact="bitwise", where=[floating("x", "y")], example=COUNTED)
def unrolled_with_literals(loop: cst.For, at: Place):
    """A loop over known numbers is its turns with the numbers in place of the variable, which nobody else reads."""
    demand_no_jump(loop.body)
    name = simple_name(at, loop.target)
    demand_unseen(at, [name], loop)
    turns = [at.block(loop.body, with_value(at, loop.body, name, number_atom(n))) for n in _numbers(loop, at)]
    text = "\n".join(turns) + afterwards(loop, at)
    demand_short(text)
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
def display_unrolled(loop: cst.For, at: Place):
    """A loop over a tuple or list written out is its turns, when no turn changes what the later items are."""
    if not isinstance(loop.iter, (cst.Tuple, cst.List)) or loop.asynchronous is not None:
        return
    demand_no_jump(loop.body)
    items = [element.value for element in loop.iter.elements]
    if not items or any(isinstance(e, cst.StarredElement) for e in loop.iter.elements):
        skip("the items are not written one by one")
    names = frozenset().union(*(_constant_names(item) for item in items))
    demand_unshared(at, names)
    changed = names & (at.names(loop.body).stores | {n.value for n in walk(loop.target) if isinstance(n, cst.Name)})
    if changed:
        skip(f"{min(changed)} is stored in the loop")
    target, body = at.text(loop.target), at.block(loop.body)
    text = "\n".join(f"{target} = {at.text(item)}\n{body}" for item in items) + afterwards(loop, at)
    demand_short(text)
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
def items_unrolled(loop: cst.For, at: Place):
    """A loop over few items, which are taken from the tuple, or are the rows of the tensor, one by one."""
    if loop.asynchronous is not None or isinstance(loop.iter, (cst.Tuple, cst.List)):
        return
    demand_no_jump(loop.body)
    facts = at.facts(loop.iter)
    counts = {f.shape[0] if f.is_tensor and f.shape else f.length if f.kind == "tuple" else None for f in facts}
    (count,) = counts if len(counts) == 1 else (None,)
    if count is None or not 1 <= count <= MOST_TURNS:
        skip(f"{facts[0].describe()} has no few items of known number")
    rows = fresh(at, "rows")
    target, body = at.text(loop.target), at.block(loop.body)
    taken = f"{at.atom(loop.iter)}.unbind(0)" if facts[0].is_tensor else at.text(loop.iter)
    turns = "\n".join(f"{target} = {rows}[{i}]\n{body}" for i in range(count))
    text = f"{rows} = {taken}\n{turns}{afterwards(loop, at)}"
    demand_short(text)
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
def unrolled_by_two(loop: cst.For, at: Place):
    """Two turns at a time, where their number is even."""
    name = simple_name(at, loop.target)
    numbers = _numbers(loop, at, least=2, most=64)
    if len(numbers) % 2:
        skip("the number of turns is odd")
    demand_no_jump(loop.body, cst.Continue)
    if name in stores_of_body(at, loop.body):
        skip(f"{name} is stored in the loop")
    body = at.block(loop.body)
    half = range(numbers.start, numbers.stop, numbers.step * 2)
    both = f"{body}\n{name} = {name} + {numbers.step}\n{body}"
    demand_short(both)
    yield f"for {name} in {_range(half, at)}:\n{indented(both)}{otherwise(loop, at)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[COUNTED, COUNTED_WITH_MORE])
def first_turn_peeled(loop: cst.For, at: Place):
    """The first turn stands before the loop over the rest."""
    demand_no_jump(loop.body)
    numbers = _numbers(loop, at, least=1, most=1000)
    target, body = at.text(loop.target), at.block(loop.body)
    rest = f"for {target} in {_range(numbers[1:], at)}:\n{indented(body)}{otherwise(loop, at)}"
    yield f"{target} = {numbers[0]}\n{body}\n{rest}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[COUNTED, COUNTED_WITH_MORE])
def last_turn_peeled(loop: cst.For, at: Place):
    """The last turn stands behind the loop over the others."""
    demand_no_jump(loop.body)
    numbers = _numbers(loop, at, least=1, most=1000)
    target, body = at.text(loop.target), at.block(loop.body)
    others = f"for {target} in {_range(numbers[:-1], at)}:\n{indented(body)}"
    yield f"{others}\n{target} = {numbers[-1]}\n{body}{afterwards(loop, at)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[COUNTED, COUNTED_WITH_MORE, SKIPPING])
def loop_split(loop: cst.For, at: Place):
    """Two loops, one over the first numbers and one over the others."""
    demand_no_jump(loop.body, cst.Break)
    numbers = _numbers(loop, at, least=2, most=1000)
    target, body = at.text(loop.target), indented(at.block(loop.body))
    middle = (len(numbers) + 1) // 2
    first, second = (f"for {target} in {_range(r, at)}:\n{body}" for r in (numbers[:middle], numbers[middle:]))
    yield f"{first}\n{second}{otherwise(loop, at)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[SKIPPING, COUNTED_WITH_MORE])
def loop_tiled(loop: cst.For, at: Place):
    """A loop over blocks of turns around a loop over the turns of a block."""
    demand_no_jump(loop.body, cst.Break)
    numbers = _numbers(loop, at, least=4, most=1000)
    size = next((s for s in (2, 3, 5) if len(numbers) % s == 0), None)
    if size is None:
        skip(f"{len(numbers)} turns make no equal blocks")
    start, step = fresh(at, "start"), numbers.step
    blocks = range(numbers.start, numbers.start + step * len(numbers), step * size)
    block = f"{at.builtin('range')}({start}, {start} + {step * size}, {step})"
    inner = f"for {at.text(loop.target)} in {block}:\n{indented(at.block(loop.body))}"
    yield f"for {start} in {_range(blocks, at)}:\n{indented(inner)}{otherwise(loop, at)}"


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
def nested_loops_flattened(loop: cst.For, at: Place):
    """Two nested loops over known numbers are one loop over all pairs."""
    inner = loop.body.body[0]
    if len(loop.body.body) != 1 or not isinstance(inner, cst.For):
        return
    if inner.orelse is not None:
        skip("the inner loop has an else")
    demand_no_jump(inner.body, cst.Break)
    outer_name, inner_name = simple_name(at, loop.target), simple_name(at, inner.target)
    outer, turns = _numbers(loop, at, most=1000), _numbers(inner, at, most=1000)
    if outer_name in stores_of_body(at, inner.body) or outer_name == inner_name:
        skip(f"{outer_name} is stored in the inner loop")
    body, rest = at.block(inner.body), otherwise(loop, at)
    pairs = f"{at.path('itertools.product')}({_range(outer, at)}, {_range(turns, at)})"
    yield f"for {outer_name}, {inner_name} in {pairs}:\n{indented(body)}{rest}"
    flat, count = fresh(at, "flat"), len(turns)
    indices = (
        f"{outer_name} = {outer.start} + {outer.step} * ({flat} // {count})\n"
        f"{inner_name} = {turns.start} + {turns.step} * ({flat} % {count})"
    )
    total = _range(range(len(outer) * count), at)
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
def statements_rolled(first: cst.Assign | cst.AugAssign | cst.Expr, at: Place):
    """Neighbouring statements that differ only in integers that count evenly are one loop."""
    if isinstance(first, cst.Expr) and isinstance(first.value, (cst.SimpleString, cst.ConcatenatedString)):
        return
    run = _equal_statements(at)
    while len(run) > 1 and (counts := _counting([_integers(s) for s in run])) is None:
        run = run[:-1]
    if len(run) < 2:
        return
    if has(first, cst.GeneratorExp) or any(isinstance(n, cst.Lambda) for n in walk(first)):
        skip("what is evaluated later would see the last number")
    counter, integers = fresh(at, "k"), _integers(first)
    edits = [
        Edit(at.syntax.span(node), _term(counter, node.evaluated_value, step))
        for node, step in zip(integers, counts, strict=True)
        if step
    ]
    body = at.lines(first, edits)
    end = at.syntax.span(run[-1])[1]
    yield f"for {counter} in {at.builtin('range')}({len(run)}):\n{indented(body)}", Edit((at.here.span[1], end), "")


def _term(counter: str, start: int, step: int) -> str:
    multiple = counter if step == 1 else f"{step} * {counter}"
    return f"({start} + {multiple})" if start else f"({multiple})"


def _equal_statements(at: Place) -> list[cst.CSTNode]:
    """The statement here and those right behind it that have the same text but for their integers."""
    alike: list[cst.CSTNode] = []
    for line in at.statement.block[at.statement.index :]:
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            break
        if alike and _outline(at, line.body[0]) != _outline(at, alike[0]):
            break
        alike.append(line.body[0])
    return alike


def _integers(statement: cst.CSTNode) -> list[cst.Integer]:
    return [n for n in walk(statement) if isinstance(n, cst.Integer)]


def _outline(at: Place, statement: cst.CSTNode) -> str:
    """The text of a statement with a mark for each integer."""
    if any(isinstance(n, cst.FormattedString) for n in walk(statement)):
        skip("an f-string stands in the statement")
    return at.lines(statement, [Edit(at.syntax.span(n), "\0") for n in _integers(statement)])


def _counting(rows: list[list[cst.Integer]]) -> list[int] | None:
    """The even steps by which each integer grows from statement to statement; None when some do not."""
    steps: list[int] = []
    for column in zip(*rows, strict=True):
        values = [node.evaluated_value for node in column]
        differences = {b - a for a, b in itertools.pairwise(values)}
        if len(differences) != 1:
            return None
        steps.append(differences.pop())
    return steps
