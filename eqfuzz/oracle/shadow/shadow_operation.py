"""One operator on shadows: the rows of its operands, and running it on all rows at once or row by row."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from typing import Any

import torch

from eqfuzz.oracle.observe.exceptions import is_out_of_memory
from eqfuzz.oracle.reference.noise import Noise
from eqfuzz.oracle.reference.rounding_model import RANKING, is_jump, opmath
from eqfuzz.oracle.shadow.shadow_storage import shadow_dtype
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.torch_internals.operators import schema_of
from eqfuzz.torch_internals.trees import tensors_in

_ELEMENTWISE_MOVES = {"copy", "_to_copy", "clone", "zero", "fill"}
_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
_BATCH_NORMS = {"native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"}


@dataclasses.dataclass
class OperatorCall:
    """An operator as the program calls it.

    ``operands`` are the tensors among its arguments, in order, repeats included; ``written`` those that it writes to.
    """

    name: str
    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    operands: list[torch.Tensor]
    written: list[torch.Tensor]

    @classmethod
    def of(cls, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OperatorCall:
        return cls(name, func, args, kwargs, tensors_in((args, kwargs)), _written(name, func, args, kwargs))

    @property
    def is_batch_norm(self) -> bool:
        return self.name in _BATCH_NORMS

    @property
    def is_random(self) -> bool:
        return torch.Tag.nondeterministic_seeded in self.func.tags

    def run(self) -> tuple[Any, bool]:
        """The real result, and whether random numbers were drawn for it."""
        if not self.is_random:
            return self.func(*self.args, **self.kwargs), False
        before = torch.random.get_rng_state()
        real = self.func(*self.args, **self.kwargs)
        return real, not torch.equal(before, torch.random.get_rng_state())


@dataclasses.dataclass
class ShadowOperation(OperatorCall):
    """An operator about to run on shadows.

    Attributes:
        count: How many rows there are.
        exact: The operator does not round.
        terms: How many numbers one element of its result is accumulated from.
        relative_error: The relative error of extracted Python floats among its arguments.
        rows: The rows of each operand by ``id(operand)``, shape (count, *operand.shape): with the operator's own noise
            where it is inexact, and copies where the operator writes.
        rows_before: The same without the operator's own noise, of normalising operators.
        noisy: The ids of the operands that are not exact.
        failed: No float64 form of the operator ran.
    """

    count: int
    exact: bool
    terms: int
    relative_error: float
    rows: dict[int, torch.Tensor] = dataclasses.field(default_factory=dict)
    rows_before: dict[int, torch.Tensor] = dataclasses.field(default_factory=dict)
    noisy: set[int] = dataclasses.field(default_factory=set)
    failed: bool = False

    def copy_rows(self) -> dict[int, torch.Tensor]:
        return {key: rows.clone() for key, rows in self.rows.items()}

    def first_floats(self) -> torch.Tensor | None:
        """The rows of the first float operand."""
        first = next((value for value in self.operands if value.is_floating_point()), None)
        return None if first is None else self.rows[id(first)]

    def narrows(self, result: torch.Tensor) -> bool:
        """Whether the dtype of ``result`` cannot represent all numbers of an operand."""
        eps = torch.finfo(result.dtype).eps
        for value in self.operands:
            if value.is_floating_point() or value.is_complex():
                if torch.finfo(value.dtype).eps < eps:
                    return True
            elif value.dtype is not torch.bool:
                return True
        return False


def _written(name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors that the operator writes to."""
    if name in _BATCH_NORMS and args[5]:
        # The schema does not say so, but training mode writes the running statistics.
        return [value for value in args[3:5] if value is not None]
    if not schema_of(func).is_mutable:
        return []
    return [
        tensor
        for position, argument in enumerate(schema_of(func).arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
        for tensor in tensors_in(args[position] if position < len(args) else kwargs.get(argument.name))
    ]


def attempt(operation: ShadowOperation, outputs: list[torch.Tensor]) -> list[torch.Tensor | None] | None:
    """Run the operator on its rows. Returns the rows of each of ``outputs``, or None if no form of the operator runs.

    An output whose rows differ in shape is None. Tried in this order: all rows at once, row by row in float64, row by
    row rounded to the real dtype (custom and quantised operators). Written operands change in ``operation.rows``.
    Raises RuntimeError where an allocation fails.
    """
    saved = {id(value): operation.rows[id(value)].clone() for value in operation.written}
    ways = [_row_by_row, _row_by_row_rounded]
    if _can_batch(operation):
        ways.insert(0, _all_rows)
    for way in ways:
        try:
            results = way(operation)
        except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, AssertionError) as error:
            if is_out_of_memory(error):
                raise
            # Many kernels have no float64 form or refuse an extra dimension. Where all ways fail the caller counts it.
            operation.rows.update({key: rows.clone() for key, rows in saved.items()})
            continue
        return _aligned(results, outputs, operation)
    return None


