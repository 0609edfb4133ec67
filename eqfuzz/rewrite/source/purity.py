"""Whether an expression may be evaluated earlier, later, twice or not at all."""

from __future__ import annotations

import libcst as cst

from eqfuzz.rewrite.source.syntax import children

_RANDOM = """
    rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal poisson dropout
    dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout rrelu gumbel_softmax manual_seed seed
"""
_STATEFUL = """
    append extend insert pop popitem remove clear update setdefault add discard sort reverse write read next send
    throw close step zero_grad backward popleft appendleft
"""
_IMPURE_ATTRIBUTES = frozenset(_RANDOM.split()) | (frozenset(_STATEFUL.split()) - {"add", "sort"})
_PURE_BUILTINS = frozenset("abs len int float bool min max range tuple list sum".split())


def is_pure(node: cst.CSTNode) -> bool:
    """Judged by syntax, on the safe side: only what is known to be harmless counts as pure.

    Names, attributes, literals, operators and calls of library functions and methods are; calls of the seed's own
    functions and submodules, of classes, random draws, in-place methods (``add_``), ``out=``, container changes,
    ``:=``, ``yield``, ``await`` and ``lambda`` are not.
    """
    if isinstance(node, (cst.NamedExpr, cst.Yield, cst.Await, cst.Lambda)):
        return False
    if isinstance(node, cst.Call) and not _is_pure_call(node):
        return False
    return all(is_pure(child) for child in children(node))


def _is_pure_call(node: cst.Call) -> bool:
    if any(a.keyword is not None and a.keyword.value in ("out", "inplace") for a in node.args):
        return False
    if isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        if isinstance(node.func.value, cst.Name) and node.func.value.value == "self":
            return False  # a submodule or method of the seed: may keep state
        if name[0].isupper():
            return False  # a class: a new module draws its first weights
        in_place = name.endswith("_") and not name.endswith("__")
        return not in_place and name not in _IMPURE_ATTRIBUTES
    if isinstance(node.func, cst.Name):
        return node.func.value in _PURE_BUILTINS
    return False
