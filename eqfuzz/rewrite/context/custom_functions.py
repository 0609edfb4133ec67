"""Definitions with hand-written derivatives that rewrites add to a program: autograd functions, custom operators."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.source.edit import Edit, skip


@dataclasses.dataclass(frozen=True)
class Derivative:
    """Gradients of a function: ``formula`` computes them from ``grad`` and the ``saved`` operands or ``result``."""

    saved: tuple[str, ...]
    formula: str


UNARY_DERIVATIVES = {
    "exp": Derivative(("result",), "grad * result"),
    "sin": Derivative(("x",), "grad * torch.cos(x)"),
    "cos": Derivative(("x",), "grad * -torch.sin(x)"),
    "tanh": Derivative(("result",), "grad * (1 - result * result)"),
    "sigmoid": Derivative(("result",), "grad * ((1 - result) * result)"),
    "relu": Derivative(("result",), "torch.where(result <= 0, torch.zeros_like(grad), grad)"),
    "neg": Derivative((), "-grad"),
    "square": Derivative(("x",), "grad * (2 * x)"),
    "log1p": Derivative(("x",), "grad / (x + 1)"),
    "expm1": Derivative(("result",), "grad * (result + 1)"),
    "abs": Derivative(("x",), "grad * torch.sgn(x)"),
    "atan": Derivative(("x",), "grad / (x * x + 1)"),
}
"""Functions ``torch.NAME(x)`` whose formulas give the very bits of torch's own derivatives."""

BINARY_DERIVATIVES: dict[type[cst.CSTNode], Derivative] = {
    cst.Add: Derivative((), "grad, grad"),
    cst.Subtract: Derivative((), "grad, -grad"),
    cst.Multiply: Derivative(("x", "y"), "grad * y, grad * x"),
    cst.MatrixMultiply: Derivative(("x", "y"), "grad @ y.t(), x.t() @ grad"),
}
"""Operators between two tensors of one shape (of matrices for ``@``); both gradients."""

_FUNCTION = """
class {name}({function}):
    @staticmethod
    def forward(ctx, {parameters}):
        result = {value}
        {save}
        return result

    @staticmethod
    def backward(ctx, grad):
        {load}
        return {formula}
"""

_FUNCTION_WITH_SETUP = """
class {name}({function}):
    generate_vmap_rule = True

    @staticmethod
    def forward({parameters}):
        return {value}

    @staticmethod
    def setup_context(ctx, inputs, output):
        {targets} = inputs
        result = output
        {save}

    @staticmethod
    def backward(ctx, grad):
        {load}
        return {formula}
"""

_OPERATOR = """
if not hasattr(torch.ops.eqfuzz, "opaque_{name}"):
    {handle} = torch.library.custom_op(
        "eqfuzz::opaque_{name}", lambda {parameters}: {value}, mutates_args=(), schema="({schema}) -> Tensor"
    )
    {handle}.register_fake(lambda {parameters}: {value})
    {handle}.register_autograd(lambda ctx, grad: {gradients}{setup})
"""
"""At module level and in lambdas, where no other rewrite applies; the first definition in a process stays."""


def torch_name(ctx: RewriteContext) -> str:
    """The program's name for torch. Raises Skip where it has none."""
    path = ctx.path("torch.ops")
    return path.removesuffix(".ops") if path.endswith(".ops") else skip("the program has no name for torch")


def autograd_function(
    ctx: RewriteContext, stem: str, parameters: Sequence[str], value: str, derivative: Derivative, *, setup: bool
) -> tuple[str, Edit]:
    """The name and the definition of a ``torch.autograd.Function`` that computes ``value`` from ``parameters``.

    ``setup`` writes it with ``setup_context``, which function transforms need. Raises Skip where the program has no
    name for torch.
    """
    name, module = ctx.new_name(stem), ctx.path("torch.autograd.Function").removesuffix(".autograd.Function")
    if module.endswith("Function"):
        skip("the program has no name for torch")
    lines = (_FUNCTION_WITH_SETUP if setup else _FUNCTION).format(
        name=name,
        function=f"{module}.autograd.Function",
        parameters=", ".join(parameters),
        targets=_targets(parameters),
        value=value,
        save=f"ctx.save_for_backward({', '.join(derivative.saved)})" if derivative.saved else "pass",
        load=f"{_targets(derivative.saved)} = ctx.saved_tensors" if derivative.saved else "pass",
        formula=derivative.formula,
    )
    return name, ctx.define(lines.strip().replace("torch.", f"{module}."))


def opaque_operator(
    ctx: RewriteContext, name: str, parameters: Sequence[str], value: str, derivative: Derivative
) -> tuple[str, Edit]:
    """The path and the definition of a custom operator that the compiler calls without looking inside.

    Raises Skip where the program has no name for torch.
    """
    module = torch_name(ctx)
    ctx.builtin("hasattr")
    places = {name: f"ctx.saved_tensors[{i}]" for i, name in enumerate(derivative.saved)}
    formula = re.sub(r"\b(x|y|result)\b", lambda match: places[match[0]], derivative.formula)
    gradients = f"({formula})" if len(parameters) > 1 else formula
    operands = {name: f"inputs[{i}]" for i, name in enumerate(parameters)} | {"result": "output"}
    saves = ", ".join(operands[name] for name in derivative.saved)
    lines = _OPERATOR.format(
        name=name,
        handle=ctx.new_name("opaque"),
        parameters=", ".join(parameters),
        value=value,
        schema=", ".join(f"Tensor {parameter}" for parameter in parameters),
        gradients=gradients,
        setup=f", setup_context=lambda ctx, inputs, output: ctx.save_for_backward({saves})" if saves else "",
    )
    return f"{module}.ops.eqfuzz.opaque_{name}", ctx.define(lines.strip().replace("torch.", f"{module}."))


def _targets(names: Sequence[str]) -> str:
    """``names`` as the left side of an assignment from a tuple."""
    return ", ".join(names) + ("," if len(names) == 1 else "")
