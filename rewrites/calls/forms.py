"""One call in its several forms: function, method, overload, keywords, defaults, other names, in place, ``out=``."""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst
import torch

from eqfuzz.rewrite.calls.binding import Argument, BoundCall, bound_at, is_tensor, renamed_for, require_all_pure
from eqfuzz.rewrite.calls.operators import METHODS, OVERLOADS, canonical, names_of, operator_at, takes_out
from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.result_memory import (
    require_copy_layout,
    require_not_complex,
    require_plain_writes,
    require_unwritten_before_backward,
)
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.preconditions import Operands, Precondition, Visit
from eqfuzz.rewrite.proof.form_examples import examples, has_in_place, has_method, has_out
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip


def _no_grad(visit: Visit) -> str | None:
    return next((f"{name} is followed by autograd" for name, fact in visit.items() if fact.needs_grad), None)


def _propose_no_grad(operands: Operands, rng: random.Random) -> None:
    for operand in operands.values():
        operand.requires_grad = False


WITHOUT_AUTOGRAD = Precondition("no operand is followed by autograd", _no_grad, _propose_no_grad)


@rule(exact="bitwise", example=examples("function", has_method))
def function_is_method(call: cst.Call, ctx: RewriteContext):
    """``torch.f(x, …)`` is the method ``x.f(…)``, also as ``torch.Tensor.f(x, …)``."""
    bound = bound_at(call, ctx)
    if bound is None or bound.is_method_call or not bound.operator.method:
        return
    receiver = bound.argument(bound.signature.receiver)
    if receiver is None or receiver.packed or not is_tensor(ctx, receiver.node):
        skip("the method is not called on a tensor")
    name = bound.operator.method
    rest = [a for a in bound.arguments if a is not receiver]
    before = bound.arguments[: bound.arguments.index(receiver)]
    if before:
        require_all_pure(ctx, [receiver, *before])
    parameters = [p for p in bound.signature.positional if p.name != "input"]
    arguments = bound.passed(ctx, rest, parameters)
    yield f"{ctx.atom(receiver.node)}.{name}({arguments})"
    unbound = f"{METHODS}.{name}"
    if bound.operator.path != unbound and not bound.operator.is_overload:
        yield f"{ctx.path(unbound)}({ctx.text(receiver.node)}{', ' if arguments else ''}{arguments})"


@rule(exact="bitwise", example=examples("method", has_method))
def method_is_function(call: cst.Call, ctx: RewriteContext):
    """The method ``x.f(…)`` is ``torch.f(x, …)``."""
    bound = bound_at(call, ctx)
    if bound is None or not bound.is_method_call or not bound.operator.function:
        return
    if not bound.operator.aten:  # methods in Python are functions by another name at best
        return
    arguments = bound.reordered(ctx)
    yield f"{ctx.path(bound.operator.function)}({bound.passed(ctx, arguments, bound.signature.positional)})"


@rule(exact="bitwise", example=examples("function"))
def by_keyword(call: cst.Call, ctx: RewriteContext):
    """Arguments passed by position are passed by keyword: the last one, or all."""
    bound = bound_at(call, ctx)
    if bound is None or bound.operator.is_overload:
        return
    passed = [a for a in bound.arguments if a is not bound.leading]
    by_position = [a for a in passed if a.name not in bound.keywords]
    if not by_position:
        return
    for count in sorted({1, len(by_position)}):
        positional_count = len(by_position) - count
        texts = [a.text(ctx) if i < positional_count else f"{a.name}={a.text(ctx)}" for i, a in enumerate(passed)]
        yield call_text(call, bound, texts, ctx)


def call_text(call: cst.Call, bound: BoundCall, texts: Sequence[str], ctx: RewriteContext) -> str:
    """The call with ``texts`` for all arguments but the one that leads."""
    lead = [bound.leading.text(ctx)] if bound.leading is not None and not bound.is_method_call else []
    return f"{ctx.text(call.func)}({', '.join([*lead, *texts])})"


