"""Bitwise and logical operators, and comparisons."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOL, BOOLEAN, INTEGERS, SIGNED, Range, Spec

_binary = partial(operator, family="binary")


for _name, _symbol in (("and", "&"), ("or", "|"), ("xor", "^")):

    @_binary(
        f"torch.bitwise_{_name}",
        f"{{0}} {_symbol} {{1}}",
        f"torch.bitwise_{_name}({{0}}, {{1}})",
        dtypes=BOOL + INTEGERS,
        exact=True,
        inplace=[f"{{0}}.bitwise_{_name}_({{1}})", f"{{0}} {_symbol}= {{1}}"],
        out=[f"torch.bitwise_{_name}({{0}}, {{1}}, out={{out}})"],
    )
    def bitwise(draw: Draw, out: Spec) -> Needs:
        """Of integers or booleans."""
        if out.dtype == "bool":
            return Needs(out, draw.broadcast(out).free())
        return Needs(out.within(0, 31), draw.broadcast(out).within(0, 31), values=Range(0, 31, exact=True))

    @_binary(
        f"torch.logical_{_name}",
        f"torch.logical_{_name}({{0}}, {{1}})",
        f"{{0}}.logical_{_name}({{1}})",
        dtypes=BOOL,
        exact=True,
        name_hint="mask",
    )
    def logical(draw: Draw, out: Spec) -> Needs:
        """Of booleans, or of exact numbers."""
        dtype = draw.choice(("bool", "bool", "int64", "float32"))
        return Needs(out.as_(dtype).exactly(), draw.broadcast(out).free().as_(dtype).exactly(), values=BOOLEAN)


@_binary(
    "torch.bitwise_not",
    "~{0}",
    "torch.bitwise_not({0})",
    dtypes=BOOL + SIGNED,
    exact=True,
    inplace=["{0}.bitwise_not_()"],
)
def bitwise_not(draw: Draw, out: Spec) -> Needs:
    """Of integers or booleans."""
    return Needs(out, values=lambda x: Range(-x.high - 1, -x.low - 1, exact=True))


for _name, _symbol in (("left", "<<"), ("right", ">>")):

    @_binary(
        f"torch.bitwise_{_name}_shift",
        f"{{0}} {_symbol} {{1}}",
        f"torch.bitwise_{_name}_shift({{0}}, {{1}})",
        dtypes=("int64", "int32", "int16"),
        exact=True,
    )
    def shift(draw: Draw, out: Spec) -> Needs:
        """By a few bits."""
        return Needs(out.within(0, 31), draw.broadcast(out).within(0, 4), values=Range(0, 31 * 16, exact=True))


for _name, _symbol in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):

    @_binary(
        f"torch.{_name}",
        f"{{0}} {_symbol} {{1}}",
        f"torch.{_name}({{0}}, {{1}})",
        f"{{0}}.{_name}({{1}})",
        dtypes=BOOL,
        family="comparisons",
        exact=True,
        out=[f"torch.{_name}({{0}}, {{1}}, out={{out}})"],
        name_hint="mask",
    )
    def compare(draw: Draw, out: Spec, _symbol: str = _symbol) -> Needs:
        """Of exact numbers; of others only with a literal, where ties are practically impossible."""
        operand = Spec(out.size, draw.choice(("float32", "float32", "int64", "float64", "int32")))
        if draw.chance(0.4) and _symbol not in ("==", "!="):
            number = draw.number(operand, -1, 1)
            return Needs(operand, values=BOOLEAN, forms=(f"{{0}} {_symbol} {{value}}",), value=number)
        return Needs(operand.exactly(), draw.broadcast(operand).exactly(), values=BOOLEAN)


@_binary("torch.isclose", "torch.isclose({0}, {1})", dtypes=BOOL, family="comparisons", name_hint="mask")
def isclose(draw: Draw, out: Spec) -> Needs:
    """Of exact numbers."""
    operand = out.as_(draw.choice(("float32", "float64", "int64"))).exactly()
    return Needs(operand, draw.broadcast(operand).exactly(), values=BOOLEAN)
