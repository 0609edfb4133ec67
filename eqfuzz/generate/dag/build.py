"""The builder of programs, backwards: from a required result to operators, and from those to their inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from eqfuzz.errors import error_line
from eqfuzz.generate.dag.catalogue.catalogue import Catalogue
from eqfuzz.generate.dag.catalogue.operator import InvalidOperators, Needs, Operator
from eqfuzz.generate.dag.graph.graph import Assign, Block, Effect, Expr, Leaf, Storage, Value
from eqfuzz.generate.dag.graph.naming import snake_case
from eqfuzz.generate.dag.leaves import new_leaf
from eqfuzz.generate.dag.template import ProgramTemplate
from eqfuzz.generate.dag.values.clamping import clamp
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.random_spec import changing_sizes, random_spec
from eqfuzz.generate.dag.values.spec import (
    BOOLEAN,
    COMPLEX,
    FLOATS,
    Dim,
    Range,
    Spec,
    UnsatisfiableSpec,
    largest,
    most,
    stays_exact,
)

_ATTEMPTS = 12
"""Operators tried for a value before an input is taken."""

DRAWING = "random numbers"
"""The family of operators that draw random numbers."""

MODERATE = 8.0
"""The magnitude that values which grew too large are clamped to."""


class Builder:
    """Builds one program; `Builder.produce` is the recursion.

    ``budget`` is the number of operators that may still be used. ``build_structure`` builds the structure of a name.
    """

    def __init__(
        self,
        draw: Draw,
        catalogue: Catalogue,
        template: ProgramTemplate,
        budget: int,
        build_structure: Callable[[Builder, str, Spec, int], Value],
    ) -> None:
        self.draw = draw
        self.template = template
        self.budget = budget
        self.block = Block()
        self.leaves: list[Leaf] = []
        self.layers: dict[str, str] = {}
        self.is_module = draw.chance(template.modules)
        self.trains = draw.chance(template.backward)
        self.nested = 0
        """The nesting depth of the current block."""
        self.leaves_forbidden = 0
        """Above 0, no new leaves may be created."""
        self.dims = changing_sizes(draw, template)
        self.definitions: dict[str, tuple[str, ...]] = {}
        """Lines that define globals of the program, by a name that they define."""
        self._catalogue = catalogue
        self._build_structure = build_structure
        self._waiting: list[Storage] = []
        """Memory of inputs whose operator is not emitted yet."""
        self._sees_self = True
        self._has_drawn = False

    @property
    def may_train(self) -> bool:
        """Whether gradients may flow through the program; the parameters of layers require them."""
        return self.trains or self.is_module

    # The recursion

    def produce(self, spec: Spec, depth: int, *, first: str = "") -> Value:
        """A value that meets ``spec``, through at most ``depth`` operators in a row.

        ``first`` names the operator to use; raises UnsatisfiableSpec where it cannot make this.
        """
        if first:
            return self.fitted(self._apply(first, spec, depth), spec)
        if spec.size is None:
            return self._scalar(spec, depth)
        existing = self._reused(spec, self.template.reuse if depth > 0 else 0.75)
        if existing is not None:
            return existing
        from_inputs_alone = spec.distinct or bool(spec.among)
        if depth > 0 and self.budget > 0 and not from_inputs_alone and not self.draw.chance(self.template.leaf):
            for _ in range(_ATTEMPTS):
                name = self._catalogue.pick(self.draw, spec)
                if name is None or self.budget <= 0:
                    break
                try:
                    return self.fitted(self._apply(name, spec, depth), spec)
                except UnsatisfiableSpec:
                    continue
        return self.fitted(self.leaf(spec), spec)

    def fitted(self, value: Value, spec: Spec) -> Value:
        """``value``, or an expression of it, that meets ``spec``. Raises UnsatisfiableSpec where no expression does."""
        if spec.size is None:
            return value
        below = spec.below is None or spec.below == value.spec.below or _is_below(value.range, spec.below)
        if not below or not spec.holds(value.range):
            clamped = clamp(self.draw, value.range, value.spec.dtype, spec)
            described = dataclasses.replace(value.spec, below=spec.below)
            value = self.emit(Expr(clamped.text, (value,), operator=clamped.operator), described, clamped.range)
        if spec.contiguous and not value.contiguous:
            expr = Expr("{0}.contiguous()", (value,), operator="torch.Tensor.contiguous")
            same = Value(value.spec, value.range, value.storage, contiguous=True, read_only=value.read_only)
            self.add(Assign((same,), expr))  # contiguous() returns a contiguous tensor itself
            value = same
        return value

    def _apply(self, name: str, spec: Spec, depth: int) -> Value:
        """The result of operator ``name`` for ``spec``, not yet within its bounds. Raises UnsatisfiableSpec."""
        if name in self._catalogue.structures:
            return self._build_structure(self, name, spec.free(), depth)
        chosen = self._catalogue.operators[name]
        out = Spec(spec.size, spec.dtype, exact=spec.exact)
        needs = self._needs(chosen, out)
        if needs.layers and not (self.is_module and self._sees_self):
            raise UnsatisfiableSpec("layers need a module")
        if chosen.family == DRAWING:
            self._draw_once()
        self.budget -= 1
        inputs = self.together(needs.inputs, depth - 1)
        range_ = self._range(chosen, needs, inputs, out)
        if range_ is None:
            inputs = [self._reduced_in_magnitude(value) for value in inputs]
            range_ = self._range(chosen, needs, inputs, out)
            if range_ is None:
                raise UnsatisfiableSpec("the values do not fit the dtype")
        value = self._emitted(chosen, needs, inputs, out, range_)
        if value.spec.is_float and not range_.nonfinite and range_.most > largest(value.spec.dtype):
            value = self.fitted(value, Spec(value.spec.size, value.spec.dtype, -MODERATE, MODERATE, finite=True))
        return value

    def _draw_once(self) -> None:
        """Compilers may reorder draws and drop unused ones, so a program may draw only once, outside of blocks."""
        if self._has_drawn or self.block.parent is not None:
            raise UnsatisfiableSpec("random numbers were drawn already, or would be drawn more than once")
        self._has_drawn = True

    def _needs(self, chosen: Operator, out: Spec) -> Needs:
        """The needs of ``chosen`` for ``out``. Raises UnsatisfiableSpec, and InvalidOperators for any other error."""
        try:
            return chosen.needs(self.draw, out)
        except UnsatisfiableSpec:
            raise
        except Exception as error:
            raise InvalidOperators(f"operator {chosen.name}: {error_line(error)}") from error

    def together(self, specs: Sequence[Spec], depth: int) -> list[Value]:
        """Values for the inputs of one operator; producing one does not modify those before it."""
        values: list[Value] = []
        before = len(self._waiting)
        try:
            for spec in specs:
                values.append(self.produce(spec, depth))
                self._waiting.append(values[-1].storage)
        finally:
            del self._waiting[before:]
        return values

    def _range(self, chosen: Operator, needs: Needs, inputs: Sequence[Value], out: Spec) -> Range | None:
        """The range of the result; None where it does not fit the dtype or is not exact as required."""
        range_ = needs.range_of([value.range for value in inputs])
        if out.dtype == "bool":
            return dataclasses.replace(BOOLEAN, exact=chosen.exact and all(v.range.exact for v in inputs))
        bits = max([range_.bits, *(value.range.bits for value in inputs)])
        range_ = dataclasses.replace(range_, bits=bits)
        if not chosen.exact or not stays_exact(range_, out.dtype):
            range_ = range_.inexact()
        if out.dtype not in FLOATS and out.dtype not in COMPLEX:
            fits = range_.low >= (0 if out.dtype == "uint8" else -largest(out.dtype))
            return (
                dataclasses.replace(range_, exact=True, nonfinite=False)
                if fits and range_.high <= largest(out.dtype)
                else None
            )
        if out.exact and not range_.exact:
            return None
        if out.dtype in ("float16", "bfloat16", *COMPLEX) and range_.most > largest(out.dtype) and not range_.nonfinite:
            return None
        return range_

    def _reduced_in_magnitude(self, value: Value) -> Value:
        """``value`` with numbers so small that their products and sums fit the dtype."""
        if value.spec.size is None or value.spec.dtype == "bool" or value.spec.below is not None:
            return value
        low = 0.0 if value.spec.dtype == "uint8" else -2.0
        return self.fitted(value, Spec(value.spec.size, value.spec.dtype, low, 2.0, value.range.exact, finite=True))

    # Statements

    def define(self, name: str, lines: Sequence[str]) -> None:
        """Define a global ``name`` by ``lines``, which stand before the program where it names that."""
        self.definitions[name] = tuple(lines)

    def emit(
        self,
        expr: Expr,
        spec: Spec,
        range_: Range,
        *,
        name_hint: str = "",
        contiguous: bool = False,
        needs_variable: bool = False,
    ) -> Value:
        """A new value in the block, computed by ``expr`` into memory of its own."""
        grad = any(v.grad for v in expr.inputs) and (spec.dtype in FLOATS or spec.dtype in COMPLEX)
        for value in expr.inputs:
            value.storage.saved_for_backward = True
        value = Value(
            spec, range_, Storage(True, True, grad), name_hint, contiguous=contiguous, needs_variable=needs_variable
        )
        self.add(Assign((value,), expr))
        return value

    def add(self, statement: Assign | Effect) -> None:
        """Append a statement to the block; its targets can be used from now on."""
        self.block.statements.append(statement)
        if isinstance(statement, Assign) and not statement.again:
            self.block.values.extend(statement.targets)

    def _emitted(self, chosen: Operator, needs: Needs, inputs: list[Value], out: Spec, range_: Range) -> Value:
        differentiates = chosen.differentiates(out.dtype)
        if not differentiates and any(value.grad for value in inputs):
            inputs = [self.detached(value) if value.grad else value for value in inputs]
        params = {**needs.params, **{name: self._layer(code) for name, code in needs.layers.items()}}
        written = self._written(chosen, needs, inputs, out, range_, params)
        if written is not None:
            return written
        grad = (differentiates and any(value.grad for value in inputs)) or bool(needs.layers)
        if chosen.saves:
            for value in inputs:
                value.storage.saved_for_backward = True
        specs = needs.outputs or (out,)
        several = len(specs) > 1
        text = self.draw.choice(needs.forms or chosen.forms)
        expr = Expr(text, tuple(inputs), params, chosen.name)
        results = []
        for number, spec in enumerate(specs):
            if chosen.view and inputs:
                storage = inputs[0].storage
                storage.saved_for_backward = storage.saved_for_backward or several or not chosen.written
            else:
                flows = grad and (spec.dtype in FLOATS or spec.dtype in COMPLEX)
                storage = Storage(True, chosen.saves, flows)
            dense = not chosen.view if chosen.dense is None else chosen.dense
            dense = dense and all(v.contiguous for v in inputs if v.spec.size is not None)
            spread = range_ if number == needs.picked else _usual(spec, inputs)
            name_hint = chosen.name_hint if number == needs.picked else ""
            value = Value(
                spec.free(), spread, storage, name_hint, contiguous=dense and not several, needs_variable=several
            )
            value.read_only = chosen.view and bool(inputs) and (inputs[0].read_only or not chosen.written)
            results.append(value)
        self.add(Assign(tuple(results), expr))
        return results[needs.picked]

    def _written(
        self, chosen: Operator, needs: Needs, inputs: list[Value], out: Spec, range_: Range, params: dict[str, object]
    ) -> Value | None:
        """The result, written over the first input or to an ``out=`` tensor; None: by neither."""
        if needs.outputs or needs.forms:
            return None
        target = inputs[0] if inputs else None
        if chosen.inplace and target is not None and self.draw.chance(self.template.inplace):
            if self._may_write(target, inputs[1:], out, chosen):
                text = self.draw.choice(chosen.inplace)
                self.mutate(target, Expr(text, tuple(inputs), params, chosen.name), range_)
                return target
            return None
        plain = all(not value.grad for value in inputs)
        if chosen.out and plain and not self.may_train and self.draw.chance(self.template.out):
            expr = Expr("torch.empty({size}, dtype=torch.{dtype})", (), {"size": out.shape, "dtype": out.dtype})
            buffer = Value(out.free(), range_, Storage(True, True), "out", contiguous=True, needs_variable=True)
            self.add(Assign((buffer,), expr))
            text = self.draw.choice(chosen.out)
            self.add(
                Effect(
                    Expr(text.replace("{out}", f"{{{len(inputs)}}}"), (*inputs, buffer), params, chosen.name), buffer
                )
            )
            return buffer
        return None

    def _may_write(self, target: Value, others: Sequence[Value], out: Spec, chosen: Operator) -> bool:
        storage = target.storage
        if not storage.owned or target.read_only or target.spec.size != out.size or target.spec.dtype != out.dtype:
            return False
        if any(
            other is storage for other in (*self._waiting, *(value.storage for value in others))
        ) or not self.block.may_write(target):
            return False
        brings_grad = any(other.grad for other in others)
        if brings_grad and any(leaf.kind == "buffer" and leaf.value.storage is storage for leaf in self.leaves):
            return False  # a later call would read a value that belongs to the autograd graph of this one
        return not self.may_train or not (
            storage.saved_for_backward or ((storage.grad or brings_grad) and chosen.saves)
        )

    def mutate(self, target: Value, expr: Expr, range_: Range) -> None:
        """Append a statement that writes to ``target``, whose values are in ``range_`` after it."""
        for value in self.block.visible():
            if value.storage is target.storage:
                value.range = value.range.over(range_)
                value.spec = dataclasses.replace(value.spec, below=None)
                value.needs_variable = True
        target.range = range_
        target.spec = target.spec.free()
        target.storage.grad = target.storage.grad or any(value.grad for value in expr.inputs)
        self.add(Effect(expr, target))

    def detached(self, value: Value) -> Value:
        """``value`` without gradients, sharing memory."""
        value.storage.saved_for_backward = True
        detached = dataclasses.replace(value, name="", read_only=True, detached=True)
        self.add(Assign((detached,), Expr("{0}.detach()", (value,), operator="torch.Tensor.detach")))
        return detached

    def _layer(self, code: str) -> str:
        base = snake_case(code.split("(")[0].rsplit(".", 1)[-1])
        name, number = base, 1
        while name in self.layers:
            number += 1
            name = f"{base}{number}"
        self.layers[name] = code
        return f"self.{name}"

    # Leaves

    def leaf(self, spec: Spec) -> Value:
        """A new input, or a parameter or buffer of the module. Raises UnsatisfiableSpec."""
        if self.leaves_forbidden:
            raise UnsatisfiableSpec("no inputs here")
        holds = self.is_module and self._sees_self
        return self.add_leaf(new_leaf(self.draw, self.template, self.leaves, spec, holds=holds, trains=self.trains))

    def add_leaf(self, leaf: Leaf) -> Value:
        """Add a leaf to the program; returns its value, which is visible in all blocks."""
        self.leaves.append(leaf)
        block = self.block
        while block.parent is not None:
            block = block.parent
        block.values.insert(0, leaf.value)
        return leaf.value

    def _reused(self, spec: Spec, probability: float) -> Value | None:
        """An existing value that meets ``spec``, with this probability; otherwise, and without any, None."""
        if not self.draw.chance(probability):
            return None
        fitting = []
        for value in self.block.visible():
            if value.spec.dtype == spec.dtype and value.spec.size == spec.size and len(fitting) < 8:
                if spec.below is not None and value.spec.below != spec.below:
                    continue
                if spec.holds(value.range):
                    fitting.append(value)
        if not fitting:
            return None
        value = self.draw.choice(fitting)
        return self.fitted(value, spec) if spec.contiguous else value

    def _scalar(self, spec: Spec, depth: int) -> Value:
        """A Python number: a literal, or the result of an operator."""
        if depth > 0 and self.budget > 0 and self.draw.chance(0.5):
            name = self._catalogue.pick(self.draw, spec)
            if name is not None:
                try:
                    value = self._apply(name, spec, depth)
                except UnsatisfiableSpec:
                    value = None
                if value is not None and spec.low <= value.range.low and value.range.high <= spec.high:
                    return value
        number = self.draw.number(spec)
        text = str(bool(number)) if spec.dtype == "bool" else str(number)
        exact = spec.dtype != "float64"
        return Value(spec, Range(float(number), float(number), exact), Storage(), name=text)

    # Blocks

    @contextmanager
    def inside(self, *bound: Value, isolated: bool = False, sees_self: bool = True) -> Iterator[Block]:
        """Build a nested block in which the values ``bound`` are defined from the start."""
        outer, saw = self.block, self._sees_self
        self.block = Block(outer, isolated=isolated)
        self.block.values.extend(bound)
        self._sees_self = saw and sees_self
        try:
            yield self.block
        finally:
            self.block, self._sees_self = outer, saw

    def example(self, name: str) -> Spec:
        """A random spec that the operator ``name`` can make. Raises UnsatisfiableSpec where none is drawn."""
        member = self._catalogue.member(name)
        for attempt in range(80):
            dims, small = list(self.dims.values()), attempt >= 30
            spec = random_spec(self.draw, self.template, member.dtypes, member.ranks, dims, small=small)
            if name in self._catalogue.structures:
                return spec
            try:
                self._needs(self._catalogue.operators[name], spec)
            except UnsatisfiableSpec:
                continue
            return spec
        raise UnsatisfiableSpec(f"no spec that {name} can make")


def _is_below(range_: Range, below: int) -> bool:
    return not isinstance(below, Dim) and range_.exact and range_.low >= 0 and range_.high < below


def _usual(spec: Spec, inputs: Sequence[Value]) -> Range:
    """The assumed range of a further result of an operator."""
    if spec.dtype == "bool":
        return BOOLEAN
    if spec.below is not None:
        return Range(0, most(spec.below) - 1, exact=True)
    if spec.dtype == "int64" and all(v.spec.dtype != "int64" for v in inputs):
        return Range(0, 1e6, exact=True)
    tensors = [v.range for v in inputs if v.spec.size is not None]
    bound = max((r.most for r in tensors), default=1.0) ** 2 + 1
    rounded = spec.dtype in FLOATS or spec.dtype in COMPLEX
    return Range(-bound, bound, exact=not rounded, nonfinite=any(r.nonfinite for r in tensors))
