"""The most usual way to write a call that computes the very same bits."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from eqfuzz.imports.exported.arguments import GraphArgument
from eqfuzz.imports.exported.forms import forms
from eqfuzz.imports.exported.values import copied, same
from eqfuzz.torch_internals.operators import OpOverload

SEED = 20250101
"""Of random operators, before each run of one."""


def run_and_write(
    target: OpOverload, arguments: Sequence[GraphArgument], options: Mapping[str, GraphArgument]
) -> GraphArgument:
    """Run an operator, which may write to its arguments: its result, and the first text that does the same.

    Raises what the operator raises.
    """
    every = [*arguments, *options.values()]
    before = copied([one.value for one in every])
    torch.manual_seed(SEED)
    result = target(*(one.value for one in arguments), **{key: one.value for key, one in options.items()})
    after = [one.value for one in every]
    texts = [*dict.fromkeys(forms(target, arguments, options))]
    text = next((text for text in texts[:-1] if _does_the_same(text, every, before, after, result)), texts[-1])
    return GraphArgument(text, result)


def _does_the_same(
    text: str, arguments: Sequence[GraphArgument], before: Sequence[Any], after: Sequence[Any], result: Any
) -> bool:
    values = copied(before)
    torch.manual_seed(SEED)
    try:
        computed = eval(text, _names(arguments, values))
    except Exception:  # of a text with other arguments than the function takes
        return False
    return same(computed, result) and same(values, after)


def _names(arguments: Sequence[GraphArgument], values: Sequence[Any]) -> dict[str, Any]:
    """The names that texts of the arguments use, for other values of theirs."""
    names: dict[str, Any] = {"torch": torch, "F": F, "self": _Attributes()}
    for one, value in zip(arguments, values, strict=True):
        _bind(names, one, value)
    return names


def _bind(names: dict[str, Any], one: GraphArgument, value: Any) -> None:
    for item, inner in zip(one.items, value if one.items else (), strict=True):
        _bind(names, item, inner)
    if one.text.startswith("self."):
        setattr(names["self"], one.text.removeprefix("self."), value)
    elif one.text.isidentifier() and not keyword.iskeyword(one.text):
        names[one.text] = value


class _Attributes:
    """Stands for the module whose attributes a text reads."""