@rule(exact="bitwise", example=examples("by_keyword", lambda s: len(s.names) > 1))
def by_position(call: cst.Call, ctx: RewriteContext):
    """Arguments passed by keyword are passed by position, in the order of the parameters."""
    bound = bound_at(call, ctx)
    if bound is None or not bound.keywords or bound.operator.is_overload:
        return
    lead = bound.leading
    places = {tuple(p.name for p in s.positional if lead is None or p.name != lead.name) for s in bound.signatures}
    names = [p.name for p in bound.signature.parameters]
    passed = [a for a in bound.arguments if a is not lead]
    arguments = sorted(passed, key=lambda a: names.index(a.name))
    if arguments != passed:
        require_all_pure(ctx, passed)
    count = 0
    while count < len(arguments) and all(len(p) > count and p[count] == arguments[count].name for p in places):
        count += 1
    if count <= len(passed) - len(bound.keywords):
        skip("no keyword argument follows the positional ones")
    texts = [a.text(ctx) if i < count else f"{a.name}={a.text(ctx)}" for i, a in enumerate(arguments)]
    yield call_text(call, bound, texts, ctx)


@rule(exact="bitwise", example=examples("function"))
def default_written(call: cst.Call, ctx: RewriteContext):
    """A parameter that is not passed is passed its default."""
    bound = bound_at(call, ctx)
    if bound is None or bound.operator.is_overload:
        return
    passed = ", ".join(ctx.text(a) for a in call.args).rstrip(", ")
    names = {a.name for a in bound.arguments}
    for parameter in bound.signature.parameters:
        name, default = parameter.name, parameter.default
        if name in names or name.startswith("_") or name in ("out", "inplace", "generator"):
            continue
        others = [s.named(name) for s in bound.signatures]
        if all(o is not None and o.default == default for o in others) and _is_literal(parameter.type, default):
            yield f"{ctx.text(call.func)}({passed}{', ' if passed else ''}{name}={default!r})"


def _is_literal(kind: str, default: object) -> bool:
    """Whether ``default`` is written in Python as its repr; a dtype or memory format is a number in schemas."""
    if default is None:
        return True
    if isinstance(default, float) and not math.isfinite(default):
        return False
    return type(default) in (bool, int, float, str) and kind in ("", "bool", "int", "float", "Scalar", "str")


@rule(exact="bitwise", example=examples("function", lambda s: len(names_of(s.operator.path)) > 1))
def other_name(call: cst.Call, ctx: RewriteContext):
    """Another name of the same function: ``torch.abs`` and ``torch.absolute``, ``F.relu`` and ``torch.relu``."""
    bound = bound_at(call, ctx)
    if bound is None or bound.operator.is_overload:
        return
    path = bound.operator.path
    for name in names_of(path):
        target = operator_at(name)
        if target is None or (target.aten and target.aten == bound.operator.aten) or name == path:
            continue
        renamed = renamed_for(bound, target)
        if renamed is None or (target.is_method and renamed.arguments[0].name in renamed.keywords):
            continue
        if bound.is_method_call:
            if target.method and not target.is_method:
                rest, receiver = renamed.arguments[1:], renamed.arguments[0]
                parameters = [p for p in renamed.signature.positional if p.name != receiver.name]
                yield f"{ctx.atom(receiver.node)}.{target.method}({renamed.passed(ctx, rest, parameters)})"
                continue
            renamed = renamed.in_order and renamed
            if not renamed:
                continue
        yield f"{ctx.path(name)}({renamed.passed(ctx, renamed.arguments, renamed.signature.positional)})"


NO_OVERLOAD = frozenset({"torch.linspace", "torch.logspace", "torch.randint_like"})
"""Their overloads differ by numbers and tensors, and that of the last has no derivative, not even zero."""


@rule(exact="bitwise", example=examples("function"))
def called_as_overload(call: cst.Call, ctx: RewriteContext):
    """A native function or method is the overload of the ATen operator that its arguments choose."""
    bound = bound_at(call, ctx)
    if bound is None or not bound.operator.aten or bound.operator.is_overload or bound.operator.path in NO_OVERLOAD:
        return
    signature = bound.signature
    if signature.returns != ("Tensor",):
        return  # a named tuple becomes a plain one
    arguments = [list_text(a, ctx) for a in bound.reordered(ctx)]
    callee = ctx.path(f"{OVERLOADS}.{signature.overload}")
    own = "self" if signature.receiver else ""
    yield f"{callee}({bound.passed(ctx, arguments, signature.positional, own=own)})"


