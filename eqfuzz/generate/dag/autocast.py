"""Structures with autocast regions: products in half precision, what follows them, and regions that switch it off."""

from __future__ import annotations

from collections.abc import Sequence

from eqfuzz.generate.dag.build import Builder
from eqfuzz.generate.dag.graph.graph import Assign, Compound, Expr, Storage, Value
from eqfuzz.generate.dag.structure import structure
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Dim, Range, Spec, UnsatisfiableSpec, least

_LARGEST = 128.0
"""The magnitude from which values are bent back before the next product."""

_FEWEST_NORMALISED = 3
"""Of fewer elements, which may all be equal, normalising makes noise."""

_HEADERS = (
    'torch.autocast("cpu", dtype=torch.{low})',
    'torch.autocast(device_type="cpu", dtype=torch.{low})',
    'torch.amp.autocast("cpu", torch.{low})',
    'torch.autocast("cpu", dtype=torch.{low}, cache_enabled=False)',
)
_SWITCHED_OFF = ('torch.autocast("cpu", enabled=False)', 'torch.autocast("cpu", dtype=torch.{low}, enabled=False)')

_PRODUCTS = (
    "{0} @ {1}",
    "torch.matmul({0}, {1})",
    "F.linear({0}, {1}.t())",
    "F.linear({0}, {1}.t(), {2})",
    'torch.einsum("...k,kn->...n", {0}, {1})',
)
_MATRIX_PRODUCTS = (
    *_PRODUCTS,
    "torch.mm({0}, {1})",
    "torch.addmm({2}, {0}, {1})",
    "torch.bmm({0}[None], {1}[None])[0]",
)

_FOLLOWING = (
    ("torch.softmax({0}, -1)", Range(0, 1.01)),
    ("F.gelu({0})", None),
    ("torch.tanh({0})", Range(-1, 1)),
    ("F.relu({0})", None),
    ("{0} * 0.5", None),
    ("{0} - {0}.mean(-1, keepdim=True)", Range(-2 * _LARGEST, 2 * _LARGEST)),
    ("{0} / ({0}.abs().sum(-1, keepdim=True) + 1)", Range(-1, 1)),
    ("F.layer_norm({0}, {0}.shape[-1:])", Range(-5, 5)),
)
"""Functions of one tensor that keep its dtype, with the range of the result where that is not the one of the input."""


class _Region:
    """The statements of a region: a value of a size, and the dtype that it has by now."""

    def __init__(self, builder: Builder, spec: Spec, low: str, others: tuple[Value, Value]) -> None:
        self._builder = builder
        self._spec = spec
        self._low = low
        self._square, self._bias = others

    def product(self, value: Value, weight: Value, dtype: str) -> Value:
        """The product of ``value`` and a matrix, of ``dtype``."""
        forms: Sequence[str] = _MATRIX_PRODUCTS if self._spec.rank == 2 else _PRODUCTS
        inner = int(weight.spec.shape[0])
        if inner == 1:
            forms = [form for form in forms if "einsum" not in form]  # which multiplies in the dtype of the operands
        most = value.range.most * weight.range.most * max(inner, 17) + self._bias.range.most
        text = self._builder.draw.choice(forms)
        return self._emit(text, (value, weight, self._bias), dtype, Range(-most, most))

    def next(self, value: Value) -> Value:
        """A function of ``value``, another product, or one with autocast switched off."""
        draw, dtype = self._builder.draw, value.spec.dtype
        if value.range.most > _LARGEST:
            return self._emit("torch.tanh({0} * 0.1)", (value,), dtype, Range(-1, 1))
        kind = draw.choice(("function", "function", "product", "product", "mixed", "switched off"))
        if kind == "product":
            return self.product(value, self._square, self._low)
        if kind == "mixed":
            text = draw.choice(("{0} + {1}", "{0} * {1}", "torch.stack([{0}, {1}.expand_as({0})]).sum(0)"))
            range_ = (value.range + self._bias.range).over(value.range * self._bias.range).inexact()
            return self._emit(text, (value, self._bias), "float32", range_)
        if kind == "switched off":
            return self._without(value)
        text, range_ = draw.choice(_FOLLOWING)
        if "layer_norm" in text and least(self._spec.shape[-1]) < _FEWEST_NORMALISED:
            text, range_ = _FOLLOWING[0]
        return self._emit(text, (value,), dtype, range_ or value.range.over(Range(-0.2, 0)).inexact())

    def _without(self, value: Value) -> Value:
        builder = self._builder
        text = builder.draw.choice(_SWITCHED_OFF)
        result = Value(Spec(self._spec.size, "float32"), Range(0, 0), Storage(False, True), "full", needs_variable=True)
        with builder.inside(isolated=True) as body:
            value = self.product(self._emit("{0}.float()", (value,), "float32", value.range), self._square, "float32")
            body.statements.append(Assign((result,), Expr("{0}", (value,))))
        result.range, result.storage.grad = value.range, value.grad
        header = Expr(f"with {text}", params={"low": self._low}, operator="autocast")
        builder.block.statements.append(Compound(header, body))
        builder.block.values.append(result)
        return result

    def _emit(self, text: str, inputs: tuple[Value, ...], dtype: str, range_: Range) -> Value:
        return self._builder.emit(Expr(text, inputs, operator="autocast"), Spec(self._spec.size, dtype), range_)


