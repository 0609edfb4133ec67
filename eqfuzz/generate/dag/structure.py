"""Declarations of structures, and helpers to build their bodies: variables, parameters, pure functions."""

from __future__ import annotations

from collections.abc import Callable

from eqfuzz.generate.dag.build import MODERATE, Builder
from eqfuzz.generate.dag.catalogue.catalogue import Structure
from eqfuzz.generate.dag.graph.graph import Assign, Block, Expr, Function, Leaf, Return, Storage, Value
from eqfuzz.generate.dag.values.spec import FLOATS, SIGNED, Range, Spec, UnsatisfiableSpec

STRUCTURES: dict[str, Structure] = {}
_BUILD: dict[str, Callable[[Builder, Spec, int], Value]] = {}


def structure(
    name: str,
    *,
    dtypes: tuple[str, ...] = FLOATS + SIGNED,
    rank: tuple[int, int] = (0, 4),
    weight: float = 1.0,
    family: str = "control flow",
    exact: bool = False,
) -> Callable[[Callable[[Builder, Spec, int], Value]], Callable[[Builder, Spec, int], Value]]:
    """Declare a structure, see `Structure`.

    The decorated function builds it, or raises UnsatisfiableSpec before it builds anything.
    """

    def declare(build: Callable[[Builder, Spec, int], Value]) -> Callable[[Builder, Spec, int], Value]:
        ranks = range(rank[0], rank[1] + 1)
        doc = (build.__doc__ or "").strip()
        STRUCTURES[name] = Structure(name, frozenset(dtypes), ranks, family, weight, doc, exact)
        _BUILD[name] = build
        return build

    return declare


def build_structure(builder: Builder, name: str, spec: Spec, depth: int) -> Value:
    """Build structure ``name``, which gives a value that meets ``spec``. Raises UnsatisfiableSpec."""
    if depth < 2 or builder.budget < 4 or builder.nested >= 2:
        raise UnsatisfiableSpec("too little depth or budget for a block")
    builder.budget -= 1
    builder.nested += 1
    try:
        return _BUILD[name](builder, spec, depth)
    finally:
        builder.nested -= 1


def bounded(spec: Spec) -> Spec:
    """``spec`` with moderate values, so that the next iteration can use them."""
    return spec.within(0.0 if spec.dtype == "uint8" else -MODERATE, MODERATE)


def parameter_like(spec: Spec, range_: Range, name_hint: str, *, grad: bool = False) -> Value:
    """A parameter of a function, or a variable of a loop."""
    return Value(spec.free(), range_, Storage(False, True, grad), name_hint, needs_variable=True)


def computed_from(builder: Builder, spec: Spec, depth: int, *needed: Value) -> Value:
    """A bounded value, computed in the current block, that depends on all of ``needed``, of its size and dtype."""
    result = builder.produce(spec.free(), max(1, depth - 1))
    if result in needed:
        result = builder.emit(
            Expr("{0} + 1", (result,), operator="torch.add"), spec.free(), result.range + Range(1, 1, True)
        )
    for value in needed:
        if value not in _ancestors(builder.block, result):
            symbol = builder.draw.choice(("+", "*", "-"))
            result = builder.fitted(result, bounded(spec))
            expr = Expr(f"{{0}} {symbol} {{1}}", (result, value), operator=f"torch.{_NAMES[symbol]}")
            result = builder.emit(
                expr, spec.free(), result.range * value.range if symbol == "*" else result.range + value.range
            )
    return builder.fitted(result, bounded(spec))


_NAMES = {"+": "add", "*": "mul", "-": "sub"}


def _ancestors(block: Block, value: Value) -> set[Value]:
    ancestors, waiting = {value}, [value]
    expressions = {t: s.expr for s in block.statements if isinstance(s, Assign) for t in s.targets}
    while waiting:
        expr = expressions.get(waiting.pop())
        for one in expr.inputs if expr is not None else ():
            if one not in ancestors:
                ancestors.add(one)
                waiting.append(one)
    return ancestors


def carried(builder: Builder, spec: Spec, depth: int) -> Value:
    """A variable that later statements assign again."""
    start = builder.produce(bounded(spec), depth - 1)
    bound = bounded(spec)
    value = Value(
        spec.free(), Range(bound.low, bound.high), Storage(False, True, builder.may_train), "state", needs_variable=True
    )
    builder.add(Assign((value,), _alias(start)))
    return value