def list_text(argument: Argument, ctx: RewriteContext) -> Argument:
    """A number that stands for a list of a known length as that list, which is what an overload takes."""
    length = argument.parameter.type.removeprefix("int[").rstrip("]?")
    if not argument.parameter.type.startswith("int[") or argument.packed or not length:
        return argument
    if any(f.kind != "int" for f in ctx.facts(argument.node)):
        return argument
    if int(length) > 1:
        ctx.require_pure(argument.node)
    return replace(argument, nodes=argument.nodes * int(length), packed=True)


NO_GRADIENT_IN_PLACE = frozenset({"torch.asinh", "torch.acosh", "torch.atanh", "torch.sgn"})


@rule(exact="bitwise", example=examples("function", has_in_place))
def in_place_on_a_copy(call: cst.Call, ctx: RewriteContext):
    """``torch.f(x, …)`` writes into a copy of ``x`` that has the room, the type and the layout of the result."""
    bound = bound_at(call, ctx)
    if bound is None:
        return
    receiver, name = written_operand(bound, ctx)
    if receiver is None:
        return
    require_copy_layout(ctx, receiver, call)
    _require_same_history(ctx, bound, call)
    if canonical(bound.operator.path) in NO_GRADIENT_IN_PLACE and any(f.needs_grad for f in ctx.tensors(receiver)):
        skip("torch has no gradient of the in-place form")
    rest = bound.arguments[1:]
    require_all_pure(ctx, rest)
    parameters = [p for p in bound.signature.positional if p.name != "input"]
    yield f"{ctx.atom(receiver)}.clone().{name}({bound.passed(ctx, rest, parameters)})"


def _require_same_history(ctx: RewriteContext, bound: BoundCall, call: cst.Call) -> None:
    """Skip where a function without a gradient has operands with one: its in-place form says that it has one too."""
    if all(f.requires_grad for f in ctx.tensors(call)):
        return
    operands = [n for a in bound.arguments for n in a.nodes if is_tensor(ctx, n)]
    if any(f.needs_grad for n in operands for f in ctx.tensors(n)):
        skip("autograd follows an operand and not the result")


def written_operand(bound: BoundCall, ctx: RewriteContext) -> tuple[cst.BaseExpression | None, str]:
    """The first operand and the method that writes into it; None where there is no such method."""
    in_place = bound.operator.in_place
    first = bound.arguments[0] if bound.arguments else None
    if not in_place or first is None or first.name != "input" or first.packed or not bound.signature.fresh:
        return None, ""
    if bound.signature.returns != ("Tensor",) or bound.signature.random:
        return None, ""
    names = {p.name: p.type for p in bound.signature.parameters}
    target = operator_at(f"{METHODS}.{in_place}")
    if target is None or all({p.name: p.type for p in s.parameters} != names for s in target.signatures):
        return None, ""
    return first.node, in_place


OUT_DIFFERS = frozenset({"diff"})
"""``torch.diff`` with ``out`` refuses an empty dimension."""


@rule(exact="bitwise", where=[WITHOUT_AUTOGRAD], example=examples("function", has_out))
def into_out(call: cst.Call, ctx: RewriteContext):
    """``torch.f(x)`` writes into a new tensor that is given as ``out``, which takes no part in autograd."""
    bound = bound_at(call, ctx)
    if bound is None or not bound.operator.function or bound.signature.returns != ("Tensor",):
        return
    signature, path = bound.signature, bound.operator.function
    if not signature.fresh or signature.random or bound.operator.aten in OUT_DIFFERS:
        return
    if not takes_out(path, frozenset((a.name, a.parameter.type) for a in bound.arguments)):
        return
    require_plain_writes(ctx)
    require_all_pure(ctx, bound.arguments)
    results = ctx.tensors(call)
    tensors = [n for a in bound.arguments for n in _tensors_in(a, ctx)]
    if any(f.needs_grad for node in tensors for f in ctx.tensors(node)) or any(f.requires_grad for f in results):
        skip("autograd does not support `out=`")
    require_not_complex(results)
    arguments = bound.passed(ctx, bound.reordered(ctx), signature.positional)
    function = ctx.path(path)
    for room in dict.fromkeys(
        allocate_outputs(ctx, [n for n in tensors if isinstance(n, (cst.Name, cst.Attribute))], results)
    ):
        yield f"{function}({arguments}, out={room})"


