"""Comprehensions over two tensors side by side, taken by number."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import require_ordinary, walk
from eqfuzz.rewrite.context.loop_control import require_plain
from eqfuzz.rewrite.context.patterns import called, expressions_in, target_names
from eqfuzz.rewrite.facts.preconditions import floating, moderate, same_dtype
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, skip

ALIKE = [floating("x", "y"), same_dtype("x", "y"), same_shape("x", "y"), contiguous("x", "y"), moderate("x", "y")]
Simple = cst.Assign | cst.Return | cst.Expr


@rule(
    exact="bitwise",
    where=ALIKE,
    example="""
    def program(x, y):
        z = torch.stack([x, y])
        return [p - q * 2 for p, q in zip(z, z.flip(0))], [a + b for a, b in zip(z, z)]
    """,
)
def pairs_by_number(statement: Simple, ctx: RewriteContext):
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
            skip("something in it has a scope of its own")
        number = ctx.new_name("number")
        row = f"{sources[1].value}[{number}]"
        labels = {id(n.attr) for n in walk(node.elt) if isinstance(n, cst.Attribute)}
        labels |= {id(n.keyword) for n in walk(node.elt) if isinstance(n, cst.Arg)}
        readers = [n for n in walk(node.elt) if isinstance(n, cst.Name) and n.value == names[1] and id(n) not in labels]
        changed = [ctx.replace(n, row) for n in readers]
        start, end = ctx.syntax.span(clause.target)[0], ctx.syntax.span(clause.iter)[1]
        head = f"{number}, {names[0]} in {ctx.builtin('enumerate')}({ctx.text(sources[0])})"
        yield (*changed, Edit((start, end), head))
