"""Elementwise operators from PyTorch's OpInfo table: ``python -m eqfuzz.generate.dag.catalogue.infer``.

Writes ``operators/elementwise.json``: for each operator of one tensor its dtypes, its forms, for which dtypes it has a
gradient, and the range of its results over several intervals, measured on a dense grid. The file is part of the source,
so that a version of eqfuzz generates the same programs with every torch. Needs expecttest, as OpInfo does.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from eqfuzz.torch_internals.operators import unary_ufuncs

TABLE = Path(__file__).parents[1] / "operators" / "math" / "elementwise.json"

INTERVALS = ((-180.0, 180.0), (-8.0, 8.0), (-0.95, 0.95), (0.05, 64.0), (0.05, 0.95), (1.05, 64.0), (0.05, 2.0))
"""Intervals over which operators are measured, the widest first."""

GRID = 20001
_MOST = 1e4
_STEEPEST = 1e4

_LEFT_OUT = {
    "jiterator_unary",
    "fill",
    "real",
    "imag",
    "frexp",
    "nn.functional.prelu",
    "nn.functional.rrelu",
    "positive",
    "conj",
    "special.polygamma",
    "polygamma",
    "mvlgamma",
    "isreal",
    "angle",
    "sgn",
    "nn.functional.threshold",
    "bitwise_not",
    "conj_physical",
}
"""Operators that are declared by hand, are random, or have no compiled form."""

_DISCRETE = {"ceil", "floor", "trunc", "round", "frac", "sign", "signbit", "heaviside"}
"""Discontinuous operators, which need exact inputs."""


def main() -> int:
    warnings.simplefilter("ignore")
    table: dict[str, Any] = {}
    for info in unary_ufuncs():
        name = info.name
        if name.startswith("_refs") or name in _LEFT_OUT or info.variant_test_name or name in table:
            continue
        if isinstance(getattr(torch, name, None), torch.dtype) or name in _CONVERSIONS:
            continue
        entry = _entry(info)
        if entry is not None:
            table[_full(name)] = entry
    lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(table.items()))
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


_CONVERSIONS = {"bfloat16", "bool", "byte", "char", "double", "float", "half", "int", "long", "short", "cdouble"} | {
    "cfloat",
    "chalf",
}


def _full(name: str) -> str:
    return f"torch.{name}"


def _entry(info: Any) -> dict[str, Any] | None:
    dtypes = _names(info.dtypes)
    method = None if "." in info.name else info.method_variant
    spans = []
    for low, high in INTERVALS:
        span = _span(info.op, low, high)
        if span is not None:
            spans.append([low, high, *span])
    result = info.op(torch.tensor([0.5]))
    if not spans or not isinstance(result, torch.Tensor):
        return None
    return {
        "dtypes": dtypes,
        "method": method is not None,
        "inplace": "." not in info.name and info.inplace_variant is not None,
        "out": bool(info.supports_out) and "nn." not in info.name,
        "grad": _names(info.backward_dtypes) if info.supports_autograd else [],
        "result": str(result.dtype).removeprefix("torch."),
        "keeps": [d for d in dtypes if _result_dtype(info.op, d) == d],
        "discrete": info.name in _DISCRETE,
        "spans": spans,
    }


def _names(dtypes: Iterable[torch.dtype]) -> list[str]:
    return sorted(str(d).removeprefix("torch.") for d in dtypes)


def _result_dtype(op: Any, dtype: str) -> str:
    try:
        return str(op(torch.ones(2, dtype=getattr(torch, dtype))).dtype).removeprefix("torch.")
    except RuntimeError:
        return ""


def _span(op: Any, low: float, high: float) -> tuple[float, float] | None:
    """The range of results over the interval; None where one is not finite or huge, or a slope is."""
    x = torch.linspace(low, high, GRID, dtype=torch.float64, requires_grad=True)
    y = op(x)
    if y.dtype == torch.bool:
        return 0.0, 1.0
    if not bool(y.isfinite().all()) or y.abs().max() > _MOST:
        return None
    if y.requires_grad:
        (slope,) = torch.autograd.grad(y.sum(), x)
        if not bool(slope.isfinite().all()) or slope.abs().max() > _STEEPEST:
            return None
    least, most = y.min().item(), y.max().item()
    return round(least - 0.001 * abs(least), 5), round(most + 0.001 * abs(most), 5)


if __name__ == "__main__":
    sys.exit(main())
