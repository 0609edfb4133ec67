"""Elementwise operators of one tensor from PyTorch's OpInfo table: see `eqfuzz.generate.dag.catalogue.infer`."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.operators.math.elementwise_descriptions import DESCRIPTIONS
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOLEAN, COMPLEX, FLOATS, Range, Spec

_EXACT = {
    "torch.abs",
    "torch.ceil",
    "torch.floor",
    "torch.frac",
    "torch.nan_to_num",
    "torch.neg",
    "torch.nn.functional.hardtanh",
    "torch.nn.functional.relu",
    "torch.nn.functional.relu6",
    "torch.round",
    "torch.sign",
    "torch.signbit",
    "torch.square",
    "torch.trunc",
    "torch.isfinite",
    "torch.isinf",
    "torch.isnan",
    "torch.isneginf",
    "torch.isposinf",
    "torch.logical_not",
}
"""Exact where what goes in is."""

_OF_COMPLEX = {"torch.cos", "torch.cosh", "torch.exp", "torch.neg", "torch.sin", "torch.sinh", "torch.square"}
"""Without branch cuts, and moderate near the origin."""

_ACTIVATION_KEYWORDS = {
    "torch.nn.functional.celu": ", alpha=0.7",
    "torch.nn.functional.elu": ", alpha=0.5",
    "torch.nn.functional.hardshrink": ", lambd=0.3",
    "torch.nn.functional.hardtanh": ", -1.0, 1.0",
    "torch.nn.functional.softplus": ", beta=2.0",
    "torch.nn.functional.softshrink": ", lambd=0.3",
}


def _needs(entry: dict[str, Any], name: str, draw: Draw, out: Spec) -> Needs:
    """Element by element, within its domain."""
    spans = entry["spans"]
    if entry["result"] == "bool":
        operand = Spec(out.size, draw.choice([d for d in entry["dtypes"] if d in FLOATS] * 2 + ["int64"]))
        return Needs(operand.exactly() if entry["discrete"] else operand, values=BOOLEAN)
    if out.dtype in COMPLEX:
        return Needs(out.within(-1.0, 1.0), values=Range(-4.0, 4.0))
    if out.dtype not in FLOATS:
        return Needs(out, values=partial(_integer, name))
    operand = out
    if entry["discrete"] and draw.chance(0.8):
        operand = out.exactly()
    low, high = spans[0][:2]
    if (low, high) != (-180.0, 180.0):
        low, high = draw.choice(spans)[:2]
        if out.dtype in ("float16", "bfloat16"):
            high = min(high, 4.0) if high > 4 else high
            low = max(low, -4.0)
        operand = operand.within(low, high)
    return Needs(operand, values=partial(_span, spans, name))


def _span(spans: list[list[float]], name: str, x: Range) -> Range:
    """The narrowest measured range of results over an interval that contains ``x``."""
    best = (-math.inf, math.inf)
    for low, high, least, most in spans:
        if low <= x.low and x.high <= high and most - least < best[1] - best[0]:
            best = (least, most)
    if math.isinf(best[0]):
        best = (
            -x.most - 1,
            x.most + 1,
        )  # outside of the measured intervals
    return Range(*best, exact=x.exact and name in _EXACT, nonfinite=x.nonfinite)


def _integer(name: str, x: Range) -> Range:
    if name == "torch.square":
        return Range(0, x.most**2, exact=True)
    if name in ("torch.neg", "torch.nan_to_num"):
        return -x if name == "torch.neg" else x
    return Range(min(0.0, x.low), max(x.most, 1), exact=True)


def _declare(name: str, entry: dict[str, Any]) -> None:
    keeps = [d for d in entry["keeps"] if d not in COMPLEX or name in _OF_COMPLEX]
    if name in ("torch.nn.functional.softsign", "torch.nn.functional.tanhshrink"):
        keeps = [d for d in keeps if d in FLOATS]
    dtypes = ["bool"] if entry["result"] == "bool" else [d for d in keeps if d != "bool"]
    short = name.rsplit(".", 1)[-1]
    called = name.replace("torch.nn.functional.", "F.")
    forms = [f"{called}({{0}})"]
    if entry["method"]:
        forms.append(f"{{0}}.{short}()")
    if name in _ACTIVATION_KEYWORDS:
        forms.append(f"{called}({{0}}{_ACTIVATION_KEYWORDS[name]})")
    if name == "torch.neg":
        forms.append("-{0}")
    if name == "torch.square":
        forms.append("{0} ** 2")
    activation = called.startswith("F.") or short in ("sigmoid", "tanh")
    operator(
        name,
        *forms,
        dtypes=dtypes,
        family="activations" if activation else "special functions" if ".special." in name else "elementwise",
        exact=name in _EXACT,
        grad=True if entry["result"] == "bool" else entry["grad"],
        saves=name != "torch.neg",
        inplace=[f"{{0}}.{short}_()"] if entry["inplace"] and entry["result"] != "bool" else [],
        out=[f"{called}({{0}}, out={{out}})"] if entry["out"] else [],
        name_hint="mask" if entry["result"] == "bool" else "active" if activation else "",
        doc=f"{DESCRIPTIONS[name]}{_domain(entry)}.",
    )(partial(_needs, entry, name))


def _domain(entry: dict[str, Any]) -> str:
    """The interval of the inputs in words; empty for any number."""
    low, high = entry["spans"][0][:2]
    if (low, high) == (-180.0, 180.0) or entry["result"] == "bool":
        return ", mostly of exact values" if entry["discrete"] else ""
    return f", for elements from {low:g} to {high:g}"


for _name, _entry in json.loads((Path(__file__).with_suffix(".json")).read_text(encoding="utf-8")).items():
    _declare(_name, _entry)
