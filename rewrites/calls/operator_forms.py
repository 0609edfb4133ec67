"""Operators of Python as calls: the function, the dunder method, the module ``operator``, and chains of them."""

import libcst as cst
import torch

from eqfuzz.rewrite.calls.binding import argument_text, is_tensor
from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.result_memory import require_copy_layout, require_unwritten_before_backward
from eqfuzz.rewrite.facts.preconditions import real
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip
from eqfuzz.rewrite.source.python_operators import BINARY, COMPARISONS, UNARY, dunder

AUGMENTED = {f"{kind.__name__}Assign": name for kind, (name, _) in BINARY.items()}
"""What libcst calls an augmented assignment → the name of its operator."""

SIGNS = dict(BINARY.values()) | dict(COMPARISONS.values())
UNARY_SIGNS = dict(UNARY.values())
_WRITING = [pair for pair in BINARY.values() if pair[0] != "matmul"]
"""Operators that can write their result into the left operand."""


def binary_programs(*, reflected: bool = False) -> list[str]:
    """A program for every binary operator, on two tensors and on a tensor and a number."""
    texts = []
    for name, sign in SIGNS.items():
        compares = name in dict(COMPARISONS.values())
        if not reflected:
            texts.append(f"def program(x, y):\n    return x {sign} y\n")
        if name != "matmul" and not (reflected and compares):
            texts.append(f"def program(x, k: Number):\n    return {f'k {sign} x' if reflected else f'x {sign} k'}\n")
    return texts


def unary_programs() -> list[str]:
    return [f"def program(x):\n    return {sign}x\n" for sign in UNARY_SIGNS.values()]


def operands_of(
    node: cst.BinaryOperation | cst.Comparison,
) -> tuple[str, cst.BaseExpression, cst.BaseExpression] | None:
    """The operator's name and its two operands; None for chains, ``in``, ``is`` and the like."""
    if isinstance(node, cst.Comparison):
        if len(node.comparisons) != 1 or type(node.comparisons[0].operator) not in COMPARISONS:
            return None
        target = node.comparisons[0]
        return COMPARISONS[type(target.operator)][0], node.left, target.comparator
    operator = BINARY.get(type(node.operator))
    return (operator[0], node.left, node.right) if operator is not None else None


def _is_operand(ctx: RewriteContext, node: cst.BaseExpression) -> bool:
    """Whether it is a plain tensor or a number every time."""
    visits = ctx.visits(node)
    return bool(visits) and all(f.is_tensor or f.is_number or f.kind == "bool" for f in visits)


@rule(exact="bitwise", example=binary_programs() + binary_programs(reflected=True))
def binary_by_operator_module(node: cst.BinaryOperation | cst.Comparison, ctx: RewriteContext):
    """``x + y`` is ``operator.add(x, y)``, and so for every operator, where a tensor takes part."""
    sides = operands_of(node)
    if sides is None:
        return
    name, left, right = sides
    if not (is_tensor(ctx, left) or is_tensor(ctx, right)):
        return
    yield f"{ctx.path(f'operator.{name}')}({argument_text(ctx, left)}, {argument_text(ctx, right)})"


@rule(exact="bitwise", example=unary_programs())
def unary_by_operator_module(node: cst.UnaryOperation, ctx: RewriteContext):
    """``-x`` is ``operator.neg(x)``, and so for ``+`` and ``~``."""
    if type(node.operator) not in UNARY or not is_tensor(ctx, node.expression):
        return
    yield f"{ctx.path(f'operator.{UNARY[type(node.operator)][0]}')}({argument_text(ctx, node.expression)})"