def _tensors_in(argument: Argument, ctx: RewriteContext) -> list[cst.BaseExpression]:
    kind = argument.parameter.type
    if kind == "Tensor[]":
        if not isinstance(argument.node, (cst.Tuple, cst.List)):
            skip("the tensors of the list were not observed")
        return [e.value for e in argument.node.elements]
    return [argument.node] if kind.startswith("Tensor") and is_tensor(ctx, argument.node) else []


def allocate_outputs(
    ctx: RewriteContext, operands: Sequence[cst.BaseExpression], results: Sequence[Fact]
) -> Iterator[str]:
    """New tensors that have the type, shape and strides of the result at every visit."""
    if not operands:
        skip("no operand is a name from which the output can be allocated")
    if not all(f.contiguous for f in results):
        skip("the result is not contiguous, and Dynamo does not take such an `out`")
    for operand in operands:
        facts = ctx.tensors(operand)
        if len(facts) != len(results):
            continue
        pairs = list(zip(facts, results, strict=True))
        if not all(a.device == b.device and a.ndim for a, b in pairs):
            continue
        if all(a.dtype == b.dtype and a.shape == b.shape and a.contiguous for a, b in pairs):
            yield f"{ctx.path('torch.empty_like')}({ctx.text(operand)})"
        if len({(b.dtype, b.shape) for b in results}) == 1:
            yield f"{ctx.text(operand)}.new_empty({results[0].shape}, dtype={ctx.path(str(results[0].dtype))})"


@rule(exact="bitwise", where=[WITHOUT_AUTOGRAD], example=examples("function_of_sum", has_in_place))
def in_place_on_a_temporary(call: cst.Call, ctx: RewriteContext):
    """``torch.f(a + b, …)`` writes into the sum, which nothing else needs and autograd does not keep."""
    bound = bound_at(call, ctx)
    if bound is None:
        return
    receiver, name = written_operand(bound, ctx)
    if receiver is None or not isinstance(receiver, cst.BinaryOperation):
        return
    if not isinstance(receiver.operator, (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)):
        return
    for side in (receiver.left, receiver.right):
        if not all(f.is_tensor or f.is_number for f in ctx.facts(side)):
            skip("the operator is not arithmetic on tensors and numbers")
    if any(f.needs_grad for f in ctx.tensors(receiver)):
        skip("autograd may have kept the operand")
    require_copy_layout(ctx, receiver, call)
    _require_same_history(ctx, bound, call)
    rest = bound.arguments[1:]
    require_all_pure(ctx, rest)
    parameters = [p for p in bound.signature.positional if p.name != "input"]
    yield f"{ctx.atom(receiver)}.{name}({bound.passed(ctx, rest, parameters)})"


@rule(exact="bitwise", example=examples("function", lambda s: hasattr(torch, f"_foreach_{s.operator.aten}")))
def in_a_list_of_one(call: cst.Call, ctx: RewriteContext):
    """``torch.f(x)`` is ``torch._foreach_f([x])[0]``, as optimisers call it."""
    bound = bound_at(call, ctx)
    if bound is None or bound.operator.is_overload or len(bound.arguments) != 1 or bound.arguments[0].name != "input":
        return
    target = operator_at(f"{OVERLOADS}._foreach_{bound.operator.aten}.default") if bound.operator.aten else None
    if target is None or [p.type for p in target.signatures[0].parameters] != ["Tensor[]"]:
        return
    require_unwritten_before_backward(ctx.facts(bound.arguments[0].node))
    yield f"{ctx.path(f'torch._foreach_{bound.operator.aten}')}([{bound.arguments[0].text(ctx)}])[0]"
