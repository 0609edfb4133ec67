"""One kind of loop for another: for and while, iterators, indices, flags, jumps, recursion, reduction."""

import libcst as cst

from eqfuzz.rewrite.context.context import Place
from eqfuzz.rewrite.context.data_flow import bound_before, demand_no_handler, demand_one_text, walk
from eqfuzz.rewrite.context.loop_control import (
    afterwards,
    demand_harmless,
    demand_no_jump,
    demand_plain,
    demand_unseen,
    demand_unshared,
    fresh,
    has,
    jumps,
    otherwise,
    parent_loop,
    reads_of,
    rows_of,
    simple_name,
    stores_of_body,
    stores_of_loop,
)
from eqfuzz.rewrite.context.patterns import appended, assigned, called, only_statement, previous
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, indented, skip

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
def range_to_while(loop: cst.For, at: Place):
    """A loop over a range is a while loop that counts first and then runs the body."""
    bounds = called(at, loop.iter, "range")
    if bounds is None or loop.asynchronous is not None:
        return
    for bound in bounds:
        at.value(bound, "int") if isinstance(bound, cst.Integer) else _demand_int(at, bound)
    step = at.value(bounds[2], "int") if len(bounds) == 3 else 1
    if len(bounds) == 3 and not isinstance(bounds[2], (cst.Integer, cst.UnaryOperation)):
        skip("the step is no literal")
    texts = [demand_one_text(at, bound) for bound in bounds[:2]]
    start, stop = texts if len(bounds) > 1 else ("0", texts[0])
    counter, limit = fresh(at, "count"), fresh(at, "limit")
    turn = f"{at.text(loop.target)} = {counter}\n{counter} += {step}\n{at.block(loop.body)}"
    condition = f"{counter} {'<' if step > 0 else '>'} {limit}"
    yield f"{counter} = {start}\n{limit} = {stop}\nwhile {condition}:\n{indented(turn)}{otherwise(loop, at)}"


def _demand_int(at: Place, bound: cst.BaseExpression) -> None:
    if any(f.kind != "int" for f in at.facts(bound)):
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
def iterator_by_hand(loop: cst.For, at: Place):
    """A for loop is a while loop that asks an iterator for the next item until it has none."""
    if loop.asynchronous is not None:
        return
    if loop.orelse is not None:
        skip("the loop has an else")
    if not isinstance(loop.iter, (cst.Tuple, cst.List)):
        facts = at.facts(loop.iter)
        if any(f.kind not in KNOWN_ITERABLES for f in facts):
            skip(f"{facts[0].describe()} may do something when it is left")
    if any(isinstance(n, (cst.Attribute, cst.Subscript)) for n in walk(loop.target)):
        skip("an attribute or item is stored")
    items = fresh(at, "items")
    source = demand_one_text(at, loop.iter)
    if isinstance(loop.iter, cst.Tuple) and not loop.iter.lpar:
        source = f"({source})"
    taken = f"try:\n    {at.text(loop.target)} = {at.builtin('next')}({items})\n"
    ended = f"except {at.builtin('StopIteration')}:\n    break\n"
    body = indented(f"{taken}{ended}{at.block(loop.body)}")
    yield f"{items} = {at.builtin('iter')}({source})\nwhile True:\n{body}"


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
def counting_while_to_for(loop: cst.While, at: Place):
    """A while loop that counts up by one to a fixed number is a for loop over a range."""
    counter, limit = _counts(loop, at)
    demand_no_jump(loop.body, cst.Continue)
    before = loop.body.body[:-1]
    if not before:
        skip("the loop only counts")
    if counter.value in frozenset().union(*(at.names(s).stores for s in before)):
        skip(f"{counter.value} is also stored elsewhere in the loop")
    if isinstance(limit, cst.Name) and limit.value in stores_of_body(at, loop.body):
        skip(f"{limit.value} is stored in the loop")
    name, bound = counter.value, at.text(limit)
    demand_unshared(at, [name, bound])
    reached = max(_int_facts(at, counter))
    if reached > min(_int_facts(at, limit)):
        skip(f"{name} may be beyond {bound} from the start")
    ended = indented(f"{name} = {bound}{afterwards(loop, at)}")
    loop_head = f"for {name} in {at.builtin('range')}({name}, {bound}):"
    yield f"{loop_head}\n{indented(at.run(before))}\nelse:\n{ended}"


