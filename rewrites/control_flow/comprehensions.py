"""Comprehensions, loops that fill a list, map and filter, generators: one for another."""

import libcst as cst

from eqfuzz.rewrite.context.context import Place
from eqfuzz.rewrite.context.data_flow import (
    bound_before,
    demand_first,
    demand_no_handler,
    demand_one_text,
    demand_ordinary,
    walk,
)
from eqfuzz.rewrite.context.loop_control import demand_harmless, demand_plain, demand_unseen, demand_unshared, fresh
from eqfuzz.rewrite.context.patterns import (
    appended,
    assigned,
    called,
    expressions_in,
    only_statement,
    previous,
    target_names,
)
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, indented, skip

Simple = cst.Assign | cst.AugAssign | cst.Return | cst.Expr

LISTED = """
def program(x, y):
    rows = [torch.sin(t) * 2 for t in (x, y, x)]
    kept = [t + j for j in range(4) if j % 2 for t in rows if t.dim() < 9]
    pairs = [(p, q - p) for p, q in zip(rows, kept)]
    named = {str(j): t * j for j, t in enumerate(rows)}
    return torch.stack([r * 0.5 for r in (x, x)]), kept, pairs, [r.dim() for r in rows], named
"""


def _clauses(comprehension: cst.BaseComp) -> list[cst.CompFor]:
    """The ``for`` clauses from the outside in."""
    clauses = [comprehension.for_in]
    while clauses[-1].inner_for_in is not None:
        clauses.append(clauses[-1].inner_for_in)
    return clauses


def _demand_movable(at: Place, comprehension: cst.BaseComp) -> None:
    """Skip what would not mean the same in another scope."""
    demand_ordinary(at)
    demand_plain(comprehension)
    if at.syntax.names & {"next", "StopIteration"}:
        skip("a StopIteration from inside means something else to map and generators")


def _items(at: Place, iterable: cst.BaseExpression) -> str:
    text = demand_one_text(at, iterable)
    bare = isinstance(iterable, (cst.Tuple, cst.GeneratorExp)) and not iterable.lpar
    return f"({text})" if bare else text


def _element(at: Place, element: cst.BaseExpression) -> str:
    text = demand_one_text(at, element)
    return f"({text})" if isinstance(element, (cst.Tuple, cst.IfExp, cst.Lambda)) and not element.lpar else text


