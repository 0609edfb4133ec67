"""Calls with another value of one optional argument, or without it: OpInfo leaves most of them at their defaults."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from eqfuzz.generate.catalogues.expression import value_at
from eqfuzz.generate.catalogues.sample import Arguments
from eqfuzz.torch_internals.operators import overloads_of

_LEFT_OUT = frozenset("out generator device layout pin_memory requires_grad memory_format size_average reduce".split())

_VALUES: Mapping[str, tuple[Any, ...]] = {
    "bool": (False, True),
    "int": (0, 1, -1, 2),
    "float": (0.5, 2.0),
    "number": (0.5, 2, -1),
    "dtype": (torch.float64, torch.int64),
}
_WORDS = {"reduction": ("none", "mean", "sum"), "rounding_mode": ("floor", "trunc"), "indexing": ("ij", "xy")}
_ANNOTATED = ("bool", "float", "dtype", "int")
_SCHEMA_TYPES = {
    "bool": "bool",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "Scalar": "number",
    "ScalarType": "dtype",
    "number": "number",
    "str": "word",
    "Tensor": "tensor",
}


@dataclasses.dataclass(frozen=True)
class OptionalArgument:
    """An argument with a default.

    ``kind`` is ``bool``, ``int``, ``float``, ``number``, ``dtype``, ``word`` or ``tensor``.
    """

    name: str
    kind: str
    default: Any


def other_arguments(
    function: Callable[..., Any], path: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[Arguments]:
    """The arguments of the call with one more, one less, or another value of one; eager may refuse some of them.

    ``path`` is the name of the operator below ``torch``, which ``function`` may wrap.
    """
    for argument in optional_arguments(function, path, len(args)):
        for value in _values(argument, args):
            if argument.name not in kwargs or not _is_same(kwargs[argument.name], value):
                yield args, {**kwargs, argument.name: value}
    for name in kwargs:
        yield args, {key: value for key, value in kwargs.items() if key != name}
    if len(args) > 1:
        yield args[:-1], dict(kwargs)


def optional_arguments(function: Callable[..., Any], path: str, positional: int) -> list[OptionalArgument]:
    """Those after the first ``positional`` arguments whose kind is known, of Python's signature or ATen's schemas.

    A wrapper that passes keywords on has those of the operator at ``path``.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # builtin functions have none
        return _of_schemas(getattr(function, "__name__", ""), positional)
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        operator = value_at(path)
        return optional_arguments(operator, "", 0) if callable(operator) and operator is not function else []
    arguments = map(_of_parameter, parameters[positional:])
    return [argument for argument in arguments if argument is not None]


def _of_parameter(parameter: inspect.Parameter) -> OptionalArgument | None:
    name, default = parameter.name, parameter.default
    if default is inspect.Parameter.empty or name in _LEFT_OUT or name.startswith("_"):
        return None
    if isinstance(default, bool | int | float):
        return OptionalArgument(name, type(default).__name__, default)
    if name in _WORDS:
        return OptionalArgument(name, "word", default)
    if default is not None:
        return None
    text = str(parameter.annotation)
    if "Tensor" in text:
        return OptionalArgument(name, "tensor", None)
    kind = next((kind for kind in _ANNOTATED if kind in text.lower()), "")
    return OptionalArgument(name, kind, None) if kind else None


def _of_schemas(name: str, positional: int) -> list[OptionalArgument]:
    """Those of all overloads of the ATen operator of this name, each once."""
    by_name: dict[str, OptionalArgument] = {}
    overloads = overloads_of(name) or overloads_of(f"linalg_{name}") or overloads_of(f"special_{name}")
    for _, schema, _ in overloads:
        for argument in schema.arguments[positional:]:
            kind = _SCHEMA_TYPES.get(str(argument.type).removeprefix("Optional[").removesuffix("]"), "")
            if kind == "word" and argument.name not in _WORDS:
                continue
            if kind and argument.has_default_value() and argument.name not in _LEFT_OUT:
                kind = "dtype" if argument.name == "dtype" else kind
                by_name.setdefault(argument.name, OptionalArgument(argument.name, kind, argument.default_value))
    return list(by_name.values())


def _values(argument: OptionalArgument, args: tuple[Any, ...]) -> Iterator[Any]:
    if argument.kind == "tensor":
        yield from _tensors(args)
        return
    values = _WORDS[argument.name] if argument.kind == "word" else _VALUES[argument.kind]
    yield from (value for value in values if not _is_same(value, argument.default))


def _tensors(args: tuple[Any, ...]) -> Iterator[torch.Tensor]:
    """Of the shape of the first operand, and of one of its dimensions, as weights and masks have."""
    operand = next((value for value in args if isinstance(value, torch.Tensor)), None)
    if operand is None or operand.layout is not torch.strided:
        return
    if not (operand.is_floating_point() or operand.is_complex()):
        return
    sizes = [tuple(operand.shape), *((size,) for size in (*operand.shape[1:2], *operand.shape[-1:]))]
    for size in dict.fromkeys(sizes):
        yield torch.linspace(0.5, 1.5, math.prod(size)).reshape(size).to(operand.dtype)


def _is_same(first: Any, second: Any) -> bool:
    if isinstance(first, torch.Tensor) or isinstance(second, torch.Tensor):
        return False
    return type(first) is type(second) and first == second
