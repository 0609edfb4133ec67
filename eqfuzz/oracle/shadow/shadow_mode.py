"""Shadow mode: runs a program in its real dtypes, with clean and noisy float64 copies of its numbers."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import torch

from eqfuzz.oracle.reference.exact_arithmetic import gives_whole_here, is_exact_here
from eqfuzz.oracle.reference.noise import Noise
from eqfuzz.oracle.reference.rounding_model import (
    BETWEEN_0_AND_1,
    FRESH,
    HALVES,
    REMAINDERS,
    absolute_noise,
    adds_narrowly,
    base_name,
    component,
    is_exact,
    is_jump,
    is_whole,
    may_hide_noise,
    mixes_numbers,
    operand_noise,
    relative_noise,
    rounds_to_half,
    terms_added,
)
from eqfuzz.oracle.shadow import shadow_operation
from eqfuzz.oracle.shadow.exported_memory import ExportedMemory
from eqfuzz.oracle.shadow.extracted_scalars import ExtractedFloats
from eqfuzz.oracle.shadow.known_memory import KnownMemory
from eqfuzz.oracle.shadow.normalization_noise import has_sums, with_noise_in_sums
from eqfuzz.oracle.shadow.shadow_operation import OperatorCall, ShadowOperation
from eqfuzz.oracle.shadow.shadow_storage import Shadows, has_storage, is_inexact, shadow_dtype, storage_key
from eqfuzz.oracle.shadow.sparse import SparseRows, is_conversion, reads_structure, stored_elements
from eqfuzz.oracle.shadow.torch_escapes import TorchEscapes, plain_control_flow
from eqfuzz.torch_internals.modes import TorchDispatchMode
from eqfuzz.torch_internals.operators import OpOverload, schema_of
from eqfuzz.torch_internals.tensors import is_zero_tensor
from eqfuzz.torch_internals.trees import tensors_in, tree_map_only

_STORAGE_CHANGES = {"set", "resize", "resize_as"}
"""Operators that give a tensor another storage or size."""


class ShadowMode(TorchDispatchMode):
    """Shadows every operator that runs in ``inside()``: in its real dtype, and on float64 copies of its operands.

    Of these one is clean and ``samples`` are noisy; ``seed`` and ``stream`` decide the noise. The run is given up
    when they take more than ``most_bytes``. ``captures`` is for graphs that Dynamo captured.

    Attributes:
        data_dependent: The first reason why rounding could change control flow or a shape; empty if there is none.
        unknown: The first reason why rounded numbers could not be followed; empty if there is none.
        unshadowed_operators: How many operators had no float64 form.
        narrowest: The least precise float dtype computed in.
        exported: Numbers went to numpy.
        exported_integers: Whole numbers did: what numpy makes of them is exact unless it has fractions.
        paused: Operators are not shadowed.
        is_full: The copies would have taken more than ``most_bytes``. Nothing was shadowed since.
        peak_bytes: What the copies took at most, those of one operator's operands and results twice.
    """

    # Without this torch refuses higher-order operators under any mode.
    supports_higher_order_operators = True

    def __init__(
        self, seed: int, samples: int, *, stream: int = 0, most_bytes: float = math.inf, captures: bool = False
    ) -> None:
        super().__init__()
        self.shadows = Shadows(samples)
        self.sparse = SparseRows()
        self.noise = Noise(seed, stream)
        self.data_dependent = ""
        self.unknown = ""
        self.unshadowed_operators = 0
        self.narrowest: torch.dtype | None = None
        self.exported = False
        self.exported_integers = False
        self.captures = captures
        self.paused = False
        self.is_full = False
        self.peak_bytes = 0
        self._most_bytes = most_bytes
        self.memory = KnownMemory()
        self.exports = ExportedMemory()
        self.extracted = ExtractedFloats(self._depend_on_data)

    @contextlib.contextmanager
    def scope(self, inputs: Any) -> Iterator[None]:
        """The context in which the program's own code runs; the tensors in ``inputs`` are exact."""
        self.declare_exact(inputs)
        with self.inside():
            yield

    def declare_exact(self, values: Any) -> None:
        """Every tensor in ``values`` is exact."""
        for value in tensors_in(values):
            self.memory.remember(value)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """The context in which operators are shadowed."""
        with plain_control_flow(), TorchEscapes(self), self:
            yield

    @contextlib.contextmanager
    def captured(self, args: Any) -> Iterator[None]:
        """The context in which a captured graph runs on ``args``; numbers computed between graphs are unknown."""
        if not self.memory.knows_all(tensors_in(args)):
            self.lose_track("numbers are computed outside of the graphs that Dynamo captures")
        with self.inside():
            yield

    def tracked(self, number: Any) -> Any:
        """The result of ``item``, with its rows if it is a rounded float."""
        return self.extracted.tracked(number)

    def lose_track(self, reason: str) -> None:
        """Rounded numbers cannot be followed from here on."""
        self.unknown = self.unknown or reason

    def _depend_on_data(self, reason: str) -> None:
        self.data_dependent = self.data_dependent or reason

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self.paused or self.is_full:
            return func(*args, **kwargs)
        if not isinstance(func, OpOverload):
            return self._run_higher_order(func, args, kwargs)
        call = OperatorCall.of(base_name(func), func, args, kwargs)
        if not self.memory.knows_all(filter(self._may_be_of_numpy, call.operands)):
            self.lose_track(f"{call.name} reads numbers that went through numpy")
        if any(map(self.exports.is_overwritten, call.operands)):
            self.lose_track(f"{call.name} reads what numpy has written into a tensor")
        for value in call.operands:
            self._register(value)
        if any(value.layout is not torch.strided for value in call.operands) or "_to_sparse" in call.name:
            return self._run_sparse(call)
        if not call.written:
            return self._run_functional(call)
        real = self._run_in_place(call)
        self.exports.refresh(call.written)
        return real

    def _may_be_of_numpy(self, value: torch.Tensor) -> bool:
        return self.exported or (self.exported_integers and (value.is_floating_point() or value.is_complex()))

    def _run_functional(self, call: OperatorCall) -> Any:
        """Run an operator that writes to none of its operands."""
        real, has_drawn = call.run()
        outputs = tensors_in(real)
        fresh = self._fresh_outputs(call, outputs)
        noisy = any(self.noisy(value) for value in call.operands)
        if not outputs:
            if noisy:
                self._extract(call, real)
            return real
        error = self.extracted.relative_error_among((call.args, call.kwargs))
        if call.name == "lift_fresh" and self.extracted.relative_error:
            # torch.tensor(number), where the number was extracted from a rounded tensor
            self._store_perturbed(outputs[0], self.extracted.relative_error)
        elif call.name in FRESH:
            for value in fresh if error else ():
                self._store_perturbed(value, error)
        elif fresh and has_drawn:
            if noisy and any(value.is_floating_point() for value in fresh) and not call.name.startswith("bernoulli"):
                self.lose_track(f"{call.name} draws random numbers that depend on rounded ones")
        elif fresh and not self._becomes_full(outputs, call.operands):
            self._shadow_functional(call, outputs, fresh, error, noisy=noisy)
        return real

    def _becomes_full(self, results: list[torch.Tensor], operands: list[torch.Tensor]) -> bool:
        """Whether the operator needs more memory than there is; then the run is given up."""
        numbers = sum(value.numel() for value in (*results, *operands) if has_storage(value))
        needed = self.shadows.bytes + numbers * self.shadows.rows * torch.float64.itemsize
        self.peak_bytes = max(self.peak_bytes, needed)
        if needed > self._most_bytes:
            self.is_full = True
            self.shadows.clear()
        return self.is_full

    def _fresh_outputs(self, call: OperatorCall, outputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """The outputs that share no storage with an operand; their memory is known from now on."""
        operand_keys = {storage_key(value) for value in call.operands if has_storage(value)}
        fresh = [value for value in outputs if has_storage(value) and storage_key(value) not in operand_keys]
        for value in fresh:
            self.memory.remember(value)
        return fresh

    def _shadow_functional(
        self, call: OperatorCall, outputs: list[torch.Tensor], fresh: list[torch.Tensor], error: float, *, noisy: bool
    ) -> None:
        """Store the rows of ``fresh`` outputs, unless they are exact."""
        exact = is_exact(call.name, call.func, call.args, call.kwargs)
        exact = exact or gives_whole_here(call.name, call.kwargs, outputs)
        if not (exact or noisy or error):
            exact = is_exact_here(call.name, call.func, call.args, call.kwargs, outputs)
        rounds = not exact or rounds_to_half(call.operands, fresh)
        if not (noisy or error or (rounds and any(is_inexact(value) for value in fresh))):
            return
        operation = self._operation(call, outputs, error, exact=exact)
        results = self._shadow_results(operation, outputs)
        for value, rows in zip(outputs, results, strict=True):
            if any(value is other for other in fresh):
                self._store(value, rows, jumped=is_jump(call.name, call.kwargs))

    def _run_sparse(self, call: OperatorCall) -> Any:
        """Run an operator on sparse tensors: rows follow conversions, anything else loses track of them."""
        real = call.func(*call.args, **call.kwargs)
        outputs = tensors_in(real)
        for value in outputs:
            self.memory.remember(value)
        is_mask = call.name == "sparse_mask"
        noisy = next((value for value in call.operands[: 1 if is_mask else None] if self.noisy(value)), None)
        if not (call.written or is_conversion(call.name)) and any(is_inexact(value) for value in outputs):
            self.lose_track(f"{call.name} computes with sparse tensors")
        if noisy is None or reads_structure(call.name):
            return real
        sparse_rows = self.sparse.of(noisy)
        rows = sparse_rows if sparse_rows is not None else self.shadows.view(noisy)
        if rows is None or call.written or not is_conversion(call.name):
            self.lose_track(f"{call.name} computes with rounded numbers in a sparse tensor")
            return real
        if is_mask:
            rows = torch.where(stored_elements(call.operands[1]), rows, 0.0)
        for value in outputs:
            if value.layout is torch.strided:
                self._store(value, rows.clone(memory_format=torch.contiguous_format))
            else:
                self.sparse.keep(value, rows.detach().clone())
        return real

    def _run_in_place(self, call: OperatorCall) -> Any:
        """Run an operator that writes to operands."""
        if torch.Tag.inplace_view in call.func.tags or call.name in _STORAGE_CHANGES:
            real = call.func(*call.args, **call.kwargs)
            for value in tensors_in(real):
                self.memory.remember(value)
            return real
        # Before the operator runs for real, since it overwrites what the shadows are made from.
        is_shadowed = not call.is_random and not self._becomes_full(call.written, call.operands)
        operation = self._operation_in_place(call) if is_shadowed else None
        real, has_drawn = call.run()
        for value in call.written:
            self.memory.remember(value)
        if operation is None:
            if has_drawn or call.is_random:
                self._overwrite_randomly(call)
            return real
        keys = {storage_key(value) for value in call.written}
        # Written operands are also returned, beside new tensors (the statistics of a batch norm).
        outputs = [value for value in tensors_in(real) if storage_key(value) not in keys]
        results = self._shadow_results(operation, outputs)
        for value, rows in zip(outputs, results, strict=True):
            self.memory.remember(value)
            self._store(value, rows)
        for value in call.written:
            self._write_back(value, operation)
        return real

    def _operation_in_place(self, call: OperatorCall) -> ShadowOperation | None:
        """The operation on shadows of an operator that writes to operands; None where all its results are exact."""
        noisy = any(self.noisy(value) for value in call.operands)
        error = self.extracted.relative_error_among((call.args, call.kwargs))
        exact = self._is_exact_in_place(call, may_be_noisy=bool(noisy or error))
        has_fresh_results = len(schema_of(call.func).returns) > len(call.written) or call.is_batch_norm
        gives_floats = has_fresh_results or any(is_inexact(value) for value in call.written)
        if not (noisy or error or (not exact and gives_floats)):
            return None
        for value in call.written:
            self._ensure_shadow(value)
        return self._operation(call, call.written, error, exact=exact)

    def _is_exact_in_place(self, call: OperatorCall, *, may_be_noisy: bool) -> bool:
        exact = is_exact(call.name, call.func, call.args, call.kwargs)
        whole = is_whole(call.name, call.kwargs)
        if not whole and (exact or may_be_noisy or call.name == "div"):
            return exact
        args, kwargs = tree_map_only(torch.Tensor, torch.clone, (call.args, call.kwargs))
        if whole:
            return gives_whole_here(call.name, call.kwargs, tensors_in(call.func(*args, **kwargs)))
        return is_exact_here(call.name, call.func, args, kwargs, call.written)

    def _overwrite_randomly(self, call: OperatorCall) -> None:
        sources = [value for value in call.operands if not any(value is target for target in call.written)]
        if call.name != "bernoulli" and any(self.noisy(value) for value in sources):
            self.lose_track(f"{call.name} draws random numbers that depend on rounded ones")
        for value in call.written:
            self.shadows.refresh(value)

    def _operation(
        self, call: OperatorCall, outputs: list[torch.Tensor], error: float, *, exact: bool
    ) -> ShadowOperation:
        """The operation on shadows, with the rows of every operand."""
        terms = 1 if exact else terms_added(call.name, call.func, call.args, call.operands, outputs)
        operation = ShadowOperation(
            **vars(call), count=self.shadows.rows, exact=exact, terms=terms, relative_error=error
        )
        for value in call.operands:
            if id(value) not in operation.rows:
                self._add_operand(operation, value)
        return operation

    def _add_operand(self, operation: ShadowOperation, value: torch.Tensor) -> None:
        """Add the rows of one operand, with an inexact operator's noise on them."""
        if self.shadows.holds(value) and self.shadows.reinterprets(value):
            self.lose_track(f"{operation.name} reads rounded numbers as another dtype")
        shadow = self.shadows.view(value) if has_storage(value) else None
        rows = shadow.detach() if shadow is not None else self._real_rows(value)
        if has_sums(operation.name):
            operation.rows_before[id(value)] = rows
        if is_inexact(value) and not operation.exact and operation.name not in REMAINDERS:
            narrowly = adds_narrowly(operation.name, operation.args)
            relative = operand_noise(component(value.dtype), operation.terms, narrowly=narrowly)
            relative += operation.relative_error
            rows = self.noise.operand(rows, value.dtype, relative, keep_zeros=shadow is None)
            if mixes_numbers(operation.name):
                self.noise.matrices(rows, relative)
            if any(value is operation.args[position] for position in BETWEEN_0_AND_1.get(operation.name, ())):
                rows.clamp_(0.0, 1.0)
        elif operation.written:
            rows = rows.clone(memory_format=torch.contiguous_format)
        operation.rows[id(value)] = rows
        if shadow is not None or not operation.exact:
            operation.noisy.add(id(value))

    def _shadow_results(self, operation: ShadowOperation, outputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Rows for every output; its real numbers where the operator has no float64 form or gives another shape."""
        hides = bool(operation.noisy) and may_hide_noise(
            operation.name, operation.args, operation.kwargs, [*outputs, *operation.written]
        )
        before = operation.copy_rows() if hides and operation.written else None
        attempt = shadow_operation.attempt(operation, outputs)
        if attempt is None:
            self.unshadowed_operators += 1
            # Its real numbers in every row would look exact.
            self.lose_track(f"{operation.name} fails on all values that its operands may have under other rounding")
            attempt = [self._real_rows(value) for value in outputs]
            operation.failed = True
        results = [self._shaped_rows(operation, value, rows) for value, rows in zip(outputs, attempt, strict=True)]
        if not operation.failed:
            results = with_noise_in_sums(operation, results, self.noise)
            if hides:
                shadow_operation.push_to_edges(operation, before, results, outputs, self.noise)
        return [self._round_result(operation, value, rows) for value, rows in zip(outputs, results, strict=True)]

    def _shaped_rows(self, operation: ShadowOperation, value: torch.Tensor, rows: torch.Tensor | None) -> torch.Tensor:
        """``rows`` if they have the shape of ``value``, else its real numbers."""
        if rows is not None and tuple(rows.shape[1:]) == tuple(value.shape):
            return rows
        # A by-product of another kernel (the offsets of embedding_bag) has a shape that depends on no number.
        if rows is None or torch.Tag.dynamic_output_shape in operation.func.tags:
            self._depend_on_data(f"rounding could change the shape of a result of {operation.name}")
        return self._real_rows(value)

    def _round_result(self, operation: ShadowOperation, value: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """``rows`` with one rounding to the dtype of ``value``."""
        if not is_inexact(value):
            return rows.to(value.dtype)
        rows = rows.to(shadow_dtype(value.dtype))
        if operation.exact or not rows.is_contiguous():
            rows = rows.clone(memory_format=torch.contiguous_format)
        dtype = value.dtype
        if self.narrowest is None or torch.finfo(dtype).eps > torch.finfo(self.narrowest).eps:
            self.narrowest = component(dtype)
        if operation.failed or operation.exact:
            rows = self.noise.narrow(rows, dtype) if operation.narrows(value) or operation.failed else rows
            if operation.relative_error:
                rows = self._perturbed(rows, value, operation.relative_error)
        else:
            narrowly = adds_narrowly(operation.name, operation.args)
            relative = relative_noise(component(dtype), operation.terms, narrowly=narrowly) + operation.relative_error
            magnitude = absolute_noise(operation.name, operation.first_floats())
            if isinstance(magnitude, torch.Tensor):
                magnitude = _broadcast(magnitude, rows)
            rows = self.noise.result(rows, dtype, relative, magnitude)
            if mixes_numbers(operation.name):
                self.noise.matrices(rows, relative)
        return self.noise.overflow(rows, dtype, everywhere=component(dtype) not in HALVES)

    def _write_back(self, value: torch.Tensor, operation: ShadowOperation) -> None:
        """Copy the rows of an operand that an in-place operator wrote to into its shadow."""
        shadow = self.shadows.view_to_write(value)
        if shadow is None:
            return
        if operation.failed:
            shadow.copy_(value)
            return
        rows = operation.rows[id(value)]
        if tuple(rows.shape[1:]) != tuple(value.shape):
            rows = rows.reshape(shadow.shape) if rows.numel() == shadow.numel() else self._real_rows(value)
        shadow.copy_(self._round_result(operation, value, rows))

    def _extract(self, call: OperatorCall, real: Any) -> None:
        """A number of a rounded tensor becomes a Python value, on which control flow may depend."""
        values = shadow_operation.python_results(self._operation(call, [], 0.0, exact=True))
        if values is not None and isinstance(real, float):
            self.extracted.add(real, values)
        elif values is not None and (real is None or isinstance(real, (bool, int, str))):
            if any(value != real for value in values):
                self._depend_on_data(f"{call.name} gives {real} here and could give another value under other rounding")
        else:
            self.lose_track(f"{call.name} takes rounded numbers out of torch")

    def _perturbed(self, rows: torch.Tensor, value: torch.Tensor, error: float) -> torch.Tensor:
        return self.noise.operand(rows, value.dtype, error) if is_inexact(value) else rows

    def _store_perturbed(self, value: torch.Tensor, error: float) -> None:
        self._store(value, self._perturbed(self._real_rows(value), value, error))

    def _store(self, value: torch.Tensor, rows: torch.Tensor, *, jumped: bool = False) -> None:
        if not is_inexact(value) and bool((rows == value).all()):
            self.shadows.forget(value)
            return
        self.shadows.store(value, rows, jumped=jumped)

    def _ensure_shadow(self, value: torch.Tensor) -> None:
        """A shadow of ``value``'s storage in ``value``'s dtype, made from the real numbers if there is none."""
        if self.shadows.reinterprets(value):
            self.lose_track("rounded numbers are overwritten through another dtype")
            self.shadows.forget(value)
        if not self.shadows.holds(value):
            self.shadows.adopt(value)

    def _real_rows(self, value: torch.Tensor) -> torch.Tensor:
        """The real numbers in every row (expanded: copy before writing)."""
        with torch.no_grad():
            dense = torch.zeros(value.shape, dtype=value.dtype) if is_zero_tensor(value) else value.detach()
            dense = dense if dense.layout is torch.strided else dense.to_dense()
            return dense.to("cpu", shadow_dtype(value.dtype), copy=True).expand(self.shadows.rows, *dense.shape)

    def noisy(self, value: torch.Tensor) -> bool:
        """Whether ``value`` holds rounded numbers."""
        self._register(value)
        return self.sparse.of(value) is not None or (has_storage(value) and self.shadows.holds(value))

    def _register(self, value: torch.Tensor) -> None:
        """Remember the storage of ``value``; one made outside of torch's operators may be part of a known storage."""
        if self.memory.knows(value):
            return
        owner = self.memory.owner(value)
        if owner is not None:
            whole = torch.empty(0, dtype=value.dtype).set_(owner)
            if not self.shadows.holds(whole):
                self.shadows.adopt(whole)
            if not self.shadows.share(value, owner):
                self.lose_track("rounded numbers are read as another dtype")
        self.memory.remember(value)

    def _run_higher_order(self, func: Any, args: tuple, kwargs: dict) -> Any:
        reason = f"the higher-order operator {func} hides what it computes"
        if any(self.noisy(value) for value in tensors_in((args, kwargs))):
            self.lose_track(reason)
        real = func(*args, **kwargs)
        self.unshadowed_operators += 1
        for value in tensors_in(real):
            self.memory.remember(value)
            if has_storage(value) and is_inexact(value) and not self.noisy(value):
                self.lose_track(reason)
        return real


def _broadcast(magnitude: torch.Tensor, rows: torch.Tensor) -> torch.Tensor | None:
    """The rows of an operand in the shape of those of a result; None if it is no broadcast."""
    count, *shape = magnitude.shape
    lead = rows.dim() - magnitude.dim()
    wanted = rows.shape[1 + max(lead, 0) :]
    if lead < 0 or any(size not in (1, wide) for size, wide in zip(shape, wanted, strict=True)):
        return None
    return magnitude.reshape(count, *(1 for _ in range(lead)), *shape).expand_as(rows)