def python_results(operation: ShadowOperation) -> list[Any] | None:
    """The Python value of an operator such as ``item`` for each row; None if it does not run on all of them."""
    try:
        return [_call(operation, row) for row in range(operation.count)]
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
        return None


def push_to_edges(
    operation: ShadowOperation,
    before: dict[int, torch.Tensor] | None,
    results: list[torch.Tensor],
    outputs: list[torch.Tensor],
    noise: Noise,
) -> None:
    """Bring out noise that a jump, a kink or a choice hides by chance.

    All 8 samples may lie on one side of a kink, and then look exact. So the operator runs twice more, with its operands
    moved both ways by a multiple of their largest deviation. Where that changes the result more than the samples do,
    samples 1 and 2 are replaced.
    """
    jumps = is_jump(operation.name, operation.kwargs)
    edges = _edge_rows(operation, before or operation.rows, noise, jumps=jumps)
    if edges is None:
        return
    moved = dataclasses.replace(operation, count=3, rows=edges)
    moved_results = attempt(moved, outputs)
    if moved_results is None:
        return
    tied = _always_equal(operation, before or operation.rows)
    for position, edge in enumerate(moved_results):
        if edge is not None and edge.shape[1:] == results[position].shape[1:]:
            if tied is not None:
                edge[1:] = torch.where(tied, results[position][1:3], edge[1:])
            results[position] = _with_edges(results[position], edge, 1.0 if jumps else THRESHOLDS.hidden_ratio)
    for value in operation.written:
        operation.rows[id(value)] = _with_edges(
            operation.rows[id(value)], moved.rows[id(value)], THRESHOLDS.hidden_ratio
        )


def _edge_rows(
    operation: ShadowOperation, operands: dict[int, torch.Tensor], noise: Noise, *, jumps: bool
) -> dict[int, torch.Tensor] | None:
    """Three rows of each operand: clean, moved up, moved down. None where no operand has noise."""
    reach = THRESHOLDS.jump_reach if jumps else THRESHOLDS.kink_reach
    edges: dict[int, torch.Tensor] = {}
    has_noise = False
    sign = 1.0
    for value in _distinct(operation.operands):
        rows = operands[id(value)]
        if not (rows.is_floating_point() or rows.is_complex()):
            edges[id(value)] = rows[:3].clone()
            continue
        deviation = (rows[1:] - rows[:1]).abs().amax(0).nan_to_num_(0.0, 0.0, 0.0) * reach
        has_noise = has_noise or bool((deviation > 0).any())
        is_ranking = operation.name in RANKING
        step = deviation * (noise.take(tuple(deviation.shape)).sign() if is_ranking else sign)
        edges[id(value)] = torch.stack([rows[0], rows[0] + step, rows[0] - step])
        sign = -sign
    return edges if has_noise and operation.count >= 3 else None


def _always_equal(operation: ShadowOperation, operands: dict[int, torch.Tensor]) -> torch.Tensor | None:
    """Where both operands of a comparison are equal in every row, as a maximum and the element that it is."""
    pair = operation.args[:2]
    if operation.name not in _COMPARISONS or not all(isinstance(value, torch.Tensor) for value in pair):
        return None
    depth = max(value.dim() for value in pair)
    first, second = (
        operands[id(value)].reshape(operation.count, *(1,) * (depth - value.dim()), *value.shape) for value in pair
    )
    return (first == second).all(0)


