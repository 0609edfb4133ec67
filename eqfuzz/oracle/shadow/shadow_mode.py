"""The dispatch mode under which a program runs once for real, with clean and noisy float64 shadows beside it."""

from __future__ import annotations

import contextlib
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
    base_name,
    component,
    is_exact,
    is_jump,
    is_whole,
    may_hide_noise,
    operand_noise,
    relative_noise,
    rounds_to_half,
    terms_added,
)
from eqfuzz.oracle.shadow import shadow_operation
from eqfuzz.oracle.shadow.extracted_scalars import ExtractedFloats
from eqfuzz.oracle.shadow.known_memory import KnownMemory
from eqfuzz.oracle.shadow.normalization_noise import with_own_statistics
from eqfuzz.oracle.shadow.shadow_operation import ShadowOperation
from eqfuzz.oracle.shadow.shadow_storage import Shadows, has_storage, is_inexact, shadow_dtype, storage_key
from eqfuzz.oracle.shadow.sparse import SparseRows, asks_for_structure, keeps_numbers
from eqfuzz.oracle.shadow.torch_escapes import TorchEscapes, plain_control_flow
from eqfuzz.torch_internals.modes import TorchDispatchMode
from eqfuzz.torch_internals.operators import OpOverload, schema_of
from eqfuzz.torch_internals.tensors import is_zero_tensor
from eqfuzz.torch_internals.trees import tree_map_only

_BATCH_NORMS = {"native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"}


