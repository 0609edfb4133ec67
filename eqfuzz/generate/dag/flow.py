"""Structures: loops, branches, functions, and higher-order operators of PyTorch."""

from __future__ import annotations

from eqfuzz.generate.dag import autocast, remembered, transforms, view_writes
from eqfuzz.generate.dag.build import MODERATE, Builder
from eqfuzz.generate.dag.graph.graph import Assign, Compound, Effect, Expr, Function, Storage, Value
from eqfuzz.generate.dag.structure import (
    STRUCTURES,
    assign_again,
    assign_outer,
    bounded,
    build_structure,
    carried,
    computed_from,
    parameter_like,
    pure_function,
    python_input,
    returned,
    some_tensor,
    structure,
)
from eqfuzz.generate.dag.values.spec import WIDE, Range, Spec

__all__ = ["FURTHER", "STRUCTURES", "build_structure"]

FURTHER = (autocast, remembered, transforms, view_writes)
"""Modules that declare structures of their own."""


@structure("for range")
def loop(builder: Builder, spec: Spec, depth: int) -> Value:
    """A ``for`` loop that repeats its steps on one variable."""
    value = carried(builder, spec, depth)
    with builder.inside(isolated=True) as body:
        builder.block.values.append(value)
        assign_again(builder, value, computed_from(builder, spec, depth - 1, value))
    turns = builder.draw.integer(2, 4)
    builder.block.statements.append(
        Compound(Expr("for _ in range({turns})", params={"turns": turns}, operator="for range"), body)
    )
    return value


@structure("for parts", rank=(1, 3))
def loop_over_parts(builder: Builder, spec: Spec, depth: int) -> Value:
    """A loop that sums over the slices of a tensor."""
    count = builder.draw.integer(2, 4)
    whole = builder.produce(bounded(spec.of(count, *spec.shape)), depth - 1)
    total = carried(builder, spec, depth - 1)
    part = parameter_like(spec, whole.range, "part", grad=whole.grad)
    with builder.inside(part, isolated=True) as body:
        builder.block.values.append(total)
        assign_again(builder, total, computed_from(builder, spec, depth - 1, total, part))
    text = builder.draw.choice(("for {b0} in {0}", "for {b0} in {0}.unbind(0)", "for {b0} in torch.unbind({0})"))
    builder.block.statements.append(Compound(Expr(text, (whole,), operator="for parts"), body, (part,)))
    return total


def _branches(builder: Builder, spec: Spec, depth: int, test: Expr) -> Value:
    """An ``if`` whose two branches assign one variable."""
    bound = bounded(spec)
    result = Value(
        spec.free(),
        Range(bound.low, bound.high),
        Storage(False, True, builder.may_train),
        "chosen",
        needs_variable=True,
    )
    sides = []
    for _ in range(2):
        with builder.inside(isolated=True) as side:
            value = builder.fitted(builder.produce(spec.free(), depth - 1), bound)
            assign_outer(builder, result, value)
        sides.append(side)
    builder.block.statements.append(Compound(test, sides[0], orelse=sides[1]))
    builder.block.values.append(result)
    return result


@structure("if flag")
def branch_on_flag(builder: Builder, spec: Spec, depth: int) -> Value:
    """A branch on a Python number that is an input."""
    flag = python_input(builder, "bool")
    return _branches(builder, spec, depth, Expr("if {0}", (flag,), operator="if flag"))


@structure("if shape")
def branch_on_shape(builder: Builder, spec: Spec, depth: int) -> Value:
    """A branch on the size of a tensor."""
    seen = some_tensor(builder, depth)
    axis = builder.draw.axis(seen.spec)
    least = builder.draw.integer(1, 8)
    text = builder.draw.choice(("if {0}.shape[{axis}] > {least}", "if {0}.size({axis}) >= {least}"))
    return _branches(builder, spec, depth, Expr(text, (seen,), {"axis": axis, "least": least}, "if shape"))