@rule(
    exact="bitwise",
    example=[f"def program(x, y):\n    return operator.{name}(x, y)\n" for name in SIGNS]
    + [f"def program(x):\n    return operator.{name}(x)\n" for name in UNARY_SIGNS],
)
def from_operator_module(call: cst.Call, ctx: RewriteContext):
    """``operator.add(x, y)`` is ``x + y``, whatever its operands are."""
    path = ctx.resolved(call.func) or ""
    if not path.startswith("operator.") or any(a.star or a.keyword is not None for a in call.args):
        return
    name = path.removeprefix("operator.")
    operands = [ctx.atom(a.value) for a in call.args]
    if len(operands) == 1 and name in UNARY_SIGNS:
        yield f"{UNARY_SIGNS[name]}{operands[0]}"
    elif len(operands) == 2 and name in SIGNS:
        yield f"{operands[0]} {SIGNS[name]} {operands[1]}"


@rule(exact="bitwise", example=binary_programs())
def binary_by_dunder(node: cst.BinaryOperation | cst.Comparison, ctx: RewriteContext):
    """``x + y`` of a tensor ``x`` is ``x.__add__(y)``."""
    sides = operands_of(node)
    if sides is None:
        return
    name, left, right = sides
    if is_tensor(ctx, left) and _is_operand(ctx, right):
        yield f"{ctx.atom(left)}.{dunder(name)}({argument_text(ctx, right)})"


@rule(exact="bitwise", example=binary_programs(reflected=True))
def number_by_reflected_dunder(node: cst.BinaryOperation, ctx: RewriteContext):
    """``k + x`` of a number and a tensor is ``x.__radd__(k)``."""
    sides = operands_of(node)
    if sides is None:
        return
    name, left, right = sides
    if not is_tensor(ctx, right) or not all(f.is_number for f in ctx.visits(left)) or not ctx.visits(left):
        return
    ctx.require_pure(left)
    ctx.require_pure(right)
    yield f"{ctx.atom(right)}.{dunder(name, 'r')}({argument_text(ctx, left)})"


@rule(exact="bitwise", example=unary_programs())
def unary_by_dunder(node: cst.UnaryOperation, ctx: RewriteContext):
    """``-x`` of a tensor is ``x.__neg__()``."""
    if type(node.operator) in UNARY and is_tensor(ctx, node.expression):
        yield f"{ctx.atom(node.expression)}.{dunder(UNARY[type(node.operator)][0])}()"


@rule(
    exact="bitwise",
    example=[f"def program(x, y):\n    return x.{dunder(name)}(y)\n" for name in SIGNS]
    + [f"def program(x):\n    return x.{dunder(name)}()\n" for name in UNARY_SIGNS],
)
def from_dunder(call: cst.Call, ctx: RewriteContext):
    """``x.__add__(y)`` of a tensor is ``x + y``."""
    if not isinstance(call.func, cst.Attribute) or any(a.star or a.keyword is not None for a in call.args):
        return
    left, written = call.func.value, call.func.attr.value
    if ctx.resolved(call.func) is not None or not is_tensor(ctx, left):
        return
    if not call.args:
        for name, sign in UNARY_SIGNS.items():
            if written == dunder(name):
                yield f"{sign}{ctx.atom(left)}"
    elif len(call.args) == 1 and _is_operand(ctx, call.args[0].value):
        for name, sign in SIGNS.items():
            if written == dunder(name):
                yield f"{ctx.atom(left)} {sign} {ctx.atom(call.args[0].value)}"


@rule(
    exact="bitwise",
    example=[f"def program(x, y):\n    x = x.clone()\n    x {sign}= y\n    return x\n" for _, sign in _WRITING],
)
def augmented_by_operator_module(statement: cst.AugAssign, ctx: RewriteContext):
    """``x += y`` is ``x = operator.iadd(x, y)``, whatever x and y are."""
    name = AUGMENTED.get(type(statement.operator).__name__)
    if name is None or not isinstance(statement.target, cst.Name) or not is_evaluated(ctx, statement.value):
        return
    target = statement.target.value
    function = ctx.path(f"operator.i{name.strip('_')}")
    yield f"{target} = {function}({target}, {argument_text(ctx, statement.value)})"


def is_evaluated(ctx: RewriteContext, node: cst.BaseExpression) -> bool:
    return is_tensor(ctx, node) or any(f.is_number for f in ctx.visits(node))


