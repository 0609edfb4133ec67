"""Attention with its options written otherwise: causal masks, scales, dropout that is off."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.composite_preconditions import elementwise
from eqfuzz.rewrite.facts.shape_preconditions import non_empty, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip

ATTENTION = [elementwise("q", "k", "v", bound=10), sizes(q="b l e", k="b s e", v="b s f"), non_empty("q", "k", "v")]
PATH = "torch.nn.functional.scaled_dot_product_attention"


def query_key_value(call: cst.Call, ctx: RewriteContext, option: str | None) -> tuple[str, str, str]:
    """Query, key and value of a call of attention that has ``option=True`` and no other option. Raises Skip.

    They are written more than once or beside new operands, so they must be free of side effects.
    """
    if ctx.resolved(call.func) != PATH:
        skip("not a call of attention")
    named = [a for a in call.args if a.keyword is not None]
    positional = [a.value for a in call.args if a.keyword is None and not a.star]
    if len(positional) != 3 or len(positional) + len(named) != len(call.args):
        skip("not called with query, key and value")
    wanted = [option] if option else []
    if [a.keyword.value for a in named] != wanted or any(ctx.text(a.value) != "True" for a in named):
        skip("the call has other options")
    for operand in positional:
        ctx.require_pure(operand)
        ctx.tensors(operand)
    query, key, value = (ctx.atom(operand) for operand in positional)
    return query, key, value


@rule(
    exact="ulp",
    where=ATTENTION,
    example="""
    def program(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    """,
)
def causal_is_a_mask(call: cst.Call, ctx: RewriteContext):
    """Causal attention is attention with a lower triangle for its mask."""
    q, k, v = query_key_value(call, ctx, "is_causal")
    ones = f"{ctx.path('torch.ones')}({q}.shape[-2], {k}.shape[-2], dtype={ctx.path('torch.bool')}, device={q}.device)"
    yield f"{ctx.text(call.func)}({q}, {k}, {v}, attn_mask={ones}.tril())"


@rule(
    exact="real",
    where=ATTENTION,
    example="""
    def program(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    """,
)
def causal_by_definition(call: cst.Call, ctx: RewriteContext):
    """Causal attention fills the upper triangle of the products with minus infinity."""
    q, k, v = query_key_value(call, ctx, "is_causal")
    ones = f"{ctx.path('torch.ones')}({q}.shape[-2], {k}.shape[-2], dtype={ctx.path('torch.bool')}, device={q}.device)"
    products = f"({q} @ {k}.mT * {q}.shape[-1] ** -0.5).masked_fill({ones}.triu(1), {ctx.builtin('float')}('-inf'))"
    yield f"{ctx.path('torch.softmax')}({products}, -1) @ {v}"


@rule(
    exact="ulp",
    where=ATTENTION,
    example="""
    def program(q, k, v):
        return F.scaled_dot_product_attention(q, k, v)
    """,
)
def options_written(call: cst.Call, ctx: RewriteContext):
    """Attention with its defaults written: no dropout, the usual scale, a mask of ones."""
    q, k, v = query_key_value(call, ctx, None)
    function = ctx.text(call.func)
    yield f"{function}({q}, {k}, {v}, dropout_p=0.0)"
    yield f"{function}({q}, {k}, {v}, scale={q}.shape[-1] ** -0.5)"
    ones = f"{ctx.path('torch.ones')}({q}.shape[-2], {k}.shape[-2], dtype={ctx.path('torch.bool')}, device={q}.device)"
    yield f"{function}({q}, {k}, {v}, attn_mask={ones})"
