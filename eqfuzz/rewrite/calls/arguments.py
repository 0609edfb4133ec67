"""Which argument of a call is which parameter of a signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import libcst as cst

from eqfuzz.rewrite.calls.operators import NUMPY_NAMES, REQUIRED, Signature

ArgumentValue = cst.BaseExpression | tuple[cst.BaseExpression, ...]
"""The argument for one parameter; a tuple holds the items of one list (``x.permute(1, 0)``)."""


def bind(
    signature: Signature,
    positional: Sequence[cst.BaseExpression],
    keywords: Mapping[str, cst.BaseExpression],
    *,
    is_method: bool,
    are_items: Callable[[Sequence[cst.BaseExpression]], bool],
) -> dict[str, ArgumentValue] | None:
    """Arguments by parameter name in order of evaluation; None where the signature does not take them.

    The first of the ``positional`` arguments of a method is its receiver. ``are_items`` says whether those after it
    are the items of the method's one list of ints.
    """
    parameters = list(signature.positional)
    if is_method and signature.receiver:
        parameters.sort(key=lambda p: p.name != signature.receiver)
    takes_items = is_method and len(parameters) == 2 and parameters[1].type == "int[]"
    values: dict[str, ArgumentValue]
    if takes_items and are_items(positional[1:]):
        values = {parameters[0].name: positional[0], parameters[1].name: tuple(positional[1:])}
    elif len(positional) > len(parameters):
        return None
    else:
        values = {p.name: node for p, node in zip(parameters, positional, strict=False)}
    for keyword, node in keywords.items():
        is_own = signature.named(keyword) is not None or not signature.overload
        name = keyword if is_own else NUMPY_NAMES.get(keyword, "")
        if signature.named(name) is None or name in values:
            return None
        values[name] = node
    if any(p.default is REQUIRED and p.name not in values for p in signature.parameters):
        return None
    return values
