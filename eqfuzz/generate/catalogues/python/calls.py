"""Calls of Python's own types and functions as expressions, combined from pools of receivers and arguments."""

from __future__ import annotations

import collections
import functools
import itertools
import math
import operator
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

N = "${x}.shape[0]"
"""A size, 3: it is symbolic where sizes are."""

_NUMBERS = (N, "0", "2", "-2", "7", "True", "2.5", "-0.5", "0.0", "float('inf')", "float('nan')")
_TEXTS = ("''", "'b'", "'aba'", "'Ab c'", "'1,2,,3'", "'-42'")
_CONTAINERS = (
    "[]",
    f"[{N}, 1, 2]",
    "[2, 2.0, True]",
    "['b', 'a', 'c', 'a']",
    "[[1], [], [2, 3]]",
    "(1, 3)",
    "((2, 'a'), (1, 'b'), (2, 'c'))",
    "{1, 3}",
    "{'a': 1, 'b': 2}",
    "{2: 'x', 1: 'y', True: 'z'}",
    "range(4)",
    f"range(5, -2, -{N})",
    "collections.deque([1, 2, 3], maxlen=3)",
    "iter([4, 5])",
    "zip([1, 2], 'ab')",
)
_FUNCTIONS = ("None", "len", "str", "abs", "lambda v: -v", "lambda *v: v", "operator.add", "int")
_OTHERS = ("slice(1, None)", "slice(None, None, -1)", "slice(-3, 7, 2)", "b'ab'", "1j", "${x}")
ARGUMENTS = (*_NUMBERS, *_TEXTS, *_CONTAINERS, *_FUNCTIONS, *_OTHERS)

KEYWORDS = (
    *("reverse=True", "key=lambda v: -v", "key=len", "key=str", "default=7", "start=2", "strict=True", "maxsplit=1"),
    *("initial=5", "fillvalue=0", "repeat=2", "maxlen=2", "step=2", "rel_tol=0.5", "abs_tol=1", "ndigits=1", "base=3"),
    *("keepends=True", "signed=True", "last=False", "tabsize=2", "b=3", "r=2", "func=operator.mul"),
)

_HUGE = "2**70"
"""No operand: its powers and shifts fill the memory."""

RECEIVERS: Mapping[type, Sequence[str]] = {
    list: (f"[{N}, 1, 2, 1]", "[]", "['b', 'a', 'c']", "[${x}, 1.5, ${x}.neg()]", "[[2], [1, 3], []]"),
    tuple: (f"({N}, 1, 2, 1)", "()", "('b', 'a', ${x})"),
    dict: (f"{{'a': 1, 'b': {N}}}", "{}", "{2: 'x', 1: 'y', (0, 1): [3]}", "{'t': ${x}, 'u': 2}"),
    set: (f"{{{N}, 1, 5}}", "set()", "{2, 2.5, True}"),
    frozenset: ("frozenset([1, 2, 4])",),
    str: ("'banana'", "''", "'  Two words\\n'", "'a1-B2'", "'{} {a!r:>5}'", "'x=%d'", "'1,2,,3'"),
    int: (N, "-7", "0", _HUGE),
    float: ("2.5", "-0.0", "1e300", "float('nan')"),
    bool: ("True", "False"),
    complex: ("1 - 2j",),
    bytes: ("b'ab,c'", "b''"),
    range: (f"range({N}, 10, 2)", "range(0)", "range(5, -1, -2)"),
    slice: ("slice(1, 8, 3)", "slice(None, -2)", "slice(None, None, -1)"),
    collections.deque: (
        f"collections.deque([{N}, 1, 2])",
        "collections.deque([1, 2, 3], maxlen=3)",
        "collections.deque([${x}, 4])",
    ),
    collections.OrderedDict: (
        "collections.OrderedDict(a=1, b=2, c=3)",
        "collections.OrderedDict([(2, 'x'), (1, ${x})])",
    ),
    collections.defaultdict: (
        "collections.defaultdict(list, {'a': [1]})",
        "collections.defaultdict(lambda: 5)",
    ),
    collections.Counter: ("collections.Counter('banana')", f"collections.Counter(a={N}, b=-1)"),
}
"""Values whose methods are called, by type; ``${x}`` is a tensor."""

OPERATORS: Mapping[str, str] = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "truediv": "{} / {}",
    "floordiv": "{} // {}",
    "mod": "{} % {}",
    "pow": "{} ** {}",
    "and": "{} & {}",
    "or": "{} | {}",
    "xor": "{} ^ {}",
    "lshift": "{} << {}",
    "rshift": "{} >> {}",
    "eq": "{} == {}",
    "ne": "{} != {}",
    "lt": "{} < {}",
    "le": "{} <= {}",
    "gt": "{} > {}",
    "ge": "{} >= {}",
    "in": "{} in {}",
    "not_in": "{} not in {}",
    "short_and": "{} and {}",
    "short_or": "{} or {}",
    "getitem": "{}[{}]",
    "item": "{}[#]",
    "slice_from": "{}[#:]",
    "slice_to": "{}[:#]",
    "slice_step": "{}[::#]",
    "slice_both": "{}[#:#]",
    "slice_all": "{}[#:#:#]",
    "neg": "-{}",
    "pos": "+{}",
    "invert": "~{}",
    "not": "not {}",
    "chain": "{} < {} <= {}",
    "choose": "{} if {} else {}",
    "spread": "[*{}, *{}]",
    "join": "{{**{}, **{}}}",
    "format": "'{{!r:>9}}'.format({})",
    "compare_three": "{} == {} != {}",
}
"""Patterns of expressions over values, by name; ``#`` is a whole number or None."""