def assign_again(builder: Builder, value: Value, result: Value) -> None:
    """Assign ``result`` to the variable ``value`` again, in the current block."""
    builder.block.statements.append(Assign((value,), _alias(result), again=True))


def assign_outer(builder: Builder, value: Value, result: Value) -> None:
    """Assign ``result`` to ``value``, a variable of the enclosing block, in the current block."""
    builder.block.statements.append(Assign((value,), _alias(result)))


def _alias(value: Value) -> Expr:
    """Another name for ``value``, whose memory may no longer be written to: both names would change."""
    value.storage.owned, value.storage.saved_for_backward = False, True
    return Expr("{0}", (value,))


def returned(builder: Builder, value: Value) -> Return:
    """The return statement of a function; it copies ``value`` where that is an argument or from outside."""
    own = builder.block.values
    parent = builder.block.parent
    aliases = [other for other in own if other.storage is value.storage and other is not value]
    outside = parent.visible() if parent is not None else ()
    if value not in own or value.name or aliases or any(other.storage is value.storage for other in outside):
        value = builder.emit(Expr("{0}.clone()", (value,), operator="torch.clone"), value.spec.free(), value.range)
    return Return(Expr("{0}", (value,)))


def pure_function(builder: Builder, spec: Spec, depth: int, parameter: Value, name_hint: str) -> Function:
    """A function that depends on its parameters alone, without leaves, writes or blocks."""
    name = Value(Spec(None, "int64"), Range(0, 0), Storage(), name_hint, needs_variable=True)
    outer, nested, inplace = builder.block, builder.nested, builder.template
    builder.template = inplace.model_copy(update={"inplace": 0.0, "out": 0.0})
    builder.nested, builder.leaves_forbidden = 9, builder.leaves_forbidden + 1
    try:
        with builder.inside(parameter, isolated=True, sees_self=False) as body:
            body.parent = None
            value = parameter
            for _ in range(builder.draw.integer(1, 3)):
                value = _step(builder, value, spec)
            value = builder.fitted(value, bounded(spec))
            body.statements.append(returned(builder, value))
    finally:
        builder.block, builder.nested, builder.template = outer, nested, inplace
        builder.leaves_forbidden -= 1
    function = Function(name, (parameter,), body, True)
    builder.block.statements.append(function)
    return function


_STEPS = (
    ("torch.sin({0})", "torch.sin", Range(-1, 1)),
    ("{0} * 0.5 + 1", "torch.mul", Range(-5, 5)),
    ("torch.tanh({0})", "torch.tanh", Range(-1, 1)),
    ("{0}.cos() - {0}.clamp(-1, 1)", "torch.cos", Range(-2, 2)),
    ("torch.relu({0}) * 0.25", "torch.relu", Range(0, 4)),
    ("-{0}", "torch.neg", Range(-8, 8)),
    ("torch.sigmoid({0})", "torch.sigmoid", Range(0, 1)),
    ("torch.where({0} > 0, {0}, {0} * 0.1)", "torch.where", Range(-8, 8)),
)


def _step(builder: Builder, value: Value, spec: Spec) -> Value:
    text, operator, range_ = builder.draw.choice(_STEPS)
    return builder.emit(Expr(text, (value,), operator=operator), spec.free(), range_)


def python_input(builder: Builder, dtype: str) -> Value:
    """An input that is a Python number."""
    draw = builder.draw
    texts = {"bool": ("True", "False"), "int64": ("2", "3", "5"), "float64": ("0.5", "1.5", "2.0")}
    nouns = {"bool": "flag", "int64": "count", "float64": "scale"}
    value = Value(Spec(None, dtype), Range(0, 5, dtype != "float64"), Storage(), nouns[dtype])
    return builder.add_leaf(Leaf("input", value, draw.choice(texts[dtype])))


def some_tensor(builder: Builder, depth: int) -> Value:
    """An existing tensor or a new one, with at least one dimension."""
    existing = [v for v in builder.block.visible() if v.spec.size]
    if existing and builder.draw.chance(0.7):
        return builder.draw.choice(existing[:8])
    return builder.produce(Spec((builder.draw.size(9), builder.draw.size(9)), "float32"), 1)