@rule(exact="bitwise", example=[f"def program(x, y):\n    return x {sign} y\n" for _, sign in _WRITING])
def augmented_copy(node: cst.BinaryOperation, ctx: RewriteContext):
    """``x + y`` is a copy of ``x`` that ``y`` is added to, by ``operator.iadd`` or by ``+=`` ahead of the statement."""
    operator = BINARY.get(type(node.operator))
    if operator is None or operator not in _WRITING:
        return
    name, sign = operator
    if not is_tensor(ctx, node.left) or not _is_operand(ctx, node.right):
        return
    require_copy_layout(ctx, node.left, node)
    ctx.require_pure(node.right)
    copy, other = f"{ctx.atom(node.left)}.clone()", argument_text(ctx, node.right)
    yield f"{ctx.path('operator.i' + name.strip('_'))}({copy}, {other})"
    ctx.require_pure(node.left)
    new = ctx.new_name("t")
    ctx.hoisted(node, new)  # refuses where it may not be evaluated ahead
    yield new, ctx.ahead(f"{new} = {copy}\n{new} {sign}= {other}")


@rule(exact="bitwise", example=[f"def program(x, y, z):\n    return x {sign} y {sign} z\n" for sign in "+-*"])
def chain_by_reduce(node: cst.BinaryOperation, ctx: RewriteContext):
    """``x + y + z`` is ``functools.reduce(operator.add, [x, y, z])``."""
    operands = chain_operands(node)
    if len(operands) < 3 or not any(is_tensor(ctx, o) for o in operands):
        return
    for operand in operands:
        ctx.require_pure(operand)
    function = ctx.path(f"operator.{BINARY[type(node.operator)][0]}")
    items = ", ".join(argument_text(ctx, o) for o in operands)
    yield f"{ctx.path('functools.reduce')}({function}, [{items}])"


@rule(exact="bitwise", example="def program(x, y, z):\n    return x + y + z")
def chain_by_sum(node: cst.BinaryOperation, ctx: RewriteContext):
    """``x + y + z`` is ``sum((y, z), x)`` of a tensor ``x``."""
    operands = chain_operands(node)
    if not isinstance(node.operator, cst.Add) or len(operands) < 3 or not is_tensor(ctx, operands[0]):
        return
    for operand in operands:
        ctx.require_pure(operand)
    first, *rest = (argument_text(ctx, o) for o in operands)
    yield f"{ctx.builtin('sum')}(({', '.join(rest)}), {first})"


def chain_operands(node: cst.BinaryOperation) -> list[cst.BaseExpression]:
    """``[x, y, z]`` of ``x + y + z``: what one operator is applied to from left to right."""
    if type(node.operator) not in BINARY or isinstance(node.operator, cst.Power):
        return []
    operands: list[cst.BaseExpression] = [node.right]
    left = node.left
    while isinstance(left, cst.BinaryOperation) and type(left.operator) is type(node.operator):
        operands.append(left.right)
        left = left.left
    return [left, *reversed(operands)]


@rule(
    exact="bitwise",
    where=[real("x", "y")],
    example=[f"def program(x, y):\n    return x {sign} y\n" for sign in "+-*/"],
)
def binary_in_lists_of_one(node: cst.BinaryOperation, ctx: RewriteContext):
    """``x * y`` is the foreach product of two lists of one tensor each, or of a list and a number."""
    name = {cst.Add: "add", cst.Subtract: "sub", cst.Multiply: "mul", cst.Divide: "div"}.get(type(node.operator))
    if name is None or not is_tensor(ctx, node.left) or not _is_operand(ctx, node.right):
        return
    sides = [f for side in (node.left, node.right) for f in ctx.facts(side)]
    if any(f.dtype is torch.bool or f.kind == "bool" or (f.dtype is not None and f.dtype.is_complex) for f in sides):
        skip("the foreach form is for real numbers")
    require_unwritten_before_backward(sides)
    left, right = argument_text(ctx, node.left), argument_text(ctx, node.right)
    yield f"{ctx.path(f'torch._foreach_{name}')}([{left}], {f'[{right}]' if is_tensor(ctx, node.right) else right})[0]"