@structure("if values", weight=0.7)
def branch_on_values(builder: Builder, spec: Spec, depth: int) -> Value:
    """A branch on the values of a tensor: Dynamo breaks the graph, or keeps a symbol."""
    size = tuple(builder.draw.size(9) for _ in range(builder.draw.integer(1, 2)))
    seen = builder.produce(Spec(size, builder.draw.choice(("int64", "float32"))).exactly(), 1)
    text = builder.draw.choice(
        ("if {0}.sum() > 0", "if {0}.max() > 1", "if bool(({0} > 0).any())", "if {0}.sum().item() > 1")
    )
    return _branches(builder, spec, depth, Expr(text, (seen,), operator="if values"))


def _function(builder: Builder, spec: Spec, depth: int, *parameters: Value, name_hint: str, inner: bool) -> Function:
    name = Value(Spec(None, "int64"), Range(0, 0), Storage(), name_hint, needs_variable=True)
    with builder.inside(*parameters, isolated=True, sees_self=inner) as body:
        result = computed_from(builder, spec, depth - 1, *(p for p in parameters if p.spec.size == spec.size))
        body.statements.append(returned(builder, result))
    function = Function(name, parameters, body, inner)
    builder.block.statements.append(function)
    return function


def _called(builder: Builder, function: Function, spec: Spec, argument: Value, name: str) -> Value:
    bound = bounded(spec)
    expr = Expr("", (argument,), operator=name, function=function)
    return builder.emit(expr, spec.free(), Range(bound.low, bound.high))


@structure("helper function", weight=1.2)
def helper(builder: Builder, spec: Spec, depth: int) -> Value:
    """A module-level function, called once or twice."""
    argument = builder.produce(bounded(spec), depth - 1)
    parameter = parameter_like(spec, Range(-MODERATE, MODERATE), "value", grad=builder.may_train)
    function = _function(
        builder, spec, depth - 1, parameter, name_hint=builder.draw.choice(("step", "block", "mix")), inner=False
    )
    result = _called(builder, function, spec, argument, "helper function")
    return _called(builder, function, spec, result, "helper function") if builder.draw.chance(0.4) else result


@structure("closure")
def closure(builder: Builder, spec: Spec, depth: int) -> Value:
    """A function inside the program that reads its variables."""
    argument = builder.produce(bounded(spec), depth - 1)
    parameter = parameter_like(spec, Range(-MODERATE, MODERATE), "value", grad=builder.may_train)
    function = _function(builder, spec, depth - 1, parameter, name_hint="inner", inner=True)
    return _called(builder, function, spec, argument, "closure")


@structure("early return", rank=(1, 4))
def early_return(builder: Builder, spec: Spec, depth: int) -> Value:
    """A function that returns from two places."""
    argument = builder.produce(bounded(spec), depth - 1)
    parameter = parameter_like(spec, Range(-MODERATE, MODERATE), "value", grad=builder.may_train)
    name = Value(Spec(None, "int64"), Range(0, 0), Storage(), "either", needs_variable=True)
    inner = builder.draw.chance(0.5)
    with builder.inside(parameter, isolated=True, sees_self=inner) as body:
        with builder.inside(isolated=True) as first:
            result = computed_from(builder, spec, depth - 1, parameter)
            first.statements.append(returned(builder, result))
        test = Expr("if {0}.shape[{axis}] > {least}", (parameter,), {"axis": 0, "least": builder.draw.integer(1, 8)})
        body.statements.append(Compound(test, first))
        result = computed_from(builder, spec, depth - 1, parameter)
        body.statements.append(returned(builder, result))
    function = Function(name, (parameter,), body, inner)
    builder.block.statements.append(function)
    return _called(builder, function, spec, argument, "early return")


@structure("comprehension", rank=(1, 4))
def comprehension(builder: Builder, spec: Spec, depth: int) -> Value:
    """A comprehension that applies a function to each slice, with the results joined."""
    inner_spec, whole_spec, texts = _of_parts(builder, spec)
    whole = builder.produce(bounded(whole_spec), depth - 1)
    parameter = parameter_like(inner_spec, whole.range, "part", grad=whole.grad)
    function = _function(builder, inner_spec, depth - 1, parameter, name_hint="each", inner=True)
    bound = bounded(spec)
    text = builder.draw.choice(texts)
    expr = Expr(text, (whole, function.name), {"n": spec.shape[0] if spec.shape else 0}, "comprehension")
    return builder.emit(expr, spec.free(), Range(bound.low * 4, bound.high * 4))


