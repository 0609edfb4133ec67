"""Operators whose result is not specified on a GPU: several writes to one element, and the order of equal numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.rounding_model import base_name
from eqfuzz.program.call import Call
from eqfuzz.torch_internals.modes import TorchDispatchMode
from eqfuzz.torch_internals.operators import OpOverload, schema_of

_ORDERING = frozenset({"sort", "argsort", "topk", "kthvalue", "median", "nanmedian", "mode"})


def left_open(make_callable: Callable[[], Any], calls: Sequence[Call]) -> str:
    """The first operator of a run on the CPU whose result a GPU may choose; empty if there is none."""

    def observed(target: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            with mode:
                return target(*args, **kwargs)

        return run

    mode = _NondeterminismMode()
    observe(make_callable, calls, transform=observed)
    return mode.operator


class _NondeterminismMode(TorchDispatchMode):
    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self.operator = ""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not self.operator and isinstance(func, OpOverload):
            name = base_name(func)
            bound = dict(zip((argument.name for argument in schema_of(func).arguments), args, strict=False)) | kwargs
            if _writes_twice(name, bound):
                self.operator = f"{name} writes to one element more than once"
            elif name in _ORDERING and not bound.get("stable") and _has_ties(bound["self"], bound.get("dim", -1)):
                self.operator = f"{name} orders equal numbers"
        return func(*args, **kwargs)


def _writes_twice(name: str, bound: dict[str, Any]) -> bool:
    match name:
        case "index_put" | "_unsafe_index_put" | "_index_put_impl":
            places = [index for index in bound["indices"] if index is not None]
            return not bound.get("accumulate") and _is_repeated(places)
        case "scatter":
            return (
                isinstance(bound.get("src"), torch.Tensor)
                and "reduce" not in bound
                and _has_ties(bound["index"], bound["dim"])
            )
        case "index_copy":
            return _is_repeated([bound["index"]])
        case "put":
            return not bound.get("accumulate") and _is_repeated([bound["index"].flatten()])
        case _:
            return False


def _is_repeated(indices: Sequence[torch.Tensor]) -> bool:
    """Whether the indices together select an element more than once. A mask selects each once."""
    if not indices or any(index.dtype in (torch.bool, torch.uint8) for index in indices):
        return False
    places = torch.stack([index.flatten() for index in torch.broadcast_tensors(*indices)])
    return places.unique(dim=1).shape[1] < places.shape[1]


def _has_ties(values: torch.Tensor, dim: int | None) -> bool:
    """Whether two elements along ``dim`` (None: of the flattened tensor) are equal."""
    line = values.detach().flatten() if dim is None or not values.dim() else values.detach().movedim(dim, -1)
    ordered = torch.sort(line, dim=-1, stable=True).values
    return bool((ordered[..., 1:] == ordered[..., :-1]).any())