class ShadowMode(TorchDispatchMode):
    """Shadows every operator that runs ``inside``: it runs in its real dtype, and on one clean and ``samples`` noisy
    float64 copies of its operands.

    What is not known is told: ``opaque`` why numbers were lost sight of, ``steered`` what rounding may turn,
    ``narrowest`` the coarsest dtype met. ``seed`` decides the noise; ``captures`` is for graphs that Dynamo captured.
    """

    # Without this torch refuses higher-order operators under any mode.
    supports_higher_order_operators = True

    def __init__(self, seed: int, samples: int, *, captures: bool = False) -> None:
        super().__init__()
        self.shadows = Shadows(samples)
        self.sparse = SparseRows()
        self.noise = Noise(seed)
        self.steered = ""
        self.opaque = ""
        self.opaque_ops = 0
        self.narrowest: torch.dtype | None = None
        self.exported = False
        self.captures = captures
        self.paused = False
        self.known = KnownMemory()
        self.taken = ExtractedFloats(self._steer)

    @contextlib.contextmanager
    def scope(self, given: Any) -> Iterator[None]:
        """Where the program's own code runs; the tensors ``given`` to it are known to be exact."""
        self.given(given)
        with self.inside():
            yield

    def given(self, values: Any) -> None:
        """Every tensor in ``values`` is known to be exact."""
        for value in shadow_operation.tensors(values):
            self.known.remember(value)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Where operators are shadowed."""
        with plain_control_flow(), TorchEscapes(self), self:
            yield

    @contextlib.contextmanager
    def captured(self, args: Any) -> Iterator[None]:
        """Where a graph that Dynamo captured runs on ``args``; numbers made between graphs come from nowhere known."""
        if not self.known.knows_all(shadow_operation.tensors(args)):
            self.opaque = self.opaque or "numbers are computed outside of what Dynamo captures"
        with self.inside():
            yield

    def measured(self, number: Any) -> Any:
        """What ``item`` gave, with its rows if it is a rounded float."""
        return self.taken.measured(number)

    def _steer(self, reason: str) -> None:
        self.steered = self.steered or reason

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self.paused:
            return func(*args, **kwargs)
        if not isinstance(func, OpOverload):
            return self._higher_order(func, args, kwargs)
        name = base_name(func)
        found = shadow_operation.tensors((args, kwargs))
        if self.exported and not self.known.knows_all(found):
            self.opaque = self.opaque or f"numbers that went through numpy come back into {name}"
        for value in found:
            self._meet(value)
        written = shadow_operation.written(func, args, kwargs)
        if name in _BATCH_NORMS and args[5]:
            # The schema does not admit it, but training mode writes the running statistics.
            written = [value for value in args[3:5] if value is not None]
        if any(value.layout is not torch.strided for value in found) or "_to_sparse" in name:
            return self._compute_sparse(name, func, args, kwargs, found, written)
        if written:
            return self._mutate(name, func, args, kwargs, found, written)
        return self._compute(name, func, args, kwargs, found)

    def _compute(self, name: str, func: Any, args: tuple, kwargs: dict, found: list[torch.Tensor]) -> Any:
        real, drew = shadow_operation.run_real(func, args, kwargs)
        outputs = shadow_operation.tensors(real)
        inside = {storage_key(value) for value in found if has_storage(value)}
        fresh = [value for value in outputs if has_storage(value) and storage_key(value) not in inside]
        for value in fresh:
            self.known.remember(value)
        noisy = any(self.noisy(value) for value in found)
        if not outputs:
            if noisy:
                self._leave_torch(name, func, args, kwargs, found, real)
            return real
        spread = self.taken.spread_among((args, kwargs))
        if name == "lift_fresh" and self.taken.spread:
            # torch.tensor(number), the number having come out of a rounded tensor
            self._store(outputs[0], self._spread(self._real_rows(outputs[0]), outputs[0], self.taken.spread))
            return real
        if not fresh or name in FRESH:
            if spread and name in FRESH:
                for value in fresh:
                    self._store(value, self._spread(self._real_rows(value), value, spread))
            return real
        if drew:
            if noisy and any(value.is_floating_point() for value in fresh) and not name.startswith("bernoulli"):
                self.opaque = self.opaque or f"{name} draws numbers that depend on rounded ones"
            return real
        exact = is_exact(name, func, args, kwargs) or gives_whole_here(name, kwargs, outputs)
        if not (exact or noisy or spread):
            exact = is_exact_here(name, func, args, kwargs, outputs)
        rounded = not exact or rounds_to_half(found, fresh)
        if not (noisy or spread or (rounded and any(is_inexact(value) for value in fresh))):
            return real
        operation = self._operation(name, func, args, kwargs, found, [], outputs, exact, spread)
        results = self._shadow_results(operation, outputs)
        for value, rows in zip(outputs, results, strict=True):
            if any(value is other for other in fresh):
                self._store(value, rows, jumped=is_jump(name, kwargs))
        return real

    def _compute_sparse(
        self, name: str, func: Any, args: tuple, kwargs: dict, found: list[torch.Tensor], written: list[torch.Tensor]
    ) -> Any:
        real = func(*args, **kwargs)
        outputs = shadow_operation.tensors(real)
        for value in outputs:
            self.known.remember(value)
        noisy = next((value for value in found if self.noisy(value)), None)
        if not (written or keeps_numbers(name)) and any(is_inexact(value) for value in outputs):
            self.opaque = self.opaque or f"{name} computes with sparse tensors"
        if noisy is None or asks_for_structure(name):
            return real
        source = self.sparse.of(noisy)
        rows = source if source is not None else self.shadows.view(noisy)
        if rows is None or written or not keeps_numbers(name):
            self.opaque = self.opaque or f"{name} computes with rounded numbers in a sparse tensor"
            return real
        for value in outputs:
            if value.layout is torch.strided:
                self._store(value, rows.clone(memory_format=torch.contiguous_format))
            else:
                self.sparse.keep(value, rows.detach().clone())
        return real

    def _mutate(
        self, name: str, func: Any, args: tuple, kwargs: dict, found: list[torch.Tensor], written: list[torch.Tensor]
    ) -> Any:
        if torch.Tag.inplace_view in func.tags or name in {"set", "resize", "resize_as"}:
            real = func(*args, **kwargs)
            for value in shadow_operation.tensors(real):
                self.known.remember(value)
            return real
        noisy = any(self.noisy(value) for value in found)
        exact = is_exact(name, func, args, kwargs)
        spread = self.taken.spread_among((args, kwargs))
        if is_whole(name, kwargs) or not (exact or noisy or spread or name == "div"):
            copies = tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
            if is_whole(name, kwargs):
                exact = gives_whole_here(name, kwargs, shadow_operation.tensors(func(*copies[0], **copies[1])))
            else:
                exact = is_exact_here(name, func, copies[0], copies[1], written)
        fresh_possible = len(schema_of(func).returns) > len(written) or name in _BATCH_NORMS
        reaches_floats = fresh_possible or any(is_inexact(value) for value in written)
        operation = None
        random = torch.Tag.nondeterministic_seeded in func.tags
        if not random and (noisy or spread or (not exact and reaches_floats)):
            for value in written:
                self._ensure(value)
            operation = self._operation(name, func, args, kwargs, found, written, written, exact, spread)
        real, drew = shadow_operation.run_real(func, args, kwargs)
        for value in written:
            self.known.remember(value)
        if operation is None:
            if drew or random:
                self._random_write(name, found, written)
            return real
        keys = {storage_key(value) for value in written}
        # Written operands are also returned; what is new beside them comes back too (batch norm's statistics).
        outputs = [value for value in shadow_operation.tensors(real) if storage_key(value) not in keys]
        results = self._shadow_results(operation, outputs)
        for value, rows in zip(outputs, results, strict=True):
            self.known.remember(value)
            self._store(value, rows)
        for value in written:
            self._write_back(value, operation)
        return real

    def _random_write(self, name: str, found: list[torch.Tensor], written: list[torch.Tensor]) -> None:
        sources = [value for value in found if not any(value is target for target in written)]
        if name != "bernoulli" and any(self.noisy(value) for value in sources):
            self.opaque = self.opaque or f"{name} draws numbers that depend on rounded ones"
        for value in written:
            self.shadows.refresh(value)

    def _operation(
        self,
        name: str,
        func: Any,
        args: tuple,
        kwargs: dict,
        found: list[torch.Tensor],
        written: list[torch.Tensor],
        outputs: list[torch.Tensor],
        exact: bool,
        spread: float,
    ) -> ShadowOperation:
        """Collect the rows of every operand, with an inexact operator's noise on them."""
        terms = 1 if exact else terms_added(name, func, args, found, outputs)
        operation = ShadowOperation(name, func, args, kwargs, self.shadows.rows, exact, terms, spread)
        for value in found:
            if id(value) in operation.rows:
                continue
            if self.shadows.holds(value) and self.shadows.reinterprets(value):
                self.opaque = self.opaque or f"{name} reads rounded numbers as another dtype"
            seen = self.shadows.view(value) if has_storage(value) else None
            rows = seen.detach() if seen is not None else self._real_rows(value)
            if is_inexact(value) and not exact and name not in REMAINDERS:
                relative = operand_noise(name, component(value.dtype), terms) + spread
                operation.plain[id(value)] = rows
                rows = self.noise.operand(rows, value.dtype, relative, given=seen is None)
                if name in BETWEEN_0_AND_1 and any(value is share for share in args[:2]):
                    rows.clamp_(0.0, 1.0)
            elif written:
                rows = rows.clone(memory_format=torch.contiguous_format)
            operation.rows[id(value)] = rows
            operation.noisy.update({id(value)} if seen is not None or not exact else ())
        operation.written = written
        return operation

    def _shadow_results(self, operation: ShadowOperation, outputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Rows for every output; the real numbers where the operator has no float64 form or another shape comes out."""
        before = None
        hides = may_hide_noise(operation.name, operation.args, operation.kwargs, [*outputs, *operation.written])
        if hides and operation.noisy and operation.written:
            before = operation.copy_rows()
        attempt = shadow_operation.attempt(operation, outputs)
        if attempt is None:
            self.opaque_ops += 1
            # Its real numbers in every row would look exact.
            self.opaque = self.opaque or f"{operation.name} runs on none of the numbers that rounding may give it"
            attempt = [self._real_rows(value) for value in outputs]
            operation.failed = True
        results = []
        for value, rows in zip(outputs, attempt, strict=True):
            if rows is None or tuple(rows.shape[1:]) != tuple(value.shape):
                if rows is not None and torch.Tag.dynamic_output_shape not in operation.func.tags:
                    # Another kernel's by-product (embedding_bag's offsets): its shape owes nothing to the numbers.
                    results.append(self._real_rows(value))
                    continue
                self.steered = self.steered or f"the shape of {operation.name}'s result may change with rounding"
                results.append(self._real_rows(value))
                continue
            results.append(rows)
        if not operation.failed:
            results = with_own_statistics(operation, results)
        if hides and operation.noisy and not operation.failed:
            shadow_operation.push_to_edges(operation, before, results, outputs, self.noise)
        return [self._finish(operation, value, rows) for value, rows in zip(outputs, results, strict=True)]

    def _finish(self, operation: ShadowOperation, value: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """One rounding of a result to its real dtype."""
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
            if operation.spread:
                rows = self._spread(rows, value, operation.spread)
        else:
            relative = relative_noise(operation.name, component(value.dtype), operation.terms) + operation.spread
            magnitude = absolute_noise(operation.name, operation.first_floats())
            if isinstance(magnitude, torch.Tensor) and magnitude.shape != rows.shape:
                magnitude = None
            rows = self.noise.result(rows, dtype, relative, magnitude)
        return self.noise.overflow(rows, dtype, everywhere=component(value.dtype) not in HALVES)

    def _write_back(self, value: torch.Tensor, operation: ShadowOperation) -> None:
        """Put what an in-place operator did to its copies into the shadow."""
        seen = self.shadows.written(value)
        if seen is None:
            return
        if operation.failed:
            seen.copy_(value)
            return
        rows = operation.rows[id(value)]
        if tuple(rows.shape[1:]) != tuple(value.shape):
            rows = rows.reshape(seen.shape) if rows.numel() == seen.numel() else self._real_rows(value)
        seen.copy_(self._finish(operation, value, rows))

    def _leave_torch(
        self, name: str, func: Any, args: tuple, kwargs: dict, found: list[torch.Tensor], real: Any
    ) -> None:
        """A tensor's value becomes a Python value: control flow may hang on it."""
        operation = self._operation(name, func, args, kwargs, found, [], [], True, 0.0)
        values = shadow_operation.python_results(operation)
        if values is None:
            self.opaque = self.opaque or f"{name} takes rounded numbers out of torch"
        elif isinstance(real, (bool, int, str)) or real is None:
            if any(value != real for value in values):
                self.steered = self.steered or f"{name} gives {real} here and another value under legal rounding"
        elif isinstance(real, float):
            self.taken.take(real, values)
        else:
            self.opaque = self.opaque or f"{name} takes rounded numbers out of torch"

    def _spread(self, rows: torch.Tensor, value: torch.Tensor, spread: float) -> torch.Tensor:
        return self.noise.operand(rows, value.dtype, spread) if is_inexact(value) else rows

    def _store(self, value: torch.Tensor, rows: torch.Tensor, *, jumped: bool = False) -> None:
        if not is_inexact(value) and bool((rows == value).all()):
            self.shadows.forget(value)
            return
        self.shadows.store(value, rows, jumped=jumped)

    def _ensure(self, value: torch.Tensor) -> None:
        """A shadow of ``value``'s storage in ``value``'s dtype, made from the real numbers if there is none."""
        if self.shadows.reinterprets(value):
            self.opaque = self.opaque or "rounded numbers are overwritten through another dtype"
            self.shadows.forget(value)
        if not self.shadows.holds(value):
            self.shadows.adopt(value)

    def _real_rows(self, value: torch.Tensor) -> torch.Tensor:
        """The real numbers in every row (expanded: copy before writing)."""
        with torch.no_grad():
            plain = torch.zeros(value.shape, dtype=value.dtype) if is_zero_tensor(value) else value.detach()
            plain = plain if plain.layout is torch.strided else plain.to_dense()
            return plain.to("cpu", shadow_dtype(value.dtype), copy=True).expand(self.shadows.rows, *plain.shape)

    def noisy(self, value: torch.Tensor) -> bool:
        self._meet(value)
        return self.sparse.of(value) is not None or (has_storage(value) and self.shadows.holds(value))

    def _meet(self, value: torch.Tensor) -> None:
        """Remember ``value``; one that was made outside of torch's operators may look into memory that is known."""
        if self.known.knows(value):
            return
        owner = self.known.owner(value)
        if owner is not None:
            whole = torch.empty(0, dtype=value.dtype).set_(owner)
            if not self.shadows.holds(whole):
                self.shadows.adopt(whole)
            if not self.shadows.share(value, owner):
                self.opaque = self.opaque or "rounded numbers are read as another dtype"
        self.known.remember(value)

    def _higher_order(self, func: Any, args: tuple, kwargs: dict) -> Any:
        if any(self.noisy(value) for value in shadow_operation.tensors((args, kwargs))):
            self.opaque = self.opaque or f"the higher-order operator {func} hides what it computes"
        real = func(*args, **kwargs)
        self.opaque_ops += 1
        for value in shadow_operation.tensors(real):
            self.known.remember(value)
            if has_storage(value) and is_inexact(value) and not self.noisy(value):
                self.opaque = self.opaque or f"the higher-order operator {func} hides what it computes"
        return real