def _with_edges(rows: torch.Tensor, edge: torch.Tensor, ratio: float) -> torch.Tensor:
    """``rows`` with two taken from ``edge`` where that is more than ``ratio`` times as far from the clean one."""
    if rows.shape[1:] != edge.shape[1:]:
        return rows
    if rows.is_floating_point() or rows.is_complex():
        deviation = (rows[1:] - rows[:1]).abs().amax(0)
        chosen = (edge[1:] - rows[:1]).abs().amax(0) > ratio * deviation
    else:
        chosen = (rows[1:] == rows[:1]).all(0) & (edge[1:] != rows[:1]).any(0)
    if not bool(chosen.any()):
        return rows
    replaced = rows.clone()
    replaced[1:3] = torch.where(chosen, edge[1:].to(rows.dtype), rows[1:3])
    return replaced


def _aligned(results: list[Any], outputs: list[torch.Tensor], operation: ShadowOperation) -> list[torch.Tensor | None]:
    """The results that are new tensors: written operands are returned before them, as themselves."""
    skip = len(results) - len(outputs)
    return results[skip:] if skip > 0 else [*results, *([None] * -skip)]


def _can_batch(operation: ShadowOperation) -> bool:
    """Whether rows can be a leading dimension: pointwise, no lists, no type promotion that depends on dimensions."""
    if torch.Tag.pointwise not in operation.func.tags and operation.name not in _ELEMENTWISE_MOVES:
        return False
    if operation.kwargs.get("out") is not None or operation.name == "equal":
        return False
    direct = [value for value in (*operation.args, *operation.kwargs.values()) if isinstance(value, torch.Tensor)]
    if len(direct) != len(operation.operands):
        return False
    integers = [value for value in direct if not value.is_floating_point() and not value.is_complex()]
    return len({value.dtype for value in integers if value.dtype is not torch.bool}) <= 1


def _all_rows(operation: ShadowOperation) -> list[Any]:
    depth = max(value.dim() for value in operation.operands)
    replacements = {}
    for value in operation.operands:
        rows = operation.rows[id(value)]
        padding = depth - value.dim()
        replacements[id(value)] = rows.reshape(operation.count, *([1] * padding), *value.shape) if padding else rows
    args, kwargs = _substitute(operation, replacements, rounded=False)
    kwargs.pop("memory_format", None)
    return tensors_in(operation.func(*args, **kwargs))


def _row_by_row(operation: ShadowOperation) -> list[Any]:
    return _stacked(operation, rounded=False)


def _row_by_row_rounded(operation: ShadowOperation) -> list[Any]:
    return _stacked(operation, rounded=True)


def _stacked(operation: ShadowOperation, *, rounded: bool) -> list[Any]:
    fresh_outs, read = _out_arguments(operation), _operands_read(operation)
    stacks: list[torch.Tensor | None] = []
    outs: dict[int, list[torch.Tensor]] = {id(value): [] for value in fresh_outs}
    for row in range(operation.count):
        replaced = {key: rows[row] for key, rows in operation.rows.items()}
        for value in fresh_outs:
            if id(value) in read:
                replaced[id(value)] = replaced[id(value)].clone()
            else:
                replaced[id(value)] = torch.empty(0, dtype=value.dtype if rounded else shadow_dtype(value.dtype))
        results = tensors_in(_call_with(operation, replaced, rounded=rounded))
        stacks = stacks if row else [value.new_empty(operation.count, *value.shape) for value in map(_dense, results)]
        stacks = [_with_row(stack, row, value) for stack, value in zip(stacks, results, strict=True)]
        for value in fresh_outs:
            outs[id(value)].append(replaced[id(value)])
    for key, rows in outs.items():
        operation.rows[key] = torch.stack(rows)
    return stacks


def _with_row(stack: torch.Tensor | None, row: int, value: torch.Tensor) -> torch.Tensor | None:
    """``stack`` with one row set, in place; None where it has another shape."""
    if stack is None or stack.shape[1:] != value.shape:
        return None
    stack[row] = _dense(value)
    return stack


def _dense(value: torch.Tensor) -> torch.Tensor:
    return value if value.layout is torch.strided else value.to_dense()


def _call(operation: ShadowOperation, row: int) -> Any:
    return _call_with(operation, {key: rows[row] for key, rows in operation.rows.items()}, rounded=False)


