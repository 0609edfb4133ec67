"""Comprehensions, loops that fill a list, map and filter, generators, zip and enumerate: one for another."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import (
    bound_before,
    require_first,
    require_no_handler,
    require_one_text,
    require_ordinary,
    walk,
)
from eqfuzz.rewrite.context.loop_control import fresh, require_harmless, require_plain, require_unseen, require_unshared
from eqfuzz.rewrite.context.patterns import (
    appended,
    assigned,
    called,
    expressions_in,
    only_statement,
    previous,
    target_names,
)
from eqfuzz.rewrite.facts.preconditions import floating, moderate, same_dtype
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, same_shape
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


def for_clauses(comprehension: cst.BaseComp) -> list[cst.CompFor]:
    """The ``for`` clauses from the outside in."""
    clauses = [comprehension.for_in]
    while clauses[-1].inner_for_in is not None:
        clauses.append(clauses[-1].inner_for_in)
    return clauses


def _require_movable(ctx: RewriteContext, comprehension: cst.BaseComp) -> None:
    """Skip what would not mean the same in another scope."""
    require_ordinary(ctx)
    require_plain(comprehension)
    if ctx.syntax.names & {"next", "StopIteration"}:
        skip("a StopIteration raised inside has another meaning in map and generators")


def iterable_text(ctx: RewriteContext, iterable: cst.BaseExpression) -> str:
    text = require_one_text(ctx, iterable)
    bare = isinstance(iterable, (cst.Tuple, cst.GeneratorExp)) and not iterable.lpar
    return f"({text})" if bare else text


def element_text(ctx: RewriteContext, element: cst.BaseExpression) -> str:
    text = require_one_text(ctx, element)
    return f"({text})" if isinstance(element, (cst.Tuple, cst.IfExp, cst.Lambda)) and not element.lpar else text


def nested_loops(ctx: RewriteContext, clauses: list[cst.CompFor], inmost: str) -> str:
    """``inmost`` inside the loops and conditions of a comprehension."""
    text = inmost
    for clause in reversed(clauses):
        for test in reversed(clause.ifs):
            text = f"if {require_one_text(ctx, test.test)}:\n{indented(text)}"
        text = f"for {ctx.text(clause.target)} in {iterable_text(ctx, clause.iter)}:\n{indented(text)}"
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
def loop_to_comprehension(loop: cst.For, ctx: RewriteContext):
    """A loop that only appends to a list created right before it is a comprehension, or an extension by one."""
    clauses, item = appending_loop(ctx, loop)
    name, value = item
    assignment = assigned(previous(ctx))
    if assignment is None or assignment[0] != name or not isinstance(assignment[1], cst.List) or assignment[1].elements:
        skip(f"{name} is not created as an empty list right before the loop")
    require_plain(loop)
    require_no_handler(ctx)
    targets = [n for node in walk(loop) if isinstance(node, cst.For) for n in target_names(node.target)]
    require_unseen(ctx, targets, loop)
    require_unshared(ctx, [name])
    uses = [n for n in walk(loop) if isinstance(n, cst.Name) and n.value == name]
    if len(uses) != 1:
        skip(f"{name} is read in the loop")
    text = f"[{element_text(ctx, value)} {' '.join(clauses)}]"
    first = ctx.statement.block[ctx.statement.index - 1]
    yield f"{name} = {text}", Edit((ctx.syntax.span(first)[0], ctx.here.span[0]), "")
    yield f"{name}.extend({text[1:-1]})"


def appending_loop(ctx: RewriteContext, loop: cst.For) -> tuple[list[str], tuple[str, cst.BaseExpression]]:
    """The clauses, and the list and item, of a loop that does nothing but append."""
    clauses: list[str] = []
    statement: cst.CSTNode | None = loop
    while isinstance(statement, (cst.For, cst.If)):
        if statement.orelse is not None or (isinstance(statement, cst.For) and statement.asynchronous is not None):
            skip("there is an else, or the loop is asynchronous")
        if isinstance(statement, cst.For):
            items = iterable_text(ctx, statement.iter)
            bracketed = isinstance(statement.iter, (cst.IfExp, cst.Lambda)) and not statement.iter.lpar
            clauses.append(f"for {ctx.text(statement.target)} in {f'({items})' if bracketed else items}")
        else:
            clauses.append(f"if ({require_one_text(ctx, statement.test)})")
        statement = only_statement(statement.body)
    item = appended(statement)
    return clauses, item if item is not None else skip("the loop does more than append")


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def comprehension_to_loop(statement: Simple, ctx: RewriteContext):
    """A list or dictionary comprehension is filled by loops before the statement."""
    for node in expressions_in(statement, cst.ListComp, cst.DictComp, own=True):
        assert isinstance(node, (cst.ListComp, cst.DictComp))
        _require_movable(ctx, node)
        require_first(ctx, node)
        clauses = for_clauses(node)
        targets = [n for clause in clauses for n in target_names(clause.target)]
        _require_free(ctx, targets, node)
        filled = fresh(ctx, "filled")
        if isinstance(node, cst.ListComp):
            empty, inmost = "[]", f"{filled}.append({element_text(ctx, node.elt)})"
        else:
            key = fresh(ctx, "key")
            inmost = f"{key} = {require_one_text(ctx, node.key)}\n{filled}[{key}] = {require_one_text(ctx, node.value)}"
            empty = "{}"
        yield ctx.ahead(f"{filled} = {empty}\n{nested_loops(ctx, clauses, inmost)}"), ctx.replace(node, filled)


def _require_free(ctx: RewriteContext, names: list[str], node: cst.BaseComp) -> None:
    """Skip unless the function may store to ``names`` of the comprehension without any other effect."""
    require_unseen(ctx, names, node)
    if outer := ctx.names(node).reads & frozenset(names):
        skip(f"{min(outer)} is also a variable outside")


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def comprehension_to_map(statement: Simple, ctx: RewriteContext):
    """A list comprehension is a list of what map calls a lambda for; several lists side by side are mapped together."""
    for node in expressions_in(statement, cst.ListComp):
        assert isinstance(node, cst.ListComp)
        clause = node.for_in
        if clause.inner_for_in is not None or clause.ifs:
            continue
        _require_movable(ctx, node)
        if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(node.elt)):
            skip("part of the loop's body is evaluated later")
        if isinstance(clause.target, cst.Name):
            names, sources = [clause.target.value], [clause.iter]
        else:
            names, sources = target_names(clause.target), called(ctx, clause.iter, "zip")
            flat = isinstance(clause.target, cst.Tuple) and len(clause.target.elements) == len(names)
            if sources is None or len(sources) != len(names) or not flat or len(set(names)) != len(names):
                continue
        function = f"lambda {', '.join(names)}: {element_text(ctx, node.elt)}"
        items = ", ".join(iterable_text(ctx, source) for source in sources)
        yield ctx.replace(node, f"{ctx.builtin('list')}({ctx.builtin('map')}({function}, {items}))")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        return [t * j for j, t in enumerate((x, y, x)) if j if t.dim() < 9], [j for j in range(5) if j % 2]
    """,
)
def condition_to_filter(statement: Simple, ctx: RewriteContext):
    """A comprehension with one condition goes over what filter lets through."""
    for node in expressions_in(statement, cst.ListComp):
        assert isinstance(node, cst.ListComp)
        clause = node.for_in
        if clause.inner_for_in is not None or len(clause.ifs) != 1 or not isinstance(clause.target, cst.Name):
            continue
        _require_movable(ctx, node)
        name = clause.target.value
        if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(clause.ifs[0].test)):
            skip("part of the condition is evaluated later")
        test = require_one_text(ctx, clause.ifs[0].test)
        filtered = f"{ctx.builtin('filter')}(lambda {name}: {test}, {iterable_text(ctx, clause.iter)})"
        yield ctx.replace(node, f"[{element_text(ctx, node.elt)} for {name} in {filtered}]")


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def comprehension_to_generator(statement: Simple, ctx: RewriteContext):
    """A list comprehension is a list of a generator, and a dictionary comprehension one of pairs."""
    for node in expressions_in(statement, cst.ListComp, cst.DictComp):
        assert isinstance(node, (cst.ListComp, cst.DictComp))
        _require_movable(ctx, node)
        start, end = ctx.syntax.span(node.for_in)
        clauses = ctx.syntax.text[start:end]
        if "\n" in clauses:
            require_one_text(ctx, node)
        if isinstance(node, cst.DictComp):
            pair = f"({element_text(ctx, node.key)}, {element_text(ctx, node.value)})"
            yield ctx.replace(node, f"{ctx.builtin('dict')}({pair} {clauses})")
            continue
        generator = f"{element_text(ctx, node.elt)} {clauses}"
        yield ctx.replace(node, f"{ctx.builtin('list')}({generator})")
        yield ctx.replace(node, f"[*({generator})]")


