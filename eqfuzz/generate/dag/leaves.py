"""Leaves of a program graph: inputs, and the parameters and buffers of a module."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from eqfuzz.generate.dag.graph.graph import Leaf, Storage, Value
from eqfuzz.generate.dag.template import ProgramTemplate
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.input_code import drawn_input, literal
from eqfuzz.generate.dag.values.spec import BOOLEAN, Range, Spec, UnsatisfiableSpec


def new_leaf(
    draw: Draw, template: ProgramTemplate, existing: Sequence[Leaf], spec: Spec, *, holds: bool, trains: bool
) -> Leaf:
    """A leaf for ``spec``: an input, or a parameter or buffer. Raises UnsatisfiableSpec.

    ``existing`` are the leaves so far. ``holds``: a module can hold it. ``trains``: gradients are required.
    """
    inputs = sum(leaf.kind == "input" for leaf in existing)
    kinds = {"input": 6.0 if inputs < template.inputs else 0.5}
    if holds and spec.is_static and spec.below is None and not spec.distinct and not spec.among:
        kinds |= {"parameter": 1.0} if spec.is_float and not spec.exact and trains else {}
        kinds |= {"buffer": 0.7}
    kind = draw.weighted(kinds)
    if kind != "input":
        return _module_leaf(kind, template, existing, spec)
    grad = trains and (spec.is_float or spec.is_complex) and draw.chance(0.7)
    required = dataclasses.replace(spec, finite=True) if grad else spec
    drawn = drawn_input(draw, required, template.profiles, template.layouts)
    product = " * " in drawn.text and not drawn.text.startswith("(")
    text = f"({drawn.text}).requires_grad_()" if product else f"{drawn.text}.requires_grad_()"
    text = text if grad else drawn.text
    if grad and re.fullmatch(r"rng\.(normal|uniform)\([^()]*\)", drawn.text):
        text = drawn.text[:-1] + (", " if drawn.text[-2] != "(" else "") + "requires_grad=True)"
    expanded = ".expand(" in drawn.text
    owned = template.mutates_inputs and not grad and not expanded
    storage = Storage(owned, False, grad)
    described = Spec(spec.size, spec.dtype, below=spec.below)
    value = Value(described, drawn.range, storage, _hint_for_input(spec), contiguous=drawn.contiguous)
    return Leaf("input", value, text)


def _module_leaf(kind: str, template: ProgramTemplate, existing: Sequence[Leaf], spec: Spec) -> Leaf:
    """A parameter or buffer. Its values are a fixed pattern, so that every instance of the module has the same."""
    low = spec.low if spec.low > -2 else -1.0
    high = spec.high if spec.high < 2 else max(1.0, low)
    if spec.is_float and not spec.exact and spec.numel and high > low:
        flat = f"torch.linspace({low}, {high}, {spec.numel}, dtype=torch.{spec.dtype})"
        flat = flat.replace(", dtype=torch.float32", "")
        text = flat if spec.rank == 1 else f"{flat}.reshape({literal(spec.shape) or '()'})"
        range_ = Range(low, high)
    elif spec.dtype == "bool":
        text, range_ = f"torch.ones({_tuple(spec.shape)}, dtype=torch.bool)", BOOLEAN
    else:
        fill = int(min(max(2, spec.low), spec.high)) if spec.high >= 0 else int(spec.high)
        if not spec.low <= fill <= spec.high:
            raise UnsatisfiableSpec("no integers in these bounds")
        text = f"torch.full({_tuple(spec.shape)}, {fill}, dtype=torch.{spec.dtype})"
        range_ = Range(min(fill, 0) if spec.is_complex else fill, fill, exact=True)
    base = "weight" if kind == "parameter" else "state"
    number = sum(leaf.kind == kind for leaf in existing) + 1
    name = f"self.{base}{number if number > 1 else ''}"
    storage = Storage(kind == "buffer" and template.mutates_inputs, False, kind == "parameter")
    value = Value(Spec(spec.size, spec.dtype), range_, storage, name=name, contiguous=True)
    return Leaf(kind, value, text)


def _tuple(size: tuple[int, ...]) -> str:
    return f"({literal(size)}{',' * (len(size) == 1)})"


def _hint_for_input(spec: Spec) -> str:
    if spec.dtype == "bool":
        return "mask"
    if spec.below is not None:
        return "index"
    if spec.is_complex:
        return "z"
    return "x" if spec.is_float else "count"