def _call_with(operation: ShadowOperation, replaced: dict[int, torch.Tensor], *, rounded: bool) -> Any:
    """One row; with the real indices where its own are out of range (after a ``floor`` that differs)."""
    if rounded:
        originals = {id(value): value for value in operation.operands}
        copies = {key: value.to(originals[key].dtype) for key, value in replaced.items() if key in originals}
        args, kwargs = _substitute(operation, copies, rounded=True)
        result = operation.func(*args, **kwargs)
        for target in operation.written:
            replaced[id(target)].copy_(copies[id(target)])
        return result
    args, kwargs = _substitute(operation, replaced, rounded=False)
    try:
        return operation.func(*args, **kwargs)
    except (RuntimeError, IndexError):
        if operation.written:
            raise
        own = {key: value for key, value in replaced.items() if value.is_floating_point() or value.is_complex()}
        if len(own) == len(replaced):
            raise
        args, kwargs = _substitute(operation, own, rounded=False)
        return operation.func(*args, **kwargs)


def _operands_read(operation: ShadowOperation) -> set[int]:
    """The ids of operands that are no ``out=``, which may be the same tensor: ``torch.maximum(x, y, out=x)``."""
    return {
        id(tensor)
        for position, argument in enumerate(schema_of(operation.func).arguments)
        if not argument.is_out
        for tensor in tensors_in(
            operation.args[position] if position < len(operation.args) else operation.kwargs.get(argument.name)
        )
    }


def _out_arguments(operation: ShadowOperation) -> list[torch.Tensor]:
    args, kwargs = operation.args, operation.kwargs
    return [
        tensor
        for position, argument in enumerate(schema_of(operation.func).arguments)
        if argument.is_out
        for tensor in tensors_in(args[position] if position < len(args) else kwargs.get(argument.name))
    ]


def _substitute(
    operation: ShadowOperation, replacements: dict[int, torch.Tensor], *, rounded: bool
) -> tuple[tuple, dict[str, Any]]:
    if rounded:
        args = _replace(operation.args, replacements, None, False)
        kwargs = _replace(operation.kwargs, replacements, None, False)
        return args, kwargs
    scalar = _scalar_dtype(operation)
    args = _replace(operation.args, replacements, scalar, True)
    kwargs = _replace(operation.kwargs, replacements, scalar, True)
    if operation.name == "nan_to_num":
        _fill_range(operation, kwargs, len(args))
    return args, kwargs


def _replace(value: Any, replacements: dict[int, torch.Tensor], scalar: torch.dtype | None, widen: bool) -> Any:
    # By hand, since it runs once per row: tree_map rebuilds its description of the containers each time.
    if isinstance(value, torch.Tensor):
        return replacements.get(id(value), value)
    if isinstance(value, torch.dtype):
        return shadow_dtype(value) if widen else value
    if isinstance(value, float):
        return value if scalar is None else _rounded(value, scalar)
    if isinstance(value, (list, tuple)):
        return type(value)(_replace(item, replacements, scalar, widen) for item in value)
    if isinstance(value, dict):
        return {key: _replace(item, replacements, scalar, widen) for key, item in value.items()}
    return value


def _scalar_dtype(operation: ShadowOperation) -> torch.dtype | None:
    """The dtype to which every implementation rounds the operator's Python numbers; None where they keep float64."""
    if torch.Tag.pointwise not in operation.func.tags and not operation.exact:
        return None
    floats = [value.dtype for value in operation.operands if value.is_floating_point()]
    if torch.float64 in floats:
        return None
    if not floats:
        return torch.float32
    return functools.reduce(torch.promote_types, floats) if operation.exact else opmath(floats[0])


@functools.lru_cache(maxsize=1024)
def _rounded(value: float, dtype: torch.dtype) -> float:
    if dtype is torch.float32:
        return ctypes.c_float(value).value
    return float(torch.tensor(value, dtype=torch.float64).to(dtype).item())


def _fill_range(operation: ShadowOperation, kwargs: dict[str, Any], positional: int) -> None:
    """Set the defaults of ``nan_to_num`` to the range of the real dtype, not that of float64."""
    first = tensors_in(operation.args)[0]
    if not first.is_floating_point():
        return
    info = torch.finfo(first.dtype)
    for position, name, limit in ((2, "posinf", info.max), (3, "neginf", info.min)):
        if positional <= position and kwargs.get(name) is None:
            kwargs[name] = limit


def _distinct(values: list[torch.Tensor]) -> list[torch.Tensor]:
    return list({id(value): value for value in values}.values())
