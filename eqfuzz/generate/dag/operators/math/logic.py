"""Operators on bits and truth values, and the comparisons that give truth values."""

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
        """Of whole numbers or truth values."""
        if out.dtype == "bool":
            return Needs(out, draw.broadcast(out).free())
        return Needs(out.within(0, 31), draw.broadcast(out).within(0, 31), values=Range(0, 31, exact=True))

    @_binary(
        f"torch.logical_{_name}",
        f"torch.logical_{_name}({{0}}, {{1}})",
        f"{{0}}.logical_{_name}({{1}})",
        dtypes=BOOL,
        exact=True,
        noun="mask",
    )
    def logical(draw: Draw, out: Spec) -> Needs:
        """Of truth values, or numbers that are zero or not."""
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
    """Of whole numbers or truth values."""
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
        noun="mask",
    )
    def compare(draw: Draw, out: Spec, _symbol: str = _symbol) -> Needs:
        """Of exact numbers; of rounded ones with a number only, where a tie is next to impossible."""
        given = Spec(out.size, draw.choice(("float32", "float32", "int64", "float64", "int32")))
        if draw.chance(0.4) and _symbol not in ("==", "!="):
            number = draw.number(given, -1, 1)
            return Needs(given, values=BOOLEAN, spellings=(f"{{0}} {_symbol} {{value}}",), value=number)
        return Needs(given.exactly(), draw.broadcast(given).exactly(), values=BOOLEAN)


@_binary("torch.isclose", "torch.isclose({0}, {1})", dtypes=BOOL, family="comparisons", noun="mask")
def isclose(draw: Draw, out: Spec) -> Needs:
    """Of exact numbers."""
    given = out.as_(draw.choice(("float32", "float64", "int64"))).exactly()
    return Needs(given, draw.broadcast(given).exactly(), values=BOOLEAN)