def _nested(at: Place, clauses: list[cst.CompFor], inmost: str) -> str:
    """``inmost`` inside the loops and conditions of a comprehension."""
    text = inmost
    for clause in reversed(clauses):
        for test in reversed(clause.ifs):
            text = f"if {demand_one_text(at, test.test)}:\n{indented(text)}"
        text = f"for {at.text(clause.target)} in {_items(at, clause.iter)}:\n{indented(text)}"
    return text


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        rows = []
        for row in x.unbind(0):
            rows.append(row * 2)
        found = []
        for j in range(4):
            if j % 2:
                for t in rows:
                    found.append((t + j, y))
        return torch.stack(rows), found
    """,
)
def loop_to_comprehension(loop: cst.For, at: Place):
    """A loop that only appends to a list begun right before it is a comprehension, or an extension by one."""
    clauses, item = _appending(at, loop)
    name, value = item
    made = assigned(previous(at))
    if made is None or made[0] != name or not isinstance(made[1], cst.List) or made[1].elements:
        skip(f"{name} is not begun as an empty list right before the loop")
    demand_plain(loop)
    demand_no_handler(at)
    targets = [n for node in walk(loop) if isinstance(node, cst.For) for n in target_names(node.target)]
    demand_unseen(at, targets, loop)
    demand_unshared(at, [name])
    uses = [n for n in walk(loop) if isinstance(n, cst.Name) and n.value == name]
    if len(uses) != 1:
        skip(f"{name} is read in the loop")
    text = f"[{_element(at, value)} {' '.join(clauses)}]"
    begun = at.statement.block[at.statement.index - 1]
    yield f"{name} = {text}", Edit((at.syntax.span(begun)[0], at.here.span[0]), "")
    yield f"{name}.extend({text[1:-1]})"


def _appending(at: Place, loop: cst.For) -> tuple[list[str], tuple[str, cst.BaseExpression]]:
    """The clauses, and the list and item, of a loop that does nothing but append."""
    clauses: list[str] = []
    statement: cst.CSTNode | None = loop
    while isinstance(statement, (cst.For, cst.If)):
        if statement.orelse is not None or (isinstance(statement, cst.For) and statement.asynchronous is not None):
            skip("there is an else, or the loop is asynchronous")
        if isinstance(statement, cst.For):
            items = _items(at, statement.iter)
            bracketed = isinstance(statement.iter, (cst.IfExp, cst.Lambda)) and not statement.iter.lpar
            clauses.append(f"for {at.text(statement.target)} in {f'({items})' if bracketed else items}")
        else:
            clauses.append(f"if ({demand_one_text(at, statement.test)})")
        statement = only_statement(statement.body)
    item = appended(statement)
    return clauses, item if item is not None else skip("the loop does more than append")


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def comprehension_to_loop(statement: Simple, at: Place):
    """A list or dictionary comprehension is filled by loops before the statement."""
    for node in expressions_in(statement, cst.ListComp, cst.DictComp, own=True):
        assert isinstance(node, (cst.ListComp, cst.DictComp))
        _demand_movable(at, node)
        demand_first(at, node)
        clauses = _clauses(node)
        targets = [n for clause in clauses for n in target_names(clause.target)]
        _demand_free(at, targets, node)
        filled = fresh(at, "filled")
        if isinstance(node, cst.ListComp):
            begun, inmost = "[]", f"{filled}.append({_element(at, node.elt)})"
        else:
            key = fresh(at, "key")
            inmost = f"{key} = {demand_one_text(at, node.key)}\n{filled}[{key}] = {demand_one_text(at, node.value)}"
            begun = "{}"
        yield at.ahead(f"{filled} = {begun}\n{_nested(at, clauses, inmost)}"), at.replace(node, filled)


def _demand_free(at: Place, names: list[str], node: cst.BaseComp) -> None:
    """Skip unless the function may store to ``names``, which were the comprehension's own, and nobody could tell."""
    demand_unseen(at, names, node)
    if outer := at.names(node).reads & frozenset(names):
        skip(f"{min(outer)} is also a variable outside")


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def comprehension_to_map(statement: Simple, at: Place):
    """A list comprehension is a list of what map calls a lambda for; several lists side by side are mapped together."""
    for node in expressions_in(statement, cst.ListComp):
        assert isinstance(node, cst.ListComp)
        clause = node.for_in
        if clause.inner_for_in is not None or clause.ifs:
            continue
        _demand_movable(at, node)
        if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(node.elt)):
            skip("something in it is evaluated later")
        if isinstance(clause.target, cst.Name):
            names, sources = [clause.target.value], [clause.iter]
        else:
            names, sources = target_names(clause.target), called(at, clause.iter, "zip")
            flat = isinstance(clause.target, cst.Tuple) and len(clause.target.elements) == len(names)
            if sources is None or len(sources) != len(names) or not flat or len(set(names)) != len(names):
                continue
        function = f"lambda {', '.join(names)}: {_element(at, node.elt)}"
        items = ", ".join(_items(at, source) for source in sources)
        yield at.replace(node, f"{at.builtin('list')}({at.builtin('map')}({function}, {items}))")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        return [t * j for j, t in enumerate((x, y, x)) if j if t.dim() < 9], [j for j in range(5) if j % 2]
    """,
)
def condition_to_filter(statement: Simple, at: Place):
    """A comprehension with one condition goes over what filter lets through."""
    for node in expressions_in(statement, cst.ListComp):
        assert isinstance(node, cst.ListComp)
        clause = node.for_in
        if clause.inner_for_in is not None or len(clause.ifs) != 1 or not isinstance(clause.target, cst.Name):
            continue
        _demand_movable(at, node)
        name = clause.target.value
        if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(clause.ifs[0].test)):
            skip("something in the condition is evaluated later")
        test = demand_one_text(at, clause.ifs[0].test)
        kept = f"{at.builtin('filter')}(lambda {name}: {test}, {_items(at, clause.iter)})"
        yield at.replace(node, f"[{_element(at, node.elt)} for {name} in {kept}]")


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def comprehension_to_generator(statement: Simple, at: Place):
    """A list comprehension is a list of a generator, and a dictionary comprehension one of pairs."""
    for node in expressions_in(statement, cst.ListComp, cst.DictComp):
        assert isinstance(node, (cst.ListComp, cst.DictComp))
        _demand_movable(at, node)
        start, end = at.syntax.span(node.for_in)
        clauses = at.syntax.text[start:end]
        if "\n" in clauses:
            demand_one_text(at, node)
        if isinstance(node, cst.DictComp):
            pair = f"({_element(at, node.key)}, {_element(at, node.value)})"
            yield at.replace(node, f"{at.builtin('dict')}({pair} {clauses})")
            continue
        generator = f"{_element(at, node.elt)} {clauses}"
        yield at.replace(node, f"{at.builtin('list')}({generator})")
        yield at.replace(node, f"[*({generator})]")


STACKED = frozenset("stack cat concat hstack vstack dstack column_stack block_diag".split())


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def stacked_from_tuple(call: cst.Call, at: Place):
    """What is stacked or concatenated comes in a tuple instead of a list."""
    path = at.resolved(call.func) or ""
    if not path.startswith("torch.") or path.removeprefix("torch.") not in STACKED or not call.args:
        return
    given = call.args[0]
    if not isinstance(given.value, cst.ListComp) or given.star or given.keyword is not None:
        return
    _demand_movable(at, given.value)
    inside = at.syntax.text_of(given.value)[1:-1]
    yield at.replace(given.value, f"{at.builtin('tuple')}({inside})")


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def comprehension_to_generator_function(statement: Simple, at: Place):
    """A list comprehension is the list of what a function defined right before yields."""
    for node in expressions_in(statement, cst.ListComp, own=True):
        assert isinstance(node, cst.ListComp)
        _demand_movable(at, node)
        clauses = _clauses(node)
        if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(node)):
            skip("something in it is evaluated later")
        for clause in clauses:
            target_names(clause.target)
        source, items = fresh(at, "source"), fresh(at, "items")
        outer = f"for {at.text(clauses[0].target)} in {items}:\n"
        inner = _nested(at, clauses[1:], f"yield {_element(at, node.elt)}")
        for test in reversed(clauses[0].ifs):
            inner = f"if {demand_one_text(at, test.test)}:\n{indented(inner)}"
        definition = f"def {source}({items}):\n{indented(outer + indented(inner))}"
        given = _items(at, clauses[0].iter)
        yield at.ahead(definition), at.replace(node, f"{at.builtin('list')}({source}({given}))")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        total = sum(torch.sin(t) * j for j, t in enumerate((x, y)) if j < 5)
        return total * sum([t * t for t in (x, y)])
    """,
)
def sum_to_loop(call: cst.Call, at: Place):
    """A sum of tensors is added up in a loop, or by a reduction, from zero."""
    arguments = called(at, call, "sum")
    if arguments is None or len(arguments) != 1:
        return
    (node,) = arguments
    if not isinstance(node, (cst.GeneratorExp, cst.ListComp)):
        skip("what is added up is no comprehension")
    _demand_movable(at, node)
    at.tensors(node.elt)
    demand_harmless(at, node.elt)
    start, end = at.syntax.span(node.for_in)
    generator = f"{_element(at, node.elt)} {at.syntax.text[start:end]}"
    demand_one_text(at, node)
    yield f"{at.path('functools.reduce')}({at.path('operator.add')}, ({generator}), 0)"
    demand_first(at, call)
    clauses = _clauses(node)
    targets = [n for clause in clauses for n in target_names(clause.target)]
    _demand_free(at, targets, node)
    total = fresh(at, "total")
    adding = _nested(at, clauses, f"{total} = {total} + ({demand_one_text(at, node.elt)})")
    yield total, at.ahead(f"{total} = 0\n{adding}")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        total = y
        for t in (x, y, x):
            total = total + torch.sin(t)
        return total
    """,
)
def loop_to_sum(loop: cst.For, at: Place):
    """A loop that adds to one variable is a sum that begins with it."""
    made = assigned(only_statement(loop.body))
    if made is None or loop.orelse is not None or loop.asynchronous is not None:
        return
    name, value = made
    adds = isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add)
    if not adds or value.lpar or not isinstance(value.left, cst.Name) or value.left.value != name:
        return
    at.tensors(value.right)
    demand_harmless(at, value.right)
    demand_plain(loop)
    demand_no_handler(at)
    if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(loop)):
        skip("something is evaluated later")
    targets = target_names(loop.target)
    demand_unseen(at, targets, loop)
    demand_unshared(at, [name])
    if name not in bound_before(at):
        skip(f"{name} may have no value before the loop")
    if name in targets or name in at.names(value.right).reads | at.names(loop.iter).reads:
        skip(f"{name} is read in the loop")
    generator = f"{_element(at, value.right)} for {at.text(loop.target)} in {_items(at, loop.iter)}"
    yield f"{name} = {at.builtin('sum')}(({generator}), {name})"