@structure("autocast", dtypes=("float32", "bfloat16", "float16"), rank=(2, 3), family="autocast", weight=2.5)
def autocast(builder: Builder, spec: Spec, depth: int) -> Value:
    """A region under autocast: products in half precision, functions of them, and a region without it inside."""
    draw = builder.draw
    low = spec.dtype if spec.dtype != "float32" else draw.choice(("bfloat16", "bfloat16", "float16"))
    argument, weight, others = _operands(builder, spec, low, depth)
    result = Value(spec.free(), Range(0, 0), Storage(False, True), "mixed", needs_variable=True)
    with builder.inside(isolated=True) as body:
        region = _Region(builder, spec, low, others)
        value = region.product(argument, weight, low)
        for _ in range(draw.integer(0, 3)):
            value = region.next(value)
        if value.spec.dtype != spec.dtype:
            text = f"{{0}}.to(torch.{spec.dtype})"
            value = builder.emit(Expr(text, (value,), operator="autocast"), spec.free(), value.range)
        value = builder.fitted(value, Spec(spec.size, spec.dtype, -_LARGEST, _LARGEST, finite=True))
        body.statements.append(Assign((result,), Expr("{0}", (value,))))
    result.range, result.storage.grad = value.range, value.grad
    header = Expr(f"with {draw.choice(_HEADERS)}", params={"low": low}, operator="autocast")
    builder.block.statements.append(Compound(header, body))
    builder.block.values.append(result)
    return result


def _operands(builder: Builder, spec: Spec, low: str, depth: int) -> tuple[Value, Value, tuple[Value, Value]]:
    """The argument, the matrix it is multiplied by, and a square matrix and a bias for what follows."""
    draw = builder.draw
    if spec.numel == 0 or any(n > 32 for n in spec.shape[-1:] if not isinstance(n, Dim)):
        raise UnsatisfiableSpec("nothing, or too many products")
    inner, n = draw.choice((2, 3, 4, 8)), spec.shape[-1]
    argument = Spec((*spec.shape[:-1], inner), _dtype(draw, low)).within(-4, 4)
    weights = [Spec(size, "float32").within(-1, 1) for size in ((inner, n), (n, n), (n,))]
    first, weight, square, bias = builder.together([argument, *weights], depth - 1)
    return first, weight, (square, bias)


def _dtype(draw: Draw, low: str) -> str:
    return low if draw.chance(0.15) else "float32"
