"""Names of one function: found by calling every function of torch on the same arguments and comparing what it does.

``python -m eqfuzz.rewrite.calls.aliases`` measures the running torch and writes ``aliases.json``, which is what
everybody else reads: other name → the name that stands for all of them. Names that the running torch lacks are ignored.
"""

from __future__ import annotations

import itertools
import json
import types
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from eqfuzz.rewrite.calls.operators import (
    ALIASES_FILE,
    METHODS,
    MODULES,
    REQUIRED,
    WRAPPERS_OWN,
    function_paths,
    operator_at,
)
from eqfuzz.torch_internals import trees
from eqfuzz.torch_internals.modes import TorchDispatchMode
from eqfuzz.torch_internals.source_tree import FUNCTIONS_IN_PYTHON

_LEFT_OUT = frozenset(
    {
        "torch.nn.functional.upsample",  # deprecated: it warns and calls interpolate
        "torch.nn.functional.upsample_nearest",
        "torch.norm",  # takes words for orders, which the functions of torch.linalg do not
        "torch.Tensor.norm",
    }
)
Behaviour = tuple[tuple[Any, ...] | None, ...]


def measure() -> dict[str, str]:
    """The aliases of the running torch. Calls all of its functions; takes some seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = {path: _behaviour(path, torch.float32) for path in _candidates()}
        pairs = {(a, b) for a, b in _alike(first) if _agree(a, b, first[a], first[b])}
        names = sorted({name for pair in pairs for name in pair})
        for dtype in (torch.int64, torch.bool, torch.complex64):
            more = {path: _behaviour(path, dtype) for path in names}
            pairs = {(a, b) for a, b in pairs if _agree(a, b, more[a], more[b])}
        aliases: dict[str, str] = {}
        for name in names:
            others = {b for a, b in pairs if a == name} | {a for a, b in pairs if b == name}
            best = min([name, *others], key=_rank)
            if best != name:
                aliases[name] = best
    return {name: aliases.get(best, best) for name, best in aliases.items()}


def written() -> dict[str, str]:
    """What was measured last."""
    return json.loads(ALIASES_FILE.read_text(encoding="utf-8"))


def agree(a: str, b: str, dtype: torch.dtype) -> bool:
    """Whether two functions do the same on operands of ``dtype``."""
    return _agree(a, b, _behaviour(a, dtype), _behaviour(b, dtype))


def _alike(behaviours: Mapping[str, Behaviour]) -> Iterator[tuple[str, str]]:
    """Pairs that dispatch and return the same at least once."""
    seen: dict[tuple[int, Any], list[str]] = defaultdict(list)
    for path, behaviour in behaviours.items():
        for number, effect in enumerate(behaviour):
            if effect is not None and effect[0]:
                for other in seen[number, effect]:
                    yield other, path
                seen[number, effect].append(path)


def _agree(a: str, b: str, ours: Behaviour, theirs: Behaviour) -> bool:
    """Whether both do the same with all arguments whose number both take."""
    low, high = shared_arity(a, b)
    counts = [len(arguments) for arguments in _arguments(torch.float32)]
    both = [(x, y) for count, x, y in zip(counts, ours, theirs, strict=True) if low <= count <= high]
    return all(x == y for x, y in both)


def shared_arity(a: str, b: str) -> tuple[int, int]:
    """How many positional arguments both functions need, and how many they take that mean the same to both."""
    ours, theirs = (_positions(path) for path in (a, b))
    needed = max(_needed(path) for path in (a, b))
    for place, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        elsewhere = any(mine & names for ctx, names in enumerate(theirs) if ctx != place)
        elsewhere = elsewhere or any(other & names for ctx, names in enumerate(ours) if ctx != place)
        if not mine & other and (elsewhere or (mine | other) & WRAPPERS_OWN):
            return needed, place
    return needed, min(len(ours), len(theirs))


def _positions(path: str) -> list[set[str]]:
    """The names that the positional parameter at each place has, over all signatures."""
    operator = operator_at(path)
    assert operator is not None
    names = itertools.zip_longest(*([p.name for p in s.positional] for s in operator.signatures))
    return [{name for name in place if name is not None} for place in names]


def _needed(path: str) -> int:
    operator = operator_at(path)
    assert operator is not None
    return min(sum(p.default is REQUIRED for p in s.positional) for s in operator.signatures)


def _candidates() -> Iterator[str]:
    methods = (f"{METHODS}.{name}" for name in dir(torch.Tensor) if not name.startswith("_"))
    for path in (*function_paths(), *methods):
        operator = operator_at(path)
        if (
            operator is None or path.endswith("_") or path in _LEFT_OUT
        ):  # what writes into its operand is another function
            continue
        function = _function_at(path)
        if operator.is_method and isinstance(function, types.MethodDescriptorType) and operator.function:
            continue  # a method of the same operator: known from the schema
        if operator.aten or getattr(function, "__module__", "") in FUNCTIONS_IN_PYTHON:
            yield path


def _function_at(path: str) -> Callable[..., Any]:
    module, _, name = path.rpartition(".")
    return getattr(torch.Tensor if module == METHODS else MODULES[module], name)


def _rank(path: str) -> tuple[Any, ...]:
    """What is preferred: functions in ``torch``, those that ATen calls so, those that are methods, short names."""
    operator = operator_at(path)
    assert operator is not None
    module, _, name = path.rpartition(".")
    order = [*MODULES, METHODS].index(module)
    return order, _dispatched_name(path) != name, not operator.method, len(name), name


def _dispatched_name(path: str) -> str:
    """The one operator that reaches the kernels when the function is called on a matrix of floats, or ``""``."""
    for arguments in _arguments(torch.float32):
        with _Record() as record:
            try:
                _function_at(path)(*arguments)
            except Exception:  # it does not take these, whatever it calls that
                continue
        names = {name.split(".")[1].removeprefix("_") for name, _ in record.calls}
        return names.pop() if len(names) == 1 else ""
    return ""


class _Record(TorchDispatchMode):
    """Notes which overloads are dispatched, and on what."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, str]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((str(func), repr(trees.tree_map(_comparable, (args, kwargs or {})))))
        return func(*args, **(kwargs or {}))


