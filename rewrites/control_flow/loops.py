"""One kind of loop for another: for and while, iterators, indices, flags, jumps, recursion, reduction, while_loop."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import bound_before, require_no_handler, require_one_text, walk
from eqfuzz.rewrite.context.loop_control import (
    afterwards,
    fresh,
    otherwise,
    require_harmless,
    require_no_jump,
    require_plain,
    require_unseen,
    require_unshared,
    simple_name,
    stores_of_body,
)
from eqfuzz.rewrite.context.meta_evaluation import MetaEvaluator
from eqfuzz.rewrite.context.patterns import assigned, called, only_statement
from eqfuzz.rewrite.facts.composite_preconditions import equal_matrices
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import indented, skip

KNOWN_ITERABLES = frozenset("range tuple list ints tensor dict_items dict_keys dict_values".split())


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example=[
        """
        def program(x, y):
            for j in range(3):
                x = x * 0.5 + y * j
            return x, j
        """,
        """
        def program(x, y):
            for j in range(y.ndim + 7, 2, -2):
                if j == 8:
                    continue
                if y.numel() == j:
                    break
                x = x * 0.5 + y * j
            else:
                x = x - y
            return x, j
        """,
    ],
)
def range_to_while(loop: cst.For, ctx: RewriteContext):
    """A loop over a range is a while loop that counts first and then runs the body."""
    bounds = called(ctx, loop.iter, "range")
    if bounds is None or loop.asynchronous is not None:
        return
    for bound in bounds:
        ctx.value(bound, "int") if isinstance(bound, cst.Integer) else _require_int(ctx, bound)
    step = ctx.value(bounds[2], "int") if len(bounds) == 3 else 1
    if len(bounds) == 3 and not isinstance(bounds[2], (cst.Integer, cst.UnaryOperation)):
        skip("the step is no literal")
    texts = [require_one_text(ctx, bound) for bound in bounds[:2]]
    start, stop = texts if len(bounds) > 1 else ("0", texts[0])
    counter, limit = fresh(ctx, "count"), fresh(ctx, "limit")
    turn = f"{ctx.text(loop.target)} = {counter}\n{counter} += {step}\n{ctx.block(loop.body)}"
    condition = f"{counter} {'<' if step > 0 else '>'} {limit}"
    yield f"{counter} = {start}\n{limit} = {stop}\nwhile {condition}:\n{indented(turn)}{otherwise(loop, ctx)}"


def _require_int(ctx: RewriteContext, bound: cst.BaseExpression) -> None:
    if any(f.kind != "int" for f in ctx.facts(bound)):
        skip("a bound of the range is no int")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        pairs = [(x, 1), (y, 2), (x, 3)]
        total = 0
        for t, k in pairs:
            if k == 2:
                continue
            total = total + t * k
        for t in (x, y):
            total = total + t
            break
        return total
    """,
)
def iterator_by_hand(loop: cst.For, ctx: RewriteContext):
    """A for loop is a while loop that asks an iterator for the next item until it has none."""
    if loop.asynchronous is not None:
        return
    if loop.orelse is not None:
        skip("the loop has an else")
    if not isinstance(loop.iter, (cst.Tuple, cst.List)):
        facts = ctx.facts(loop.iter)
        if any(f.kind not in KNOWN_ITERABLES for f in facts):
            skip(f"{facts[0].describe()} may have side effects when it is closed")
    if any(isinstance(n, (cst.Attribute, cst.Subscript)) for n in walk(loop.target)):
        skip("an attribute or item is stored")
    items = fresh(ctx, "items")
    source = require_one_text(ctx, loop.iter)
    if isinstance(loop.iter, cst.Tuple) and not loop.iter.lpar:
        source = f"({source})"
    taken = f"try:\n    {ctx.text(loop.target)} = {ctx.builtin('next')}({items})\n"
    ended = f"except {ctx.builtin('StopIteration')}:\n    break\n"
    body = indented(f"{taken}{ended}{ctx.block(loop.body)}")
    yield f"{items} = {ctx.builtin('iter')}({source})\nwhile True:\n{body}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        i = 1
        n = 4
        while i < n:
            if i == 3 and y.numel() > 6:
                break
            x = x * 0.5 + y * i
            i += 1
        return x, i
    """,
)
def counting_while_to_for(loop: cst.While, ctx: RewriteContext):
    """A while loop that counts up by one to a fixed number is a for loop over a range."""
    counter, limit = counter_and_limit(loop, ctx)
    require_no_jump(loop.body, cst.Continue)
    before = loop.body.body[:-1]
    if not before:
        skip("the loop only counts")
    if counter.value in frozenset().union(*(ctx.names(s).stores for s in before)):
        skip(f"{counter.value} is also stored elsewhere in the loop")
    if isinstance(limit, cst.Name) and limit.value in stores_of_body(ctx, loop.body):
        skip(f"{limit.value} is stored in the loop")
    name, bound = counter.value, ctx.text(limit)
    require_unshared(ctx, [name, bound])
    reached = max(observed_ints(ctx, counter))
    if reached > min(observed_ints(ctx, limit)):
        skip(f"{name} may be beyond {bound} from the start")
    ended = indented(f"{name} = {bound}{afterwards(loop, ctx)}")
    loop_head = f"for {name} in {ctx.builtin('range')}({name}, {bound}):"
    yield f"{loop_head}\n{indented(ctx.run(before))}\nelse:\n{ended}"


def observed_ints(ctx: RewriteContext, expression: cst.BaseExpression) -> list[int]:
    _require_int(ctx, expression)
    return [f.value for f in ctx.facts(expression)]


def counter_and_limit(loop: cst.While, ctx: RewriteContext) -> tuple[cst.Name, cst.Name | cst.Integer]:
    """Counter and limit of ``while counter < limit`` whose last statement is ``counter += 1``."""
    test = loop.test
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        skip("the condition is no comparison")
    (comparison,) = test.comparisons
    counter, limit = test.left, comparison.comparator
    if not isinstance(comparison.operator, cst.LessThan) or not isinstance(counter, cst.Name):
        skip("the condition does not bound a counter from above")
    if not isinstance(limit, (cst.Name, cst.Integer)):
        skip("the limit may be recomputed in every iteration")
    last = loop.body.body[-1]
    small = last.body[0] if isinstance(last, cst.SimpleStatementLine) and len(last.body) == 1 else last
    name = counter.value
    if " ".join(ctx.syntax.text_of(small).split()) not in (f"{name} += 1", f"{name} = {name} + 1"):
        skip(f"the last statement is not {name} += 1")
    return counter, limit


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        r = x
        for j in range(3):
            t = r * 0.5
            r = torch.sin(t) + y * j
        return r
    """,
)
def recursion(loop: cst.For, ctx: RewriteContext):
    """A counted loop is a function that calls itself for the rest of the iterations."""
    numbers = ctx.value(loop.iter, "range")
    require_harmless(ctx, loop.iter)
    if not 1 <= len(numbers) <= 20:
        skip(f"the loop has {len(numbers)} turns")
    require_no_jump(loop.body)
    require_plain(loop.body)
    index = simple_name(ctx, loop.target)
    stored = stores_of_body(ctx, loop.body)
    require_unseen(ctx, [index], loop)
    if index in stored:
        skip(f"{index} is stored in the loop")
    require_unshared(ctx, stored)
    if any(isinstance(n, (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.Import, cst.ImportFrom)) for n in walk(loop)):
        skip("a definition in the loop may outlive its iteration")
    bound = bound_before(ctx)
    outside = ctx.elsewhere(loop).reads
    carried = sorted(stored & (bound | outside))
    if not carried or not frozenset(carried) <= bound:
        skip("not every variable of the loop has a value before it")
    for name in stored - frozenset(carried):
        _require_renewed(ctx, loop, name)
    require_no_handler(ctx)
    step, state = fresh(ctx, "step"), ", ".join(carried)
    again = f"return {step}({index} + {numbers.step}, {state})"
    ended = f"if {index} == {numbers.start + numbers.step * len(numbers)}:\n    return {state}"
    definition = f"def {step}({index}, {state}):\n{indented(f'{ended}{chr(10)}{ctx.block(loop.body)}{chr(10)}{again}')}"
    yield f"{definition}\n{state} = {step}({numbers.start}, {state}){afterwards(loop, ctx)}"


