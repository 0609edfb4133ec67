"""Expressions computed without values: dtype, shape, strides and autograd of what a branch would give."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
import torch

from eqfuzz.rewrite.context.context import RewriteContext, constant
from eqfuzz.rewrite.context.data_flow import walk
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.source.edit import skip

_ADDITIVE: dict[type[cst.CSTNode], Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    cst.Add: torch.add,
    cst.Subtract: torch.sub,
}
_UNARY = frozenset("sin cos tanh exp sigmoid relu abs neg".split())

Value = torch.Tensor | int | float


class MetaEvaluator:
    """Computes expressions over the variables that ``around`` reads, on the meta device.

    Only what cannot raise, whatever the values are: sums, differences, products, negation and a few functions. Where
    a gradient is needed, only sums and multiples by literals, so that a branch whose gradient is zero adds nothing.
    """

    def __init__(self, ctx: RewriteContext, around: cst.CSTNode) -> None:
        self.at = ctx
        self._variables: dict[str, list[Fact]] = {}
        for node in walk(around):
            if isinstance(node, cst.Name):
                self._variables.setdefault(node.value, []).extend(ctx.visits(node))

    def require_equal(self, first: cst.BaseExpression, second: cst.BaseExpression) -> None:
        """Skip unless both give a new tensor of one dtype, shape and layout, and so does torch.where of them."""
        facts = [f for facts in self._variables.values() for f in facts if f.is_tensor]
        wanted = any(f.needs_grad for f in facts)
        if wanted != any(f.requires_grad for f in facts):
            skip("gradients are disabled")
        a, b = (self._of(e, linear=wanted) for e in (first, second))
        if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
            skip("a branch does not return a tensor")
        if isinstance(first, cst.Name) or isinstance(second, cst.Name):
            skip("a branch returns a variable itself, not a new tensor")
        for expression, shadow in ((first, a), (second, b)):
            self._require_seen(expression, shadow)
        chosen = torch.where(torch.empty((), dtype=torch.bool, device="meta"), a, b)
        if len({_looks(t) for t in (a, b, chosen)}) != 1:
            skip(f"the branches return {_looks(a)} and {_looks(b)}, torch.where {_looks(chosen)}")

    def require_kept(self, expression: cst.BaseExpression, name: str) -> None:
        """Skip unless ``expression`` gives a new tensor that looks like the variable ``name`` and needs no gradient."""
        before, after = self._variable(name), self._of(expression, linear=False)
        if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
            skip(f"{name} is no tensor")
        self._require_seen(expression, after)
        if isinstance(expression, cst.Name) or _looks(before) != _looks(after):
            skip(f"{name} is {_looks(before)} and becomes {_looks(after)}")
        if before.requires_grad or after.requires_grad:
            skip(f"{name} needs a gradient")

    def tensors(self, *expressions: cst.BaseExpression) -> list[str]:
        """The variables that the expressions read and that hold tensors, in alphabetical order."""
        names = {n.value for e in expressions for n in walk(e) if isinstance(n, cst.Name)}
        return sorted(n for n in names if any(f.is_tensor for f in self._variables.get(n, ())))

    def _require_seen(self, expression: cst.BaseExpression, shadow: torch.Tensor) -> None:
        """Skip where the branch ran and gave something else, as under autocast."""
        for fact in self.at.visits(expression):
            if (fact.dtype, fact.shape, fact.stride) != (shadow.dtype, tuple(shadow.shape), tuple(shadow.stride())):
                skip(f"a branch returns {fact.describe()}, not {_looks(shadow)}")

    def _of(self, expression: cst.BaseExpression, *, linear: bool) -> Value:
        fact = constant(expression)
        if fact is not None and fact.is_number:
            return fact.value
        match expression:
            case cst.Name():
                return self._variable(expression.value)
            case cst.BinaryOperation(operator=cst.Add() | cst.Subtract()):
                left, right = (self._of(e, linear=linear) for e in (expression.left, expression.right))
                return self._joined(_ADDITIVE[type(expression.operator)], left, right)
            case cst.BinaryOperation(operator=cst.Multiply()):
                sides = (expression.left, expression.right)
                if linear and all(constant(side) is None for side in sides):
                    skip("a product may have an infinite gradient")
                left, right = (self._of(e, linear=linear) for e in sides)
                return self._joined(torch.mul, left, right)
            case cst.Call() if not linear and len(expression.args) == 1:
                path = self.at.resolved(expression.func) or ""
                argument = expression.args[0]
                value = self._of(argument.value, linear=linear)
                plain = not argument.star and argument.keyword is None and isinstance(value, torch.Tensor)
                if plain and path.startswith("torch.") and path.removeprefix("torch.") in _UNARY:
                    return _tried(getattr(torch, path.removeprefix("torch.")), value)
            case _:
                pass
        return skip("a branch computes more than sums, products and simple functions")

    def _joined(self, operation: Callable[..., torch.Tensor], left: Value, right: Value) -> torch.Tensor:
        if not isinstance(left, torch.Tensor) and not isinstance(right, torch.Tensor):
            skip("a branch computes with numbers alone")
        return _tried(operation, left, right)

    def _variable(self, name: str) -> Value:
        facts = self._variables.get(name, [])
        if not facts:
            skip(f"{name} is read only in a branch that did not run")
        kinds = {(f.kind, f.dtype, f.shape, f.stride, f.requires_grad, f.device) for f in facts}
        if len(kinds) != 1:
            skip(f"{name} is not the same kind of value every time")
        fact = facts[0]
        if fact.is_number:
            return 2 if fact.kind == "int" else 2.0
        if not fact.is_tensor or fact.dtype is None or fact.dtype.is_complex:
            skip(f"{name} is {fact.describe()}")
        shadow = torch.empty_strided(fact.shape, fact.stride, dtype=fact.dtype, device="meta")
        return shadow.requires_grad_() if fact.requires_grad else shadow


def _tried(operation: Callable[..., torch.Tensor], *operands: Value) -> torch.Tensor:
    """The operation's result; Skip where eager refuses its operands."""
    try:
        return operation(*operands)
    except RuntimeError as error:
        return skip(f"a branch would raise: {error}")


def _looks(tensor: torch.Tensor) -> str:
    """What must be equal of two results for one to stand for the other."""
    grad = " with gradient" if tensor.requires_grad else ""
    return f"{tensor.dtype}{list(tensor.shape)} strides {list(tensor.stride())}{grad}"