def _of_parts(builder: Builder, spec: Spec) -> tuple[Spec, Spec, list[str]]:
    size = spec.shape
    rest = spec.of(*size[1:])
    if builder.draw.chance(0.5) and isinstance(size[0], int) and type(size[0]) is int and 0 < size[0] <= 9:
        return (
            rest,
            spec,
            [
                "torch.stack([{1}(part) for part in {0}])",
                "torch.stack([{1}({0}[i]) for i in range({n})])",
                "torch.stack(list(map({1}, {0}.unbind(0))), dim=0)",
                "torch.vmap({1})({0})",
            ],
        )
    count = builder.draw.integer(2, 4)
    return (
        spec,
        spec.of(count, *size),
        [
            "sum({1}(part) for part in {0})",
            "torch.stack([{1}(part) for part in {0}.unbind(0)]).sum(0)",
            "functools.reduce(torch.add, [{1}(part) for part in {0}])",
            "sum({1}(part) for i, part in enumerate({0}) if i % 2 == 0)",
        ],
    )


@structure("graph break", weight=0.5)
def graph_break(builder: Builder, spec: Spec, depth: int) -> Value:
    """A graph break: Dynamo compiles what is before and after it separately."""
    before = builder.produce(spec.free(), depth - 1)
    text = builder.draw.choice(("torch._dynamo.graph_break()", 'print("halfway")'))
    builder.block.statements.append(Effect(Expr(text, operator="graph break")))
    after = builder.produce(spec.free(), depth - 1)
    if after is before:
        return after
    expr = Expr("{0} + {1}", (before, after), operator="torch.add")
    return builder.emit(expr, spec.free(), before.range + after.range)


@structure("no_grad", dtypes=WIDE)
def without_gradients(builder: Builder, spec: Spec, depth: int) -> Value:
    """A block without autograd."""
    bound = bounded(spec)
    result = Value(spec.free(), Range(bound.low, bound.high), Storage(False, True), "fixed", needs_variable=True)
    with builder.inside(isolated=True) as body:
        value = builder.fitted(builder.produce(spec.free(), depth - 1), bound)
        body.statements.append(Assign((result,), Expr("{0}.detach()", (value,))))
        value.storage.owned, value.storage.saved_for_backward = False, True
    builder.block.statements.append(Compound(Expr("with torch.no_grad()", operator="no_grad"), body))
    builder.block.values.append(result)
    return result


@structure("torch.cond", dtypes=WIDE, weight=0.8)
def cond(builder: Builder, spec: Spec, depth: int) -> Value:
    """A branch that stays in the graph."""
    argument = builder.produce(bounded(spec), depth - 1)
    tested = builder.produce(Spec((builder.draw.size(8),), "int64"), 1)
    sides = []
    for name_hint in ("then", "otherwise"):
        parameter = parameter_like(spec, Range(-MODERATE, MODERATE), "value", grad=builder.may_train)
        sides.append(pure_function(builder, spec, depth, parameter, name_hint))
    bound = bounded(spec)
    names = tuple(side.name for side in sides)
    expr = Expr("torch.cond({0}.sum() > 2, {1}, {2}, ({3},))", (tested, *names, argument), operator="torch.cond")
    return builder.emit(expr, spec.free(), Range(bound.low, bound.high))


