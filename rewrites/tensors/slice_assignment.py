"""Values put into place: index assignments and in-place methods for expressions, and for one another."""

from collections.abc import Iterator

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.preconditions import boolean, floating, same_dtype, when
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, index_into, rank, same_shape, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, skip
from eqfuzz.rewrite.source.evaluation_order import held_back

METHODS = {cst.Add: "add_", cst.Subtract: "sub_", cst.Multiply: "mul_", cst.Divide: "div_"}
IN_PLACE = {
    cst.AddAssign: "add_",
    cst.SubtractAssign: "sub_",
    cst.MultiplyAssign: "mul_",
    cst.DivideAssign: "div_",
}


def hoisted(ctx: RewriteContext, node: cst.BaseExpression, lines: str) -> Edit:
    """``lines``, which compute ``node``, before its statement. Raises Skip where something else would run later."""
    reason = held_back(node, ctx.statement.node)
    if reason is not None:
        skip(reason)
    return ctx.ahead(lines)


def method_call(call: cst.Call, name: str) -> tuple[cst.BaseExpression, list[cst.BaseExpression]]:
    """Receiver and positional arguments of the method call ``….name(…)``. Raises Skip."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != name:
        skip(f"not a call of {name}")
    return call.func.value, positional_arguments(call)


def positional_arguments(call: cst.Call) -> list[cst.BaseExpression]:
    """Positional arguments. Raises Skip where there are others."""
    if any(a.star or a.keyword is not None for a in call.args):
        skip("an argument is passed by keyword or starred")
    return [a.value for a in call.args]


def function_call(call: cst.Call, ctx: RewriteContext, path: str, count: int) -> list[cst.BaseExpression]:
    """The ``count`` positional arguments of a call of ``path``. Raises Skip."""
    if ctx.resolved(call.func) != path:
        skip(f"not a call of {path}")
    positional = positional_arguments(call)
    return positional if len(positional) == count else skip(f"not {count} arguments")


def facts_by_visit(ctx: RewriteContext, *expressions: cst.BaseExpression) -> Iterator[tuple[Fact, ...]]:
    """The facts of tensors, visit by visit. Raises Skip where one was evaluated more often than another."""
    columns = [ctx.tensors(e) for e in expressions]
    if len({len(c) for c in columns}) != 1:
        skip("the operands are not evaluated equally often")
    yield from zip(*columns, strict=True)


def require(condition: bool, reason: str) -> None:
    """Raises Skip unless ``condition``."""
    if not condition:
        skip(reason)


def require_same_layout(fact: Fact, result: Fact) -> None:
    """A clone of ``fact`` can hold ``result``: same dtype, shape and order in memory. Raises Skip."""
    require(fact.dtype is result.dtype, f"{fact.describe()} cannot hold {result.describe()}")
    require(fact.shape == result.shape, f"{fact.describe()} is not as large as {result.describe()}")
    require(fact.contiguous and result.contiguous, "a tensor is not contiguous")


@rule(
    exact="bitwise",
    where=[boolean("c"), same_dtype("x", "y"), same_shape("c", "x", "y"), contiguous("c", "x", "y")],
    breaks_graph=True,
    example="""
    def program(c, x, y):
        return torch.where(c, y, x)
    """,
)
def where_by_assignment(call: cst.Call, ctx: RewriteContext):
    """``where(c, y, x)`` is a copy of ``x`` into which the masked elements of ``y`` are stored."""
    mask, chosen, rest = function_call(call, ctx, "torch.where", 3)
    for c, y, x, result in facts_by_visit(ctx, mask, chosen, rest, call):
        require_same_layout(x, result)
        require(y.shape == x.shape == c.shape and y.dtype is x.dtype, "the shapes or dtypes differ")
        require(c.ndim > 0, "a single element")
    for operand in (mask, chosen, rest):
        ctx.require_pure(operand)
    name = ctx.new_name("t")
    m, y = ctx.atom(mask), ctx.atom(chosen)
    yield name, hoisted(ctx, call, f"{name} = {ctx.atom(rest)}.clone()\n{name}[{ctx.text(mask)}] = {y}[{m.strip()}]")


@rule(
    exact="bitwise",
    where=[boolean("c"), floating("x"), same_shape("c", "x"), contiguous("c", "x")],
    example="""
    def program(c, x, k: Number):
        return x.masked_fill(c, k)
    """,
)
def masked_fill_by_assignment(call: cst.Call, ctx: RewriteContext):
    """``x.masked_fill(c, k)`` is a copy of ``x`` with ``k`` put in."""
    base, passed = method_call(call, "masked_fill")
    require(len(passed) == 2, "the arguments are not a mask and a value")
    for x, c, result in facts_by_visit(ctx, base, passed[0], call):
        require_same_layout(x, result)
        require(c.shape == x.shape, "a mask of another shape")
        require(bool(c.shape), "a mask without dimensions: Dynamo breaks the graph")
    require(all(f.is_number for f in ctx.facts(passed[1])), "the value is no number")
    name = ctx.new_name("t")
    lines = f"{name} = {ctx.atom(base)}.clone()\n{name}[{ctx.text(passed[0])}] = {ctx.text(passed[1])}"
    ctx.require_pure(passed[0])
    yield name, hoisted(ctx, call, lines)


@rule(
    exact="bitwise",
    where=[same_dtype("x", "y"), same_shape("x", "y"), at_least_rank("x", 2), contiguous("x", "y")],
    example=[
        """
        def program(x, y):
            return torch.cat([x, y], 0)
        """,
        """
        def program(x, y):
            return torch.cat((x.exp(), y, x), 1) * 2
        """,
    ],
)
def cat_by_slices(call: cst.Call, ctx: RewriteContext):
    """``cat`` fills a new tensor slice by slice."""
    if ctx.resolved(call.func) not in ("torch.cat", "torch.concat", "torch.concatenate"):
        return
    passed = positional_arguments(call)
    require(
        1 <= len(passed) <= 2 and isinstance(passed[0], (cst.List, cst.Tuple)), "the argument is not a list of tensors"
    )
    parts = [e.value for e in passed[0].elements]
    require(
        bool(parts) and not any(isinstance(e, cst.StarredElement) for e in passed[0].elements),
        "the list has starred items",
    )
    visits = list(facts_by_visit(ctx, *parts, call))
    facts = visits[0]
    require(
        all([f.shape for f in v] == [f.shape for f in facts] for v in visits), "the shape is not the same every time"
    )
    require(
        all(f.dtype is facts[-1].dtype and f.contiguous for v in visits for f in v),
        "the dtypes differ, or a tensor is not contiguous",
    )
    require(all(f.ndim == facts[-1].ndim for f in facts), "a tensor of another rank among the others")
    dim = (ctx.value(passed[1], "int") if len(passed) == 2 else 0) % facts[-1].ndim
    for part in parts:
        ctx.require_pure(part)
    name = ctx.new_name("t")
    lines, start = [f"{name} = {ctx.atom(parts[0])}.new_empty({', '.join(map(str, facts[-1].shape))})"], 0
    for part, fact in zip(parts, facts, strict=False):
        stop = start + fact.shape[dim]
        lines.append(f"{name}[{':, ' * dim}{start or ''}:{stop}] = {ctx.text(part)}")
        start = stop
    yield name, hoisted(ctx, call, "\n".join(lines))


@rule(
    exact="bitwise",
    where=[floating("x"), rank("i", 1), at_least_rank("x", 1), index_into("i", "x", 0), contiguous("x", "i")],
    example="""
    def program(x, i, k: Float):
        return x.index_fill(0, i, k)
    """,
)
def index_fill_by_assignment(call: cst.Call, ctx: RewriteContext):
    """``x.index_fill(d, i, k)`` is a copy of ``x`` with ``k`` at the indices."""
    base, passed = method_call(call, "index_fill")
    require(len(passed) == 3, "the call has not three arguments")
    dim = ctx.value(passed[0], "int")
    for x, result in facts_by_visit(ctx, base, call):
        require_same_layout(x, result)
        require(0 <= dim < x.ndim, "a dimension from the end")
    require(all(f.is_number for f in ctx.facts(passed[2])), "the value is no number")
    for part in (base, *passed):
        ctx.require_pure(part)
    name = ctx.new_name("t")
    lines = f"{name} = {ctx.atom(base)}.clone()\n{name}[{':, ' * dim}{ctx.text(passed[1])}] = {ctx.text(passed[2])}"
    yield name, hoisted(ctx, call, lines)


@rule(
    exact="bitwise",
    where=[same_dtype("x", "y"), sizes(x="4 m", y="2 m"), contiguous("x", "y")],
    example="""
    def program(x, y):
        return torch.slice_scatter(x, y, 0, 1, 3)
    """,
)
def slice_scatter_by_assignment(call: cst.Call, ctx: RewriteContext):
    """``slice_scatter(x, y, d, a, b)`` is a copy of ``x`` with ``y`` in the slice."""
    base, put, dim, start, stop = function_call(call, ctx, "torch.slice_scatter", 5)
    place = ctx.value(dim, "int")
    for x, y, result in facts_by_visit(ctx, base, put, call):
        require_same_layout(x, result)
        require(0 <= place < x.ndim and y.dtype is x.dtype, "another dtype, or a dimension from the end")
    for part in (base, put, dim, start, stop):
        ctx.require_pure(part)
    name = ctx.new_name("t")
    index = f"{':, ' * place}{ctx.atom(start)}:{ctx.atom(stop)}"
    yield name, hoisted(ctx, call, f"{name} = {ctx.atom(base)}.clone()\n{name}[{index}] = {ctx.text(put)}")


@rule(
    exact="bitwise",
    where=[floating("x"), at_least_rank("x", 1)],
    example="""
    def program(x, k: Float):
        return x.clone().fill_(k)
    """,
)
def fill_by_assignment(call: cst.Call, ctx: RewriteContext):
    """``x.fill_(k)`` puts ``k`` into every place."""
    base, passed = method_call(call, "fill_")
    require(len(passed) == 1 and all(f.is_number for f in ctx.facts(passed[0])), "the value is no number")
    require(all(f.ndim > 0 for f in ctx.tensors(call)), "0 dimensions have no slice")
    ctx.require_pure(passed[0])
    name = ctx.new_name("t")
    yield name, hoisted(ctx, call, f"{name} = {ctx.text(base)}\n{name}[:] = {ctx.text(passed[0])}")


@rule(
    exact="bitwise",
    where=[floating("x"), at_least_rank("x", 1), contiguous("x"), when("a row", lambda x: x.shape[0] > 0, "x")],
    example="""
    def program(x):
        return torch.cat([x[:1] + 1, x[1:]])
    """,
)
def first_row_in_place(call: cst.Call, ctx: RewriteContext):
    """The first row changed and put before the others is a copy whose first row is changed in place."""
    (listed,) = function_call(call, ctx, "torch.cat", 1)
    require(isinstance(listed, (cst.List, cst.Tuple)) and len(listed.elements) == 2, "the list has not two tensors")
    first, rest = (e.value for e in listed.elements)
    require(
        isinstance(first, cst.BinaryOperation) and type(first.operator) in METHODS,
        "the first tensor is not a changed row",
    )
    require(
        isinstance(first.left, cst.Subscript) and isinstance(rest, cst.Subscript), "the operands are not two slices"
    )
    base = first.left.value
    require(
        isinstance(base, cst.Name) and ctx.text(base) == ctx.text(rest.value),
        "the operands are not slices of one variable",
    )
    bare = "".join(f"{ctx.text(first.left)} {ctx.text(rest)}".split())
    require(bare == f"{ctx.text(base)}[:1]{ctx.text(base)}[1:]", "the slices are not the first row and the others")
    require(all(f.is_number for f in ctx.facts(first.right)), "the operand is not a number")
    for x, result in facts_by_visit(ctx, base, call):
        require_same_layout(x, result)
    name = ctx.new_name("t")
    lines = f"{name} = {ctx.text(base)}.clone()\n{name}[0].{METHODS[type(first.operator)]}({ctx.text(first.right)})"
    ctx.require_pure(first.right)
    yield name, hoisted(ctx, call, lines)


@rule(
    exact="bitwise",
    where=[floating("x"), contiguous("x")],
    example="""
    def program(x):
        t = x.clone()
        t += 1
        return t
    """,
)
def augmented_through_line(statement: cst.AugAssign, ctx: RewriteContext):
    """``t += k`` on a contiguous tensor is ``add_`` on a view of it in one dimension.

    The target of ``+=`` is not probed: its facts are those of the next statement that reads it.
    """
    name = variable_read_next(statement, ctx)
    yield f"{name}.view(-1).{IN_PLACE[type(statement.operator)]}({ctx.text(statement.value)})"


@rule(
    exact="bitwise",
    where=[floating("x"), contiguous("x")],
    example="""
    def program(x):
        t = x * 2
        t *= 3
        return t
    """,
)
def augmented_by_method(statement: cst.AugAssign, ctx: RewriteContext):
    """``t += k`` is ``t.add_(k)`` where ``t`` is a tensor; so for the other three operations."""
    name = variable_read_next(statement, ctx)
    yield f"{name}.{IN_PLACE[type(statement.operator)]}({ctx.text(statement.value)})"


def variable_read_next(statement: cst.AugAssign, ctx: RewriteContext) -> str:
    """The variable that a number is added to and that the next reader sees as a contiguous tensor. Raises Skip."""
    require(
        isinstance(statement.target, cst.Name) and type(statement.operator) in IN_PLACE, "the operand is not a variable"
    )
    require(all(f.is_number for f in ctx.facts(statement.value)), "the operand is not a number")
    name = ctx.text(statement.target)
    here = ctx.statement
    for later in here.block[here.index + 1 :]:
        require(isinstance(later, cst.SimpleStatementLine), "a statement before the next read is not simple")
        names = ctx.names(later)
        if name in names.reads:
            start, end = ctx.syntax.span(later)
            readers = [e for e in ctx.syntax.expressions if start <= e.span[0] < end and _is(e.node, name)]
            require(bool(readers), "the target is not read as a value")
            require(all(f.contiguous for f in ctx.tensors(readers[0].node)), "a tensor is not contiguous")
            return name
        require(name not in names.stores, "the variable is stored again before it is read")
    return skip("the variable is not read later in the block")


def _is(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name
