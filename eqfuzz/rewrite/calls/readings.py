"""Readings of a call by its syntax: what it may mean, in whatever form it is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cache

import libcst as cst

from eqfuzz.rewrite.calls.arguments import ArgumentValue, bind
from eqfuzz.rewrite.calls.operators import (
    METHODS,
    REQUIRED,
    Parameter,
    Signature,
    canonical,
    correspondence,
    fits,
    operator_at,
)
from eqfuzz.rewrite.context.context import constant


@dataclasses.dataclass(frozen=True)
class CallReading:
    """One meaning of a call, by the parameter names of the canonical function.

    ``values`` and ``parameters`` have the same keys, in order of evaluation, which is that of the parameters.
    """

    overload: str
    values: Mapping[str, ArgumentValue]
    parameters: Mapping[str, Parameter]
    target: Signature

    def is_default(self, name: str) -> bool:
        """Whether the default is passed."""
        return _is_default(self.parameters[name], self.values[name])


def method_path(name: str) -> str:
    """The path of the tensor method of this name."""
    return f"{METHODS}.{name}"


def read(path: str, arguments: Sequence[cst.Arg], receiver: cst.BaseExpression | None) -> tuple[CallReading, ...]:
    """The readings of a call of ``path``; ``receiver`` is what a method is called on.

    By syntax: an argument that is no literal may have any type, so that there may be several readings. There is none
    where the function is unknown, where there are too many or unknown arguments, or where they are not evaluated in
    the order of the parameters.
    """
    if path.startswith(f"{METHODS}.") and receiver is None:  # torch.Tensor.f(x, ...)
        if not arguments or arguments[0].keyword is not None:
            return ()
        receiver, arguments = arguments[0].value, arguments[1:]
    positional = [a.value for a in arguments if a.keyword is None]
    keywords = {a.keyword.value: a.value for a in arguments if a.keyword is not None}
    readings = (
        _read(signature, names, target, positional, keywords, receiver) for signature, names, target in _meanings(path)
    )
    return tuple(reading for reading in readings if reading is not None)


def default_of(reading: CallReading, name: str) -> cst.BaseExpression | None:
    """The default of a parameter as a literal, where it is a number or a truth value."""
    parameter = reading.target.named(name)
    default = parameter.default if parameter is not None else None
    if type(default) not in (bool, int, float):
        return None
    return cst.parse_expression(repr(default))


@cache
def _meanings(path: str) -> tuple[tuple[Signature, Mapping[str, str], Signature], ...]:
    """Each signature of ``path`` with its parameter names in each signature of the canonical function."""
    operator, best = operator_at(path), operator_at(canonical(path))
    if operator is None or best is None:
        return ()
    if operator.aten and operator.aten == best.aten:
        return tuple((s, {p.name: p.name for p in s.parameters}, s) for s in operator.signatures)
    return tuple((s, correspondence(s, t), t) for s in operator.signatures for t in best.signatures)


def _read(
    signature: Signature,
    names: Mapping[str, str],
    target: Signature,
    positional: Sequence[cst.BaseExpression],
    keywords: Mapping[str, cst.BaseExpression],
    receiver: cst.BaseExpression | None,
) -> CallReading | None:
    is_method = receiver is not None
    arguments = [receiver, *positional] if is_method else positional
    values = bind(signature, arguments, keywords, is_method=is_method, are_items=_are_items)
    if values is None or list(values) != [p.name for p in signature.parameters if p.name in values]:
        return None
    parameters = {p.name: p for p in signature.parameters if p.name in values}
    if any(not _may_be(parameters[name], value) for name, value in values.items()):
        return None
    if any(not _is_default(parameters[name], values[name]) for name in values if name not in names):
        return None  # the canonical function has no such parameter
    shared = [name for name in values if name in names]
    return CallReading(
        target.overload,
        {names[name]: values[name] for name in shared},
        {names[name]: parameters[name] for name in shared},
        target,
    )


def _are_items(nodes: Sequence[cst.BaseExpression]) -> bool:
    """Whether positional arguments are the items of one list: several, or one number."""
    if len(nodes) != 1:
        return len(nodes) > 1
    fact = constant(nodes[0])
    return fact is not None and fact.kind == "int"


def _may_be(parameter: Parameter, value: ArgumentValue) -> bool:
    """Whether a literal has the parameter's type; what is no literal may have any."""
    if not parameter.type or isinstance(value, tuple):
        return True
    fact = constant(value)
    if fact is None or (fact.kind == "ints" and fact.length == 0):
        return True
    return parameter.type.startswith("Tensor[") or fits(parameter.type, fact) is not None


def _is_default(parameter: Parameter, value: ArgumentValue) -> bool:
    if isinstance(value, tuple) or parameter.default is REQUIRED:
        return False
    fact, default = constant(value), parameter.default
    if fact is None:
        return False
    if default is None:
        return fact.kind == "none"
    if isinstance(default, list):
        one = fact.kind == "int" and bool(default) and [fact.value] * len(default) == default
        return one or (fact.kind == "ints" and list(fact.value) == default)
    same_type = type(fact.value) is type(default) or (parameter.type == "float" and fact.kind == "int")
    return fact.kind != "none" and same_type and fact.value == default
