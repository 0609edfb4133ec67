"""One operator on shadows: its operands' rows, running it once per row or for all rows at once."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from collections.abc import Iterable
from typing import Any

import torch

from eqfuzz.oracle.reference.noise import Noise
from eqfuzz.oracle.reference.rounding_model import RANKING, is_jump, opmath
from eqfuzz.oracle.shadow.shadow_storage import shadow_dtype
from eqfuzz.torch_internals.operators import schema_of

_ELEMENTWISE_MOVES = {"copy", "_to_copy", "clone", "zero", "fill"}
_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
_EDGE = 2.0
_HIDDEN = 4.0
_EDGE_OF_JUMPS = 4.0
"""For results that may lie between what the rows give and nowhere else: as many bounds as a smooth result gets."""


@dataclasses.dataclass
class ShadowOperation:
    """An operator about to run on shadows.

    ``rows`` maps ``id(operand)`` to its rows, shape (count, *operand.shape): with the operator's own noise where it is
    inexact, and copies where the operator writes. ``noisy`` names the operands that are not exact; ``failed`` is set
    when no float64 form ran. ``spread`` is the relative noise of Python numbers that came out of rounded tensors.
    """

    name: str
    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    count: int
    exact: bool
    terms: int
    spread: float
    rows: dict[int, torch.Tensor] = dataclasses.field(default_factory=dict)
    plain: dict[int, torch.Tensor] = dataclasses.field(default_factory=dict)
    noisy: set[int] = dataclasses.field(default_factory=set)
    written: list[torch.Tensor] = dataclasses.field(default_factory=list)
    failed: bool = False

    def copy_rows(self) -> dict[int, torch.Tensor]:
        return {key: rows.clone() for key, rows in self.rows.items()}

    def first_floats(self) -> torch.Tensor | None:
        """The rows of the first float operand."""
        floats = (value for value in tensors((self.args, self.kwargs)) if value.is_floating_point())
        first = next(floats, None)
        return None if first is None else self.rows[id(first)]

    def narrows(self, result: torch.Tensor) -> bool:
        """Whether ``result``'s dtype may not hold an operand's numbers."""
        eps = torch.finfo(result.dtype).eps
        for value in tensors((self.args, self.kwargs)):
            if value.is_floating_point() or value.is_complex():
                if torch.finfo(value.dtype).eps < eps:
                    return True
            elif value.dtype is not torch.bool:
                return True
        return False


def tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in nested lists, tuples and dicts, in order, repeats included."""
    found: list[torch.Tensor] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            _collect(item, found)