@structure("while_loop", dtypes=WIDE, rank=(1, 3), weight=0.8)
def while_loop(builder: Builder, spec: Spec, depth: int) -> Value:
    """A loop that stays in the graph; its state is not aliased and has no gradient."""
    start = builder.produce(bounded(spec), depth - 1)
    parameter = parameter_like(spec, Range(-MODERATE, MODERATE), "value")
    step = pure_function(builder, spec, depth, parameter, "advance")
    turns = builder.draw.integer(1, 4)
    text = (
        "torch._higher_order_ops.while_loop(lambda i, v: i < {turns}, lambda i, v: (i + 1, {1}(v).clone()), "
        "(torch.tensor(0), {0}.detach().clone()))[1]"
    )
    expr = Expr(text, (start, step.name), {"turns": turns}, "while_loop")
    bound = bounded(spec)
    result = builder.emit(expr, spec.free(), Range(bound.low, bound.high))
    result.storage.grad = False
    return result


@structure("while", weight=0.5)
def python_while(builder: Builder, spec: Spec, depth: int) -> Value:
    """A Python loop with a counter."""
    value = carried(builder, spec, depth)
    counter = Value(Spec(None, "int64"), Range(0, 4, exact=True), Storage(), "steps", needs_variable=True)
    builder.add(Assign((counter,), Expr("0")))
    with builder.inside(isolated=True) as body:
        builder.block.values.append(value)
        assign_again(builder, value, computed_from(builder, spec, depth - 1, value))
        body.statements.append(Assign((counter,), Expr("{0} + 1", (counter,)), again=True))
    turns = builder.draw.integer(1, 3)
    builder.block.statements.append(Compound(Expr("while {0} < {turns}", (counter,), {"turns": turns}, "while"), body))
    return value


@structure("checkpoint", dtypes=WIDE, weight=0.6)
def checkpoint(builder: Builder, spec: Spec, depth: int) -> Value:
    """Activation checkpointing: a function that is computed again for the gradient."""
    argument = builder.produce(bounded(spec), depth - 1)
    parameter = parameter_like(spec, Range(-MODERATE, MODERATE), "value", grad=builder.may_train)
    function = pure_function(builder, spec, depth, parameter, "segment")
    expr = Expr(
        "torch.utils.checkpoint.checkpoint({1}, {0}, use_reentrant=False)",
        (argument, function.name),
        operator="checkpoint",
    )
    bound = bounded(spec)
    return builder.emit(expr, spec.free(), Range(bound.low, bound.high))


@structure("list of parts", rank=(1, 4))
def list_of_parts(builder: Builder, spec: Spec, depth: int) -> Value:
    """Tensors appended to a list, and joined at the end."""
    count = builder.draw.integer(2, 3)
    parts = Value(Spec(None, "int64"), Range(0, 0), Storage(), "parts", needs_variable=True)
    builder.block.statements.append(Assign((parts,), Expr("[]", operator="list of parts")))
    elements = builder.together([bounded(spec)] * count, depth - 1)
    for value in elements:
        builder.block.statements.append(Effect(Expr("{0}.append({1})", (parts, value)), parts))
    text, operator = builder.draw.choice(
        (
            ("torch.stack({0}).mean(0)", "torch.mean"),
            ("sum({0})", "torch.add"),
            ("torch.stack({0}, dim=-1).amax(-1)", "torch.amax"),
        )
    )
    if not spec.is_float:
        text, operator = "sum({0})", "torch.add"
    bound = bounded(spec)
    value = builder.emit(Expr(text, (parts,), operator=operator), spec.free(), Range(bound.low * 3, bound.high * 3))
    value.storage.grad = any(one.grad for one in elements)
    return value


@structure("function gradient", dtypes=WIDE, weight=0.8)
def function_gradient(builder: Builder, spec: Spec, depth: int) -> Value:
    """The gradient of a function inside the program."""
    argument = builder.produce(bounded(spec), depth - 1)
    parameter = parameter_like(spec, Range(-MODERATE, MODERATE), "value", grad=True)
    function = pure_function(builder, spec, depth, parameter, "energy")
    text = builder.draw.choice(
        (
            "torch.func.grad(lambda v: {1}(v).sum())({0})",
            "torch.func.vjp({1}, {0})[1](torch.ones_like({0}))[0]",
            "torch.func.jvp({1}, ({0},), (torch.ones_like({0}),))[1]",
        )
    )
    return builder.emit(
        Expr(text, (argument, function.name), operator="function gradient"), spec.free(), Range(-64, 64)
    )
