"""Memory of results: whether the result of an expression can be written into a copy of an operand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.shape_preconditions import dense
from eqfuzz.rewrite.source.edit import skip


def require_copy_layout(ctx: RewriteContext, operand: cst.BaseExpression, whole: cst.BaseExpression) -> None:
    """Skip unless ``whole`` always has the type, shape and strides of a copy of ``operand``."""
    require_plain_writes(ctx)
    befores, afters = ctx.tensors(operand), ctx.tensors(whole)
    if len(befores) != len(afters):
        skip("the operand was not evaluated once for each evaluation of the whole")
    for before, after in zip(befores, afters, strict=True):
        if before.dtype != after.dtype or before.shape != after.shape:
            skip(f"{before.describe()} cannot hold {after.describe()}")
    require_not_complex(afters)
    if not all(is_dense(b) and same_strides(b, a) for b, a in zip(befores, afters, strict=True)):
        skip("the result has other strides than a copy of the operand")


def require_plain_writes(ctx: RewriteContext) -> None:
    """Skip where writing is not computing: autocast leaves writes alone, and a lazily negative copy stays one."""
    unsupported = {"autocast", "imag"} & (ctx.syntax.attributes | ctx.syntax.names)
    if unsupported:
        skip(f"the program uses {min(unsupported)}, which in-place forms do not support")


def require_not_complex(facts: Iterable[Fact]) -> None:
    if any(f.dtype is not None and f.dtype.is_complex for f in facts):
        skip("a complex tensor may be conjugated lazily, and its copy is, too")


def require_unwritten_before_backward(operands: Sequence[Fact]) -> None:
    """Skip where an operand that autograd would keep for the backward pass is written to before it.

    Foreach operators keep all operands, the operators for single tensors only those that their derivatives need.
    """
    if any(f.needs_grad for f in operands) and any(f.mutated for f in operands):
        skip("an operand is written to before the backward pass, for which foreach operators keep it")


def is_dense(fact: Fact) -> bool:
    """Whether a copy of the tensor has its strides."""
    return dense("tensor").check({"tensor": fact}) is None


def same_strides(a: Fact, b: Fact) -> bool:
    """Whether two tensors of one shape have equal strides in all dimensions where strides matter."""
    return a.numel == 0 or all(s == t for s, t, size in zip(a.stride, b.stride, a.shape, strict=True) if size > 1)