_INDICES = (N, "0", "1", "-1", "-2", "7", "None")

UPDATES = ("iadd", "isub", "imul", "ifloordiv", "imod", "iand", "ior", "ixor", "delitem", "setitem")
"""Functions of ``operator`` that may change their first argument."""

_NOT_PURE = frozenset(
    "open input exec eval exit quit breakpoint print help compile memoryview globals locals vars dir id hash copyright "
    "credits license aiter anext super object type classmethod staticmethod property bytearray "
    "attrgetter itemgetter methodcaller matmul imatmul".split()
)
_MODULES: Mapping[str, Any] = {
    "": __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__),
    "itertools.": vars(itertools),
    "functools.": {"reduce": functools.reduce},
    "operator.": vars(operator),
    "math.": vars(math),
    "collections.": {name: getattr(collections, name) for name in ("deque", "OrderedDict", "Counter", "defaultdict")},
}

_METHOD_LENGTHS = (0, 1, 1, 1, 2, 3)
_FUNCTION_LENGTHS = (0, 1, 1, 2, 2, 2, 3)
_ITERABLE = ("keys", "values", "items", "elements")
"""Methods whose results are views and iterators."""
_TRIED = 900
"""Expressions that are tried of an entry."""


def functions() -> Iterator[str]:
    """Dotted names of functions that depend on their arguments alone."""
    for prefix, names in _MODULES.items():
        for name, value in sorted(names.items()):
            is_exception = isinstance(value, type) and issubclass(value, BaseException)
            if callable(value) and not name.startswith("_") and name not in _NOT_PURE and not is_exception:
                yield prefix + name


def methods(owner: type) -> Iterator[str]:
    """Names of the public methods of ``owner`` that are its own, not those of a type of which it is one."""
    base = next((one for one in RECEIVERS if one is not owner and issubclass(owner, one)), object)
    for name in dir(owner):
        attribute = getattr(owner, name)
        if not name.startswith("_") and callable(attribute) and attribute is not getattr(base, name, None):
            yield name


def calls_of_function(name: str, rng: random.Random) -> Iterator[str]:
    """Calls of the function ``name``."""
    for arguments in _arguments(rng, _FUNCTION_LENGTHS):
        yield f"{name}({arguments})"


def calls_of_method(owner: type, name: str, rng: random.Random) -> Iterator[str]:
    """Calls of a method, with the receiver as the call leaves it."""
    receivers = RECEIVERS[owner]
    for arguments in _arguments(rng, _METHOD_LENGTHS):
        receiver = rng.choice(receivers)
        if owner.__hash__ is None:
            call = f"v.{name}({arguments})"
            yield f"after({receiver}, lambda v: {f'list({call})' if name in _ITERABLE else call})"
        else:
            yield f"{_enclosed(receiver)}.{name}({arguments})"


def calls_of_operator(name: str, rng: random.Random) -> Iterator[str]:
    """Expressions with an operator or another form of Python."""
    pattern = OPERATORS[name]
    every = (*ARGUMENTS, *itertools.chain.from_iterable(RECEIVERS.values()))
    values = [_enclosed(value) for value in every if value != _HUGE]
    for _ in range(_TRIED):
        text = pattern.format(*_some(rng, values, pattern.count("{}")))
        yield re.sub("#", lambda _: rng.choice(_INDICES), text)


def updates(name: str, rng: random.Random) -> Iterator[str]:
    """Changes by a function of ``operator``."""
    receivers = list(itertools.chain.from_iterable(RECEIVERS.values()))
    for _ in range(_TRIED):
        arguments = ", ".join(_some(rng, ARGUMENTS, 2 if name == "setitem" else 1))
        yield f"after({rng.choice(receivers)}, lambda v: operator.{name}(v, {arguments}))"


def _arguments(rng: random.Random, lengths: Sequence[int]) -> Iterator[str]:
    """Text between the parentheses of a call."""
    yield ""
    yield from ARGUMENTS
    for _ in range(_TRIED):
        positional = _some(rng, ARGUMENTS, rng.choice(lengths))
        keywords = rng.sample(KEYWORDS, 1) if rng.random() < 0.3 else []
        yield ", ".join([*positional, *keywords])


def _some(rng: random.Random, values: Sequence[str], count: int) -> list[str]:
    return [rng.choice(values) for _ in range(count)]


def _enclosed(value: str) -> str:
    """The value as an operand of any operator."""
    return f"({value})" if value.startswith(("-", "lambda", _HUGE, "1 -")) or value.isdigit() else value