def _int_facts(at: Place, expression: cst.BaseExpression) -> list[int]:
    _demand_int(at, expression)
    return [f.value for f in at.facts(expression)]


def _counts(loop: cst.While, at: Place) -> tuple[cst.Name, cst.Name | cst.Integer]:
    """Counter and limit of ``while counter < limit`` whose last statement is ``counter += 1``."""
    test = loop.test
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        skip("the condition is no comparison")
    (comparison,) = test.comparisons
    counter, limit = test.left, comparison.comparator
    if not isinstance(comparison.operator, cst.LessThan) or not isinstance(counter, cst.Name):
        skip("the condition does not bound a counter from above")
    if not isinstance(limit, (cst.Name, cst.Integer)):
        skip("the limit may be computed anew for every turn")
    last = loop.body.body[-1]
    small = last.body[0] if isinstance(last, cst.SimpleStatementLine) and len(last.body) == 1 else last
    name = counter.value
    if " ".join(at.syntax.text_of(small).split()) not in (f"{name} += 1", f"{name} = {name} + 1"):
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
def recursion(loop: cst.For, at: Place):
    """A counted loop is a function that calls itself for the rest of the turns."""
    numbers = at.value(loop.iter, "range")
    demand_harmless(at, loop.iter)
    if not 1 <= len(numbers) <= 20:
        skip(f"the loop has {len(numbers)} turns")
    demand_no_jump(loop.body)
    demand_plain(loop.body)
    index = simple_name(at, loop.target)
    stored = stores_of_body(at, loop.body)
    demand_unseen(at, [index], loop)
    if index in stored:
        skip(f"{index} is stored in the loop")
    demand_unshared(at, stored)
    if any(isinstance(n, (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.Import, cst.ImportFrom)) for n in walk(loop)):
        skip("a definition in the loop may outlive its turn")
    bound = bound_before(at)
    outside = at.elsewhere(loop).reads
    carried = sorted(stored & (bound | outside))
    if not carried or not frozenset(carried) <= bound:
        skip("not every variable of the loop has a value before it")
    for name in stored - frozenset(carried):
        _demand_renewed(at, loop, name)
    demand_no_handler(at)
    step, state = fresh(at, "step"), ", ".join(carried)
    again = f"return {step}({index} + {numbers.step}, {state})"
    ended = f"if {index} == {numbers.start + numbers.step * len(numbers)}:\n    return {state}"
    definition = f"def {step}({index}, {state}):\n{indented(f'{ended}{chr(10)}{at.block(loop.body)}{chr(10)}{again}')}"
    yield f"{definition}\n{state} = {step}({numbers.start}, {state}){afterwards(loop, at)}"


def _demand_renewed(at: Place, loop: cst.For, name: str) -> None:
    """Skip unless every turn begins its use of a variable with a new value."""
    users = [s for s in loop.body.body if name in at.names(s).all]
    made = assigned(users[0])
    if made is not None and made[0] == name and name not in at.names(made[1]).reads:
        return
    if len(users) == 1 and _is_its_target(at, users[0], name):
        return
    skip(f"{name} may be handed on from turn to turn")


def _is_its_target(at: Place, loop: cst.CSTNode, name: str) -> bool:
    """Whether a statement is a loop over something else with ``name`` for its target."""
    if not isinstance(loop, cst.For) or loop.orelse is not None or not isinstance(loop.target, cst.Name):
        return False
    return loop.target.value == name and name not in at.names(loop.iter).reads


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
def loop_to_reduce(loop: cst.For, at: Place):
    """A loop whose only statement renews one variable is a reduction."""
    made = assigned(only_statement(loop.body))
    if made is None or loop.asynchronous is not None:
        return
    name, value = made
    item = simple_name(at, loop.target)
    demand_unseen(at, [item], loop)
    demand_unshared(at, [name])
    if name == item or name not in bound_before(at):
        skip(f"{name} has no value before the loop")
    if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(loop)):
        skip("something is evaluated later")
    demand_no_handler(at)
    demand_plain(value)
    demand_plain(loop.iter)
    items = demand_one_text(at, loop.iter)
    if isinstance(loop.iter, cst.Tuple) and not loop.iter.lpar:
        items = f"({items})"
    turn = f"lambda {name}, {item}: {demand_one_text(at, value)}"
    yield f"{name} = {at.path('functools.reduce')}({turn}, {items}, {name}){afterwards(loop, at)}"
