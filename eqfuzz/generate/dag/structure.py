"""Declarations of structures, and what their bodies are built of: variables, parameters, functions without effects."""

from __future__ import annotations

from collections.abc import Callable

from eqfuzz.generate.dag.build import MODERATE, Builder
from eqfuzz.generate.dag.catalogue.catalogue import Structure
from eqfuzz.generate.dag.graph.graph import Assign, Block, Expr, Function, Leaf, Return, Storage, Value
from eqfuzz.generate.dag.values.spec import FLOATS, SIGNED, Range, Spec, UnsatisfiableSpec

STRUCTURES: dict[str, Structure] = {}
_BUILD: dict[str, Callable[[Builder, Spec, int], Value]] = {}


def structure(
    name: str, *, dtypes: tuple[str, ...] = FLOATS + SIGNED, rank: tuple[int, int] = (0, 4), weight: float = 1.0
) -> Callable[[Callable[[Builder, Spec, int], Value]], Callable[[Builder, Spec, int], Value]]:
    """Declare a structure; the function decorated builds it, or raises Unfit before it has built anything."""

    def declare(build: Callable[[Builder, Spec, int], Value]) -> Callable[[Builder, Spec, int], Value]:
        ranks = range(rank[0], rank[1] + 1)
        doc = (build.__doc__ or "").strip()
        STRUCTURES[name] = Structure(name, frozenset(dtypes), ranks, weight=weight, doc=doc)
        _BUILD[name] = build
        return build

    return declare


def build_structure(builder: Builder, name: str, spec: Spec, depth: int) -> Value:
    """What `Builder.flow` is. Raises Unfit."""
    if depth < 2 or builder.budget < 4 or builder.nested >= 2:
        raise UnsatisfiableSpec("no room for a block")
    builder.budget -= 1
    builder.nested += 1
    try:
        return _BUILD[name](builder, spec, depth)
    finally:
        builder.nested -= 1


def bounded(spec: Spec) -> Spec:
    """Values that stay moderate, so that the next turn may use them again."""
    return spec.within(0.0 if spec.dtype == "uint8" else -MODERATE, MODERATE)


def parameter_like(spec: Spec, range_: Range, noun: str, *, grad: bool = False) -> Value:
    return Value(spec.free(), range_, Storage(False, True, grad), noun, pinned=True)


def made_of(builder: Builder, spec: Spec, depth: int, *needed: Value) -> Value:
    """A bounded value, made in the present block, that depends on all of ``needed``, which are like it."""
    made = builder.produce(spec.free(), max(1, depth - 1))
    if made in needed:
        made = builder.emit(Expr("{0} + 1", (made,), operator="torch.add"), spec.free(), made.range + Range(1, 1, True))
    for value in needed:
        if value not in _ancestors(builder.block, made):
            symbol = builder.draw.choice(("+", "*", "-"))
            made = builder.fitted(made, bounded(spec))
            expr = Expr(f"{{0}} {symbol} {{1}}", (made, value), operator=f"torch.{_NAMES[symbol]}")
            made = builder.emit(
                expr, spec.free(), made.range * value.range if symbol == "*" else made.range + value.range
            )
    return builder.fitted(made, bounded(spec))


_NAMES = {"+": "add", "*": "mul", "-": "sub"}


def _ancestors(block: Block, value: Value) -> set[Value]:
    found, waiting = {value}, [value]
    made = {t: s.expr for s in block.statements if isinstance(s, Assign) for t in s.targets}
    while waiting:
        expr = made.get(waiting.pop())
        for one in expr.inputs if expr is not None else ():
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def carried(builder: Builder, spec: Spec, depth: int) -> Value:
    """A variable that later statements assign again."""
    start = builder.produce(bounded(spec), depth - 1)
    bound = bounded(spec)
    value = Value(
        spec.free(), Range(bound.low, bound.high), Storage(False, True, builder.may_train), "state", pinned=True
    )
    builder.add(Assign((value,), _same(start)))
    return value


def assign_again(builder: Builder, value: Value, made: Value) -> None:
    """``value = made`` once more, in the present block."""
    builder.block.statements.append(Assign((value,), _same(made), again=True))


def also_called(builder: Builder, value: Value, made: Value) -> None:
    """``value = made`` in the present block, where ``value`` is a variable of the block around it."""
    builder.block.statements.append(Assign((value,), _same(made)))


def _same(made: Value) -> Expr:
    """Another name for it: from now on nothing may be written there, since both would change."""
    made.storage.owned, made.storage.saved = False, True
    return Expr("{0}", (made,))


def returned(builder: Builder, made: Value) -> Return:
    """The end of a function; what it gives is its own, no argument and nothing from outside."""
    own = builder.block.values
    parent = builder.block.parent
    given = [value for value in own if value.storage is made.storage and value is not made]
    outside = parent.visible() if parent is not None else ()
    if made not in own or made.name or given or any(value.storage is made.storage for value in outside):
        made = builder.emit(Expr("{0}.clone()", (made,), operator="torch.clone"), made.spec.free(), made.range)
    return Return(Expr("{0}", (made,)))


def pure_function(builder: Builder, spec: Spec, depth: int, parameter: Value, noun: str) -> Function:
    """A function of its parameters alone, without leaves, writes or blocks."""
    name = Value(Spec(None, "int64"), Range(0, 0), Storage(), noun, pinned=True)
    outer, nested, inplace = builder.block, builder.nested, builder.template
    builder.template = inplace.model_copy(update={"inplace": 0.0, "out": 0.0})
    builder.nested, builder.leafless = 9, builder.leafless + 1
    try:
        with builder.inside(parameter, isolated=True, sees_self=False) as body:
            body.parent = None
            made = parameter
            for _ in range(builder.draw.integer(1, 3)):
                made = _step(builder, made, spec)
            made = builder.fitted(made, bounded(spec))
            body.statements.append(returned(builder, made))
    finally:
        builder.block, builder.nested, builder.template = outer, nested, inplace
        builder.leafless -= 1
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
    """An argument that is a Python number."""
    draw = builder.draw
    texts = {"bool": ("True", "False"), "int64": ("2", "3", "5"), "float64": ("0.5", "1.5", "2.0")}
    nouns = {"bool": "flag", "int64": "count", "float64": "scale"}
    value = Value(Spec(None, dtype), Range(0, 5, dtype != "float64"), Storage(), nouns[dtype])
    return builder.known(Leaf("input", value, draw.choice(texts[dtype])))


def some_tensor(builder: Builder, depth: int) -> Value:
    """A tensor that is there already, or a new one, with at least one dimension."""
    there = [v for v in builder.block.visible() if v.spec.size]
    if there and builder.draw.chance(0.7):
        return builder.draw.choice(there[:8])
    return builder.produce(Spec((builder.draw.size(9), builder.draw.size(9)), "float32"), 1)