STACKED = frozenset("stack cat concat hstack vstack dstack column_stack block_diag".split())


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def stacked_from_tuple(call: cst.Call, ctx: RewriteContext):
    """What is stacked or concatenated comes in a tuple instead of a list."""
    path = ctx.resolved(call.func) or ""
    if not path.startswith("torch.") or path.removeprefix("torch.") not in STACKED or not call.args:
        return
    iterable = call.args[0]
    if not isinstance(iterable.value, cst.ListComp) or iterable.star or iterable.keyword is not None:
        return
    _require_movable(ctx, iterable.value)
    inside = ctx.syntax.text_of(iterable.value)[1:-1]
    yield ctx.replace(iterable.value, f"{ctx.builtin('tuple')}({inside})")


@rule(exact="bitwise", where=[floating("x", "y")], example=LISTED)
def comprehension_to_generator_function(statement: Simple, ctx: RewriteContext):
    """A list comprehension is the list of what a function defined right before yields."""
    for node in expressions_in(statement, cst.ListComp, own=True):
        assert isinstance(node, cst.ListComp)
        _require_movable(ctx, node)
        clauses = for_clauses(node)
        if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(node)):
            skip("part of the loop's body is evaluated later")
        for clause in clauses:
            target_names(clause.target)
        source, items = fresh(ctx, "source"), fresh(ctx, "items")
        outer = f"for {ctx.text(clauses[0].target)} in {items}:\n"
        inner = nested_loops(ctx, clauses[1:], f"yield {element_text(ctx, node.elt)}")
        for test in reversed(clauses[0].ifs):
            inner = f"if {require_one_text(ctx, test.test)}:\n{indented(inner)}"
        definition = f"def {source}({items}):\n{indented(outer + indented(inner))}"
        iterable = iterable_text(ctx, clauses[0].iter)
        yield ctx.ahead(definition), ctx.replace(node, f"{ctx.builtin('list')}({source}({iterable}))")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        total = sum(torch.sin(t) * j for j, t in enumerate((x, y)) if j < 5)
        return total * sum([t * t for t in (x, y)])
    """,
)
def sum_to_loop(call: cst.Call, ctx: RewriteContext):
    """A sum of tensors is added up in a loop, or by a reduction, from zero."""
    arguments = called(ctx, call, "sum")
    if arguments is None or len(arguments) != 1:
        return
    (node,) = arguments
    if not isinstance(node, (cst.GeneratorExp, cst.ListComp)):
        skip("the argument of the sum is not a comprehension")
    _require_movable(ctx, node)
    ctx.tensors(node.elt)
    require_harmless(ctx, node.elt)
    start, end = ctx.syntax.span(node.for_in)
    generator = f"{element_text(ctx, node.elt)} {ctx.syntax.text[start:end]}"
    require_one_text(ctx, node)
    yield f"{ctx.path('functools.reduce')}({ctx.path('operator.add')}, ({generator}), 0)"
    require_first(ctx, call)
    clauses = for_clauses(node)
    targets = [n for clause in clauses for n in target_names(clause.target)]
    _require_free(ctx, targets, node)
    total = fresh(ctx, "total")
    adding = nested_loops(ctx, clauses, f"{total} = {total} + ({require_one_text(ctx, node.elt)})")
    yield total, ctx.ahead(f"{total} = 0\n{adding}")


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
def loop_to_sum(loop: cst.For, ctx: RewriteContext):
    """A loop that adds to one variable is a sum that begins with it."""
    assignment = assigned(only_statement(loop.body))
    if assignment is None or loop.orelse is not None or loop.asynchronous is not None:
        return
    name, value = assignment
    adds = isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add)
    if not adds or value.lpar or not isinstance(value.left, cst.Name) or value.left.value != name:
        return
    ctx.tensors(value.right)
    require_harmless(ctx, value.right)
    require_plain(loop)
    require_no_handler(ctx)
    if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in walk(loop)):
        skip("part of the loop is evaluated later")
    targets = target_names(loop.target)
    require_unseen(ctx, targets, loop)
    require_unshared(ctx, [name])
    if name not in bound_before(ctx):
        skip(f"{name} may have no value before the loop")
    if name in targets or name in ctx.names(value.right).reads | ctx.names(loop.iter).reads:
        skip(f"{name} is read in the loop")
    generator = f"{element_text(ctx, value.right)} for {ctx.text(loop.target)} in {iterable_text(ctx, loop.iter)}"
    yield f"{name} = {ctx.builtin('sum')}(({generator}), {name})"


@rule(
    exact="bitwise",
    where=[floating("x", "y"), same_dtype("x", "y"), same_shape("x", "y"), contiguous("x", "y"), moderate("x", "y")],
    example="""
    def program(x, y):
        z = torch.stack([x, y])
        return [p - q * 2 for p, q in zip(z, z.flip(0))], [a + b for a, b in zip(z, z)]
    """,
)
def pairs_by_number(statement: cst.Assign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A comprehension over two zipped tensors numbers the rows of one and takes those of the other by number."""
    for node in expressions_in(statement, cst.ListComp):
        clause = node.for_in
        sources = called(ctx, clause.iter, "zip")
        if clause.inner_for_in is not None or clause.ifs or sources is None or len(sources) != 2:
            continue
        names = target_names(clause.target)
        if len(names) != 2 or not isinstance(sources[1], cst.Name) or sources[1].value in names:
            continue
        require_ordinary(ctx)
        require_plain(node)
        first, second = (ctx.tensors(source) for source in sources)
        if [f.shape[:1] for f in first] != [f.shape[:1] for f in second] or any(f.ndim == 0 for f in first):
            skip("one has more rows than the other")
        if any(isinstance(n, (cst.Lambda, cst.BaseComp)) for n in walk(node.elt)):
            skip("the element contains another scope")
        number = ctx.new_name("number")
        row = f"{sources[1].value}[{number}]"
        labels = {id(n.attr) for n in walk(node.elt) if isinstance(n, cst.Attribute)}
        labels |= {id(n.keyword) for n in walk(node.elt) if isinstance(n, cst.Arg)}
        readers = [n for n in walk(node.elt) if isinstance(n, cst.Name) and n.value == names[1] and id(n) not in labels]
        changed = [ctx.replace(n, row) for n in readers]
        start, end = ctx.syntax.span(clause.target)[0], ctx.syntax.span(clause.iter)[1]
        head = f"{number}, {names[0]} in {ctx.builtin('enumerate')}({ctx.text(sources[0])})"
        yield (*changed, Edit((start, end), head))