def _behaviour(path: str, dtype: torch.dtype) -> Behaviour:
    """What a function dispatches, returns and changes, for every set of arguments; None where it raises."""
    function = _function_at(path)
    seen: list[tuple[Any, ...] | None] = []
    for arguments in _arguments(dtype):
        torch.manual_seed(0)
        with _Record() as record:
            try:
                result = function(*arguments)
            except Exception:  # it does not take these, whatever it calls that
                seen.append(None)
                continue
        seen.append((tuple(record.calls), _structure_and_elements(result), _structure_and_elements(arguments)))
    return tuple(seen)


def _arguments(dtype: torch.dtype) -> Iterator[tuple[Any, ...]]:
    """Positional arguments of many kinds, made anew each time."""

    def tensor(*shape: int, seed: int = 0) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        values = torch.randn(shape, generator=generator, dtype=torch.float64) * 2
        return torch.complex(values, -values).to(dtype).conj() if dtype.is_complex else values.to(dtype)

    def whole(*shape: int) -> torch.Tensor:
        return torch.arange(int(torch.tensor(shape).prod())).reshape(shape) % 2

    x, square, cube, image = tensor(2, 3), tensor(3, 3), tensor(2, 3, 4), tensor(2, 4, 6, 6)
    y, z = tensor(2, 3, seed=1), tensor(2, 3, seed=2)
    positive = square @ square.T + 3 * torch.eye(3) if dtype is torch.float32 else square
    yield ([tensor(3), tensor(3, seed=1)],)
    yield ([tensor(), tensor()],)
    for first in (
        x,
        square,
        positive,
        cube,
        image,
        tensor(),
        tensor(5),
        tensor(0, 3),
        [x, y],
        [square, cube[0, :, :3]],
    ):
        yield (first,)
    for second in (y, 1, 2, -1, 0.5, (0,), (0, 1), (2, 1), [3, 2], 3, True, "none", torch.float64, whole(2, 3)):
        yield x, second
        yield cube, second
    yield from ((square, tensor(3)), (square, square), (tensor(5), tensor(5, seed=1)), (image, 2), (image, (3, 2)))
    yield from ((0.5, x), (2, x), ([x, y], 0), ([x, y], 1), (whole(2, 3).bool(), x, y), (whole(3), square))
    for second, third in (
        (0, 1),
        (1, 0),
        (-1, -2),
        (-0.5, 0.5),
        (y, z),
        (1, True),
        (True, True),
        (y, 2),
        ((0, 1), (1, 0)),
    ):
        yield x, second, third
        yield cube, second, third
    yield from ((x, 1, whole(2, 3)), (x, 0, torch.tensor([1, 0])), (x, 0, 0, 1), (image, 2, 1, 1), (x, y, z, 0.5))
    yield from ((x, tensor(4, 3)), (x, tensor(4, 3), tensor(4)), (image, tensor(5, 4, 3, 3)), (cube, tensor(5, 3, 2)))
    yield from ((cube, 0.5, True), (cube, 0.5, False), (x, 0.1, 0.3, True), (x, 0.1, 0.3, False))
    yield from ((x, 1, False, torch.float64), (x, whole(2, 3).bool(), 2.0))
    yield from ((cube.transpose(0, 2), cube), (cube.transpose(0, 1), (4, 6)), (cube.transpose(0, 1), 0, 1))
    yield from (
        (cube, cube.transpose(1, 2)),
        (tensor(3), tensor(4)),
        (square, cube[..., :3]),
        (x, 2, 2.0, 0),
        (x, 0, 1, 2),
    )


def _comparable(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return leaf.dtype, tuple(leaf.shape), leaf.stride() if leaf.layout is torch.strided else leaf.layout


def _structure_and_elements(value: Any) -> str:
    """A result by its types and elements; exact, and equal for equal results."""
    leaves, structure = trees.tree_flatten(value)
    return repr((structure, [_elements(leaf) for leaf in leaves]))


def _elements(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return leaf
    if leaf.layout is not torch.strided or leaf.is_quantized or leaf.is_meta:
        return leaf.layout, leaf.dtype, leaf.shape
    return *_comparable(leaf), leaf.is_conj(), leaf.is_neg(), leaf.resolve_conj().resolve_neg().tolist()


if __name__ == "__main__":
    ALIASES_FILE.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