def _require_renewed(ctx: RewriteContext, loop: cst.For, name: str) -> None:
    """Skip unless every iteration begins its use of a variable with a new value."""
    users = [s for s in loop.body.body if name in ctx.names(s).all]
    assignment = assigned(users[0])
    if assignment is not None and assignment[0] == name and name not in ctx.names(assignment[1]).reads:
        return
    if len(users) == 1 and is_target_of_inner_loop(ctx, users[0], name):
        return
    skip(f"{name} may be carried from one iteration to the next")


def is_target_of_inner_loop(ctx: RewriteContext, loop: cst.CSTNode, name: str) -> bool:
    """Whether a statement is a loop over something else with ``name`` for its target."""
    if not isinstance(loop, cst.For) or loop.orelse is not None or not isinstance(loop.target, cst.Name):
        return False
    return loop.target.value == name and name not in ctx.names(loop.iter).reads


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        r = x
        for j in range(3):
            r = torch.sin(r) + y * j
        for t in (x, y):
            r = r - t
        return r
    """,
)
def loop_to_reduce(loop: cst.For, ctx: RewriteContext):
    """A loop whose only statement renews one variable is a reduction."""
    assignment = assigned(only_statement(loop.body))
    if assignment is None or loop.asynchronous is not None:
        return
    name, value = assignment
    item = simple_name(ctx, loop.target)
    require_unseen(ctx, [item], loop)
    require_unshared(ctx, [name])
    if name == item or name not in bound_before(ctx):
        skip(f"{name} has no value before the loop")
    if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(loop)):
        skip("part of the loop is evaluated later")
    require_no_handler(ctx)
    require_plain(value)
    require_plain(loop.iter)
    items = require_one_text(ctx, loop.iter)
    if isinstance(loop.iter, cst.Tuple) and not loop.iter.lpar:
        items = f"({items})"
    turn = f"lambda {name}, {item}: {require_one_text(ctx, value)}"
    yield f"{name} = {ctx.path('functools.reduce')}({turn}, {items}, {name}){afterwards(loop, ctx)}"


@rule(
    exact="bitwise",
    where=[equal_matrices("x", "y")],
    example="""
    def program(x, y):
        r = x.detach() * 1
        z = y.detach()
        for j in range(3):
            r = torch.sin(r) + z
        return r * x
    """,
)
def loop_to_while_loop(loop: cst.For, ctx: RewriteContext):
    """A counted loop that renews one tensor, always of the same kind, is a while_loop; the count is not read."""
    numbers = ctx.value(loop.iter, "range")
    require_harmless(ctx, loop.iter)
    assignment = assigned(only_statement(loop.body))
    if assignment is None or not 1 <= len(numbers) <= 20:
        skip("the loop does more than update one variable, or has too many iterations")
    name, value = assignment
    index = simple_name(ctx, loop.target)
    require_unseen(ctx, [index], loop)
    require_unshared(ctx, [name])
    if index == name or index in ctx.names(value).reads or name not in bound_before(ctx):
        skip("the counter is read in the loop, or the variable has no value before it")
    require_plain(value)
    MetaEvaluator(ctx, loop).require_kept(value, name)
    operator, counter = ctx.path("torch._higher_order_ops.while_loop"), ctx.new_name("turn")
    test, turn = f"{counter} < {len(numbers)}", f"({counter} + 1, {require_one_text(ctx, value)})"
    start = f"({ctx.path('torch.tensor')}(0), {name})"
    call = f"{operator}(lambda {counter}, {name}: {test}, lambda {counter}, {name}: {turn}, {start})"
    yield f"{name} = {call}[1]{afterwards(loop, ctx)}"
