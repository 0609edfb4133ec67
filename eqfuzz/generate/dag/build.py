"""Building a program backwards: from what it is to return to the operators, and their inputs, that make it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from eqfuzz.generate.dag.catalogue.catalogue import Catalogue
from eqfuzz.generate.dag.catalogue.operator import InvalidOperators, Needs, Operator
from eqfuzz.generate.dag.graph.graph import Assign, Block, Effect, Expr, Leaf, Storage, Value
from eqfuzz.generate.dag.graph.naming import snake_case
from eqfuzz.generate.dag.leaves import new_leaf
from eqfuzz.generate.dag.template import ProgramTemplate
from eqfuzz.generate.dag.values.clamping import guard
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
"""Operators tried for a value before it becomes an input."""

DRAWING = "random numbers"
"""The family of operators that draw random numbers."""

MODERATE = 8.0
"""What values that grew too large are brought back to."""


class Builder:
    """Builds one program; `Builder.produce` is the recursion, everything else serves it.

    ``budget`` is how many more operators it may use.
    """

    def __init__(self, draw: Draw, catalogue: Catalogue, template: ProgramTemplate, budget: int) -> None:
        self.draw = draw
        self.template = template
        self.budget = budget
        self.block = Block()
        self.leaves: list[Leaf] = []
        self.layers: dict[str, str] = {}
        self.is_module = draw.chance(template.modules)
        self.trains = draw.chance(template.backward)
        self.nested = 0
        """Blocks around the present one."""
        self.leafless = 0
        """Whether what is built may take no new leaves."""
        self.flow: Callable[[Builder, str, Spec, int], Value] | None = None
        self.dims = changing_sizes(draw, template)
        self._catalogue = catalogue
        self._waiting: list[Storage] = []
        """Memory of inputs whose operator is not written yet."""
        self._sees_self = True
        self._has_drawn = False

    @property
    def may_train(self) -> bool:
        """Whether gradients flow through some of what is built: layers have parameters that take them."""
        return self.trains or self.is_module

    # The recursion

    def produce(self, spec: Spec, depth: int, *, first: str = "") -> Value:
        """A value as ``spec`` says, through at most ``depth`` operators one after the other.

        ``first`` names the operator to take, where it can make this; Unfit is raised where it cannot.
        """
        if first:
            return self.fitted(self._apply(first, spec, depth), spec)
        if spec.size is None:
            return self._scalar(spec, depth)
        found = self._reused(spec, self.template.reuse if depth > 0 else 0.75)
        if found is not None:
            return found
        if depth > 0 and self.budget > 0 and not spec.distinct and not self.draw.chance(self.template.leaf):
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
        """``value``, or an expression of it, as ``spec`` asks for. Raises Unfit where no expression makes it so."""
        if spec.size is None:
            return value
        below = spec.below is None or spec.below == value.spec.below or _is_below(value.range, spec.below)
        if not below or not spec.holds(value.range):
            made = guard(self.draw, value.range, value.spec.dtype, spec)
            kept = dataclasses.replace(value.spec, below=spec.below)
            value = self.emit(Expr(made.text, (value,), operator=made.operator), kept, made.range)
        if spec.contiguous and not value.contiguous:
            expr = Expr("{0}.contiguous()", (value,), operator="torch.Tensor.contiguous")
            same = Value(value.spec, value.range, value.storage, contiguous=True, fixed=value.fixed)
            self.add(Assign((same,), expr))  # what is contiguous already is returned as it is
            value = same
        return value

    def _apply(self, name: str, spec: Spec, depth: int) -> Value:
        """The operator's result for the spec, not yet in its bounds. Raises Unfit."""
        if name in self._catalogue.structures:
            if self.flow is None:
                raise UnsatisfiableSpec("no control flow here")
            return self.flow(self, name, spec.free(), depth)
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
            inputs = [self._made_small(value) for value in inputs]
            range_ = self._range(chosen, needs, inputs, out)
            if range_ is None:
                raise UnsatisfiableSpec("the values do not fit the dtype")
        value = self._emitted(chosen, needs, inputs, out, range_)
        if value.spec.is_float and not range_.wild and range_.most > largest(value.spec.dtype):
            value = self.fitted(value, Spec(value.spec.size, value.spec.dtype, -MODERATE, MODERATE, total=True))
        return value

    def _draw_once(self) -> None:
        """Compilers may change the order of draws, and leave out those that nothing needs: one is the same always."""
        if self._has_drawn or self.block.parent is not None:
            raise UnsatisfiableSpec("random numbers were drawn already, or would be drawn more than once")
        self._has_drawn = True

    def _needs(self, chosen: Operator, out: Spec) -> Needs:
        """What the operator asks for. Raises Unfit, and InvalidOperators for whatever else a declaration raises."""
        try:
            return chosen.needs(self.draw, out)
        except UnsatisfiableSpec:
            raise
        except Exception as error:
            raise InvalidOperators(f"operator {chosen.name}: {type(error).__name__}: {error}") from error

    def together(self, specs: Sequence[Spec], depth: int) -> list[Value]:
        """Values for an operator; what makes one leaves those before as they are."""
        made: list[Value] = []
        before = len(self._waiting)
        try:
            for spec in specs:
                made.append(self.produce(spec, depth))
                self._waiting.append(made[-1].storage)
        finally:
            del self._waiting[before:]
        return made

    def _range(self, chosen: Operator, needs: Needs, inputs: Sequence[Value], out: Spec) -> Range | None:
        """The result's range; None where it must not be let come about."""
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
                dataclasses.replace(range_, exact=True, wild=False)
                if fits and range_.high <= largest(out.dtype)
                else None
            )
        if out.exact and not range_.exact:
            return None
        if out.dtype in ("float16", "bfloat16", *COMPLEX) and range_.most > largest(out.dtype) and not range_.wild:
            return None
        return range_

    def _made_small(self, value: Value) -> Value:
        """The same with numbers so small that their products and sums fit."""
        if value.spec.size is None or value.spec.dtype == "bool" or value.spec.below is not None:
            return value
        low = 0.0 if value.spec.dtype == "uint8" else -2.0
        return self.fitted(value, Spec(value.spec.size, value.spec.dtype, low, 2.0, value.range.exact, total=True))

    # Statements

    def emit(
        self, expr: Expr, spec: Spec, range_: Range, *, noun: str = "", contiguous: bool = False, pinned: bool = False
    ) -> Value:
        """A new value of the block, made by ``expr`` in memory of its own."""
        grad = any(v.grad for v in expr.inputs) and (spec.dtype in FLOATS or spec.dtype in COMPLEX)
        for value in expr.inputs:
            value.storage.saved = True
        value = Value(spec, range_, Storage(True, True, grad), noun, contiguous=contiguous, pinned=pinned)
        self.add(Assign((value,), expr))
        return value

    def add(self, statement: Assign | Effect) -> None:
        """The next statement of the block; what it assigns can be used from now on."""
        self.block.statements.append(statement)
        if isinstance(statement, Assign) and not statement.again:
            self.block.values.extend(statement.targets)

    def _emitted(self, chosen: Operator, needs: Needs, inputs: list[Value], out: Spec, range_: Range) -> Value:
        differentiates = chosen.differentiates(out.dtype)
        if not differentiates and any(value.grad for value in inputs):
            inputs = [self._detached(value) if value.grad else value for value in inputs]
        params = {**needs.params, **{name: self._layer(code) for name, code in needs.layers.items()}}
        written = self._written(chosen, needs, inputs, out, range_, params)
        if written is not None:
            return written
        grad = (differentiates and any(value.grad for value in inputs)) or bool(needs.layers)
        if chosen.saves:
            for value in inputs:
                value.storage.saved = True
        specs = needs.outputs or (out,)
        several = len(specs) > 1
        text = self.draw.choice(needs.spellings or chosen.spellings)
        expr = Expr(text, tuple(inputs), params, chosen.name)
        made = []
        for number, spec in enumerate(specs):
            if chosen.view and inputs:
                storage = inputs[0].storage
                storage.saved = storage.saved or several or not chosen.written
            else:
                flows = grad and (spec.dtype in FLOATS or spec.dtype in COMPLEX)
                storage = Storage(True, chosen.saves, flows)
            dense = not chosen.view if chosen.dense is None else chosen.dense
            dense = dense and all(v.contiguous for v in inputs if v.spec.size is not None)
            spread = range_ if number == needs.picked else _usual(spec, inputs)
            noun = chosen.noun if number == needs.picked else ""
            value = Value(spec.free(), spread, storage, noun, contiguous=dense and not several, pinned=several)
            value.fixed = chosen.view and bool(inputs) and (inputs[0].fixed or not chosen.written)
            made.append(value)
        self.add(Assign(tuple(made), expr))
        return made[needs.picked]

    def _written(
        self, chosen: Operator, needs: Needs, inputs: list[Value], out: Spec, range_: Range, params: dict[str, object]
    ) -> Value | None:
        """The result in place of the first input, or in a tensor given as ``out``; None where it is not so written."""
        if needs.outputs or needs.spellings:
            return None
        target = inputs[0] if inputs else None
        if chosen.inplace and target is not None and self.draw.chance(self.template.inplace):
            if self._may_write(target, inputs[1:], out, chosen):
                text = self.draw.choice(chosen.inplace)
                self._mutate(target, Expr(text, tuple(inputs), params, chosen.name), range_)
                return target
            return None
        plain = all(not value.grad for value in inputs)
        if chosen.out and plain and not self.may_train and self.draw.chance(self.template.out):
            expr = Expr("torch.empty({size}, dtype=torch.{dtype})", (), {"size": out.shape, "dtype": out.dtype})
            buffer = Value(out.free(), range_, Storage(True, True), "out", contiguous=True, pinned=True)
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
        if not storage.owned or target.fixed or target.spec.size != out.size or target.spec.dtype != out.dtype:
            return False
        if any(
            other is storage for other in (*self._waiting, *(value.storage for value in others))
        ) or not self.block.may_write(target):
            return False
        given = any(other.grad for other in others)
        if given and any(leaf.kind == "buffer" and leaf.value.storage is storage for leaf in self.leaves):
            return False  # what a later call finds there would belong to the graph of this one
        return not self.may_train or not (storage.saved or ((storage.grad or given) and chosen.saves))

    def _mutate(self, target: Value, expr: Expr, range_: Range) -> None:
        for value in self.block.visible():
            if value.storage is target.storage:
                value.range = value.range.over(range_)
                value.spec = dataclasses.replace(value.spec, below=None)
                value.pinned = True
        target.range = range_
        target.spec = target.spec.free()
        target.storage.grad = target.storage.grad or any(value.grad for value in expr.inputs)
        self.add(Effect(expr, target))

    def _detached(self, value: Value) -> Value:
        value.storage.saved = True
        made = dataclasses.replace(value, name="", fixed=True, cut=True)
        self.add(Assign((made,), Expr("{0}.detach()", (value,), operator="torch.Tensor.detach")))
        return made

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
        """A value that no operator makes: an input, or a parameter or buffer of the module. Raises Unfit."""
        if self.leafless:
            raise UnsatisfiableSpec("no inputs here")
        holds = self.is_module and self._sees_self
        return self.known(new_leaf(self.draw, self.template, self.leaves, spec, holds=holds, trains=self.trains))

    def known(self, leaf: Leaf) -> Value:
        """The leaf's value, which can be used from now on, and before."""
        self.leaves.append(leaf)
        block = self.block
        while block.parent is not None:
            block = block.parent
        block.values.insert(0, leaf.value)
        return leaf.value

    def _reused(self, spec: Spec, probability: float) -> Value | None:
        """A value that is there already; None where there is none, or another is to be made."""
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
        found = self.draw.choice(fitting)
        return self.fitted(found, spec) if spec.contiguous else found

    def _scalar(self, spec: Spec, depth: int) -> Value:
        """A Python number: a literal, or what an operator reads off a tensor."""
        if depth > 0 and self.budget > 0 and self.draw.chance(0.5):
            name = self._catalogue.pick(self.draw, spec)
            if name is not None:
                try:
                    made = self._apply(name, spec, depth)
                except UnsatisfiableSpec:
                    made = None
                if made is not None and spec.low <= made.range.low and made.range.high <= spec.high:
                    return made
        number = self.draw.number(spec)
        text = str(bool(number)) if spec.dtype == "bool" else str(number)
        exact = spec.dtype != "float64"
        return Value(spec, Range(float(number), float(number), exact), Storage(), name=text)

    # Blocks

    @contextmanager
    def inside(self, *bound: Value, isolated: bool = False, sees_self: bool = True) -> Iterator[Block]:
        """Build a block below the present one; ``bound`` are there from its beginning."""
        outer, saw = self.block, self._sees_self
        self.block = Block(outer, isolated=isolated)
        self.block.values.extend(bound)
        self._sees_self = saw and sees_self
        try:
            yield self.block
        finally:
            self.block, self._sees_self = outer, saw

    def example(self, name: str) -> Spec:
        """A spec that the operator ``name`` can make. Raises Unfit where none was found."""
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
    """What is assumed of a result that was not asked for."""
    if spec.dtype == "bool":
        return BOOLEAN
    if spec.below is not None:
        return Range(0, most(spec.below) - 1, exact=True)
    if spec.dtype == "int64" and all(v.spec.dtype != "int64" for v in inputs):
        return Range(0, 1e6, exact=True)
    tensors = [v.range for v in inputs if v.spec.size is not None]
    bound = max((r.most for r in tensors), default=1.0) ** 2 + 1
    rounded = spec.dtype in FLOATS or spec.dtype in COMPLEX
    return Range(-bound, bound, exact=not rounded, wild=any(r.wild for r in tensors))