def written(func: Any, args: tuple, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors that the operator's schema says it writes to."""
    if not schema_of(func).is_mutable:
        return []
    found: list[torch.Tensor] = []
    for position, argument in enumerate(schema_of(func).arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        _collect(args[position] if position < len(args) else kwargs.get(argument.name), found)
    return found


def has_python_float(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(has_python_float(item) for item in value)
    if isinstance(value, dict):
        return any(has_python_float(item) for item in value.values())
    return isinstance(value, float)


def attempt(operation: ShadowOperation, outputs: list[torch.Tensor]) -> list[torch.Tensor | None] | None:
    """Rows of each of ``outputs`` (None where the rows have different shapes); None when no form of the operator runs.

    Tried in turn: all rows at once, row by row in float64, row by row rounded to the real dtype (custom and quantised
    operators). Written operands are changed in ``operation.rows``.
    """
    saved = {id(value): operation.rows[id(value)].clone() for value in operation.written}
    ways = [_row_by_row, _row_by_row_rounded]
    if _can_batch(operation):
        ways.insert(0, _all_rows)
    for way in ways:
        try:
            results = way(operation)
        except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, AssertionError):
            # Many kernels have no float64 form or refuse an extra dimension; the next way, or the count, says so.
            operation.rows.update({key: rows.clone() for key, rows in saved.items()})
            continue
        return _aligned(results, outputs, operation)
    return None


def python_results(operation: ShadowOperation) -> list[Any] | None:
    """The Python value of an operator such as ``item`` for each row; None when the rows do not run."""
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
    """Bring out noise that a jump, a kink or a choice has hidden by luck.

    Eight samples on one side of a kink look exact one time in 256. So the operator runs twice more with its operands
    pushed to both edges of their spread; where that changes what the samples agree on, samples 1 and 2 take it.
    """
    operands = before or operation.rows
    jumps = is_jump(operation.name, operation.kwargs)
    edges: dict[int, torch.Tensor] = {}
    moved = False
    sign = 1.0
    for value in _distinct(tensors((operation.args, operation.kwargs))):
        rows = operands[id(value)]
        if not (rows.is_floating_point() or rows.is_complex()):
            edges[id(value)] = rows[:3].clone()
            continue
        spread = (rows[1:] - rows[:1]).abs().amax(0).nan_to_num_(0.0, 0.0, 0.0) * (_EDGE_OF_JUMPS if jumps else _EDGE)
        moved = moved or bool((spread > 0).any())
        step = spread * (noise.take(tuple(spread.shape)).sign() if operation.name in RANKING else sign)
        edges[id(value)] = torch.stack([rows[0], rows[0] + step, rows[0] - step])
        sign = -sign
    if not moved or operation.count < 3:
        return
    pushed = dataclasses.replace(operation, count=3, rows=edges)
    found = attempt(pushed, outputs)
    if found is None:
        return
    tied = _always_equal(operation, operands)
    for position, edge in enumerate(found):
        if edge is not None and edge.shape[1:] == results[position].shape[1:]:
            if tied is not None:
                edge[1:] = torch.where(tied, results[position][1:3], edge[1:])
            results[position] = _with_edges(results[position], edge, 1.0 if jumps else _HIDDEN)
    for value in operation.written:
        operation.rows[id(value)] = _with_edges(operation.rows[id(value)], pushed.rows[id(value)], _HIDDEN)


def _always_equal(operation: ShadowOperation, operands: dict[int, torch.Tensor]) -> torch.Tensor | None:
    """Where a comparison's operands are one number, however it is rounded: a maximum and the element that it is."""
    pair = operation.args[:2]
    if operation.name not in _COMPARISONS or not all(isinstance(value, torch.Tensor) for value in pair):
        return None
    depth = max(value.dim() for value in pair)
    first, second = (
        operands[id(value)].reshape(operation.count, *(1,) * (depth - value.dim()), *value.shape) for value in pair
    )
    return (first == second).all(0)


def _with_edges(rows: torch.Tensor, edge: torch.Tensor, hidden: float) -> torch.Tensor:
    """``rows`` with two taken from ``edge`` where that is more than ``hidden`` times as far from the clean one."""
    if rows.shape[1:] != edge.shape[1:]:
        return rows
    if rows.is_floating_point() or rows.is_complex():
        plain_deviation = (rows[1:] - rows[:1]).abs().amax(0)
        chosen = (edge[1:] - rows[:1]).abs().amax(0) > hidden * plain_deviation
    else:
        chosen = (rows[1:] == rows[:1]).all(0) & (edge[1:] != rows[:1]).any(0)
    if not bool(chosen.any()):
        return rows
    taken = rows.clone()
    taken[1:3] = torch.where(chosen, edge[1:].to(rows.dtype), rows[1:3])
    return taken


def _aligned(results: list[Any], outputs: list[torch.Tensor], operation: ShadowOperation) -> list[torch.Tensor | None]:
    """Results of new tensors; written operands, which come back first and as themselves, are left out."""
    skip = len(results) - len(outputs)
    return results[skip:] if skip > 0 else [*results, *([None] * -skip)]


def _can_batch(operation: ShadowOperation) -> bool:
    """Whether rows can be a leading dimension: pointwise, no lists, and no dtype promotion that a dimension decides."""
    if torch.Tag.pointwise not in operation.func.tags and operation.name not in _ELEMENTWISE_MOVES:
        return False
    if operation.kwargs.get("out") is not None or operation.name == "equal":
        return False
    whole = [value for value in (*operation.args, *operation.kwargs.values()) if isinstance(value, torch.Tensor)]
    if len(whole) != len(tensors((operation.args, operation.kwargs))):
        return False
    integers = [value for value in whole if not value.is_floating_point() and not value.is_complex()]
    return len({value.dtype for value in integers if value.dtype is not torch.bool}) <= 1


def _all_rows(operation: ShadowOperation) -> list[Any]:
    found = tensors((operation.args, operation.kwargs))
    depth = max(value.dim() for value in found)
    replacements = {}
    for value in found:
        rows = operation.rows[id(value)]
        padding = depth - value.dim()
        replacements[id(value)] = rows.reshape(operation.count, *([1] * padding), *value.shape) if padding else rows
    args, kwargs = _substitute(operation, replacements, rounded=False)
    kwargs.pop("memory_format", None)
    return tensors(operation.func(*args, **kwargs))


def _row_by_row(operation: ShadowOperation) -> list[Any]:
    return _stacked(operation, rounded=False)


def _row_by_row_rounded(operation: ShadowOperation) -> list[Any]:
    return _stacked(operation, rounded=True)


def _stacked(operation: ShadowOperation, *, rounded: bool) -> list[Any]:
    fresh_outs = _out_arguments(operation)
    collected: list[list[torch.Tensor]] = []
    outs: dict[int, list[torch.Tensor]] = {id(value): [] for value in fresh_outs}
    for row in range(operation.count):
        replaced = {key: rows[row] for key, rows in operation.rows.items()}
        for value in fresh_outs:
            replaced[id(value)] = torch.empty(0, dtype=value.dtype if rounded else shadow_dtype(value.dtype))
        result = _call_with(operation, replaced, rounded=rounded)
        collected.append(tensors(result))
        for value in fresh_outs:
            outs[id(value)].append(replaced[id(value)])
    for key, rows in outs.items():
        operation.rows[key] = torch.stack(rows)
    return [_stack(column) for column in zip(*collected, strict=True)]


def _stack(column: Iterable[torch.Tensor]) -> torch.Tensor | None:
    rows = [value.to_dense() if value.layout is not torch.strided else value for value in column]
    if any(value.shape != rows[0].shape for value in rows):
        return None
    return torch.stack(rows)


def _call(operation: ShadowOperation, row: int) -> Any:
    return _call_with(operation, {key: rows[row] for key, rows in operation.rows.items()}, rounded=False)


def _call_with(operation: ShadowOperation, replaced: dict[int, torch.Tensor], *, rounded: bool) -> Any:
    """One row; where its own indices are out of range (a flipped floor), the real ones."""
    if rounded:
        originals = {id(value): value for value in tensors((operation.args, operation.kwargs))}
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


def _out_arguments(operation: ShadowOperation) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for position, argument in enumerate(schema_of(operation.func).arguments):
        if argument.is_out:
            _collect(
                operation.args[position] if position < len(operation.args) else operation.kwargs.get(argument.name),
                found,
            )
    return found


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
    """What the operator rounds its Python numbers to: every implementation does, so the shadow must too."""
    if torch.Tag.pointwise not in operation.func.tags and not operation.exact:
        return None
    floats = [value.dtype for value in tensors((operation.args, operation.kwargs)) if value.is_floating_point()]
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


def _fill_range(operation: ShadowOperation, kwargs: dict[str, Any], given: int) -> None:
    """``nan_to_num``'s defaults are the real dtype's range, not float64's."""
    first = tensors(operation.args)[0]
    if not first.is_floating_point():
        return
    info = torch.finfo(first.dtype)
    for position, name, limit in ((2, "posinf", info.max), (3, "neginf", info.min)):
        if given <= position and kwargs.get(name) is None:
            kwargs[name] = limit


def _distinct(values: list[torch.Tensor]) -> list[torch.Tensor]:
    return list({id(value): value for value in values}.values())


def run_real(func: Any, args: tuple, kwargs: dict) -> tuple[Any, bool]:
    """The real result, and whether random numbers were drawn for it."""
    if torch.Tag.nondeterministic_seeded not in func.tags:
        return func(*args, **kwargs), False
    before = torch.random.get_rng_state()
    real = func(*args, **kwargs)
    return real, not torch.equal(before, torch.random.get_rng_state())
