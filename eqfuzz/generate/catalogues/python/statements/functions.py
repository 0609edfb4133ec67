"""Closures, arguments, decorators, functions as keys. Imports no torch."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
from collections.abc import Callable, Mapping
from typing import Any

from eqfuzz.generate.catalogues.python.calls import N


def counter_of_calls(n):
    count = 0
    calls = []

    def increase(by=1):
        nonlocal count
        count += by
        calls.append(count)
        return increase if by < 3 else count

    increase()(2)(n)
    return count, calls


def late_bindings(n):
    late = [lambda: index for index in range(n)]
    early = [lambda index=index: index for index in range(n)]
    index = 10
    shifted = [lambda value: value + index for _ in range(2)]
    index = 20
    return [f() for f in late], [f() for f in early], [f(1) for f in shifted]


def remembered_default(values):
    def collect(value, seen=[], *, counts={}):
        seen.append(value)
        counts[value] = counts.get(value, 0) + 1
        return list(seen), dict(counts)

    return [collect(value) for value in values], collect(0, []), collect(0, counts={})


def bound_arguments(call):
    def target(a, b=2, /, c=3, *rest, d=4, e, **more):
        return a, b, c, rest, d, e, list(more.items())

    return call(target)


def partial_calls(n):
    def target(*args, **kwargs):
        return args, list(kwargs.items())

    first = functools.partial(target, 1, b=2, c=n)
    second = functools.partial(first, 4, c=5, d=6)
    return first(7), first(b=8), second(9, c=10), second.args, list(second.keywords.items()), second(a=0, b=1)


def memory_of_calls(n):
    calls = []

    @functools.lru_cache(maxsize=None)
    def square(value, power=2):
        calls.append((value, power))
        return value**power

    results = [square(n), square(n), square(n, 2), square(n, power=2), square(n + 1)]
    return results, calls


def wrapped_functions(n):
    order = []

    def noted(name):
        def decorate(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                order.append(name)
                return function(*args, **kwargs) + 1

            return wrapper

        return decorate

    @noted("outer")
    @noted("inner")
    def double(value):
        return value * 2

    return double(n), order, double.__name__


def stable_sorts(n):
    rows = [("b", 2), ("a", n), ("c", 2), ("d", n), ("e", 1)]
    by_number = sorted(rows, key=operator.itemgetter(1))
    backwards = sorted(rows, key=lambda row: row[1], reverse=True)
    in_place = list(rows)
    in_place.sort(key=lambda row: (-row[1], row[0]))
    compared = sorted(rows, key=functools.cmp_to_key(lambda a, b: a[1] - b[1]))
    return (
        by_number,
        backwards,
        in_place,
        compared,
        min(rows, key=lambda row: row[1]),
        max(rows, key=lambda row: row[1]),
    )


def getters(n):
    Row = collections.namedtuple("Row", "a b")
    row = Row([5, 6, 7], {"k": n})
    return (
        operator.itemgetter(2, 0)(row.a),
        operator.attrgetter("b", "a")(row),
        operator.methodcaller("get", "k", 1)(row.b),
        operator.methodcaller("index", 6)(row.a),
        operator.itemgetter(slice(1, None))(row.a),
    )


def grouped(values):
    groups = [(key, list(group)) for key, group in itertools.groupby(values, key=lambda value: value // 2)]
    first, second = itertools.tee(values, 2)
    next(second, None)
    return (
        groups,
        list(zip(first, second)),
        list(itertools.accumulate(values, operator.mul, initial=2)),
        list(itertools.chain.from_iterable([values, "ab"])),
        list(itertools.starmap(pow, [(2, 3), (3, 2)])),
        list(itertools.takewhile(lambda value: value < 3, values)),
        list(itertools.dropwhile(lambda value: value < 3, values)),
        list(itertools.compress(values, [1, 0, 1])),
        list(itertools.zip_longest(values, "ab", fillvalue="-")),
        list(itertools.combinations(values, 2))[:4],
        list(itertools.pairwise(values)),
        functools.reduce(lambda a, b: a * 10 + b, values, 1),
    )


ARGUMENTS: Mapping[Callable[..., Any], tuple[str, ...]] = {
    counter_of_calls: (N, "4"),
    late_bindings: (N, "1"),
    remembered_default: ("[1, 2, 1]", f"[{N}]"),
    bound_arguments: (
        "lambda f: f(1, e=5)",
        f"lambda f: f(1, {N}, 3, 4, 5, e=6, z=7, y=8)",
        "lambda f: f(1, c=8, e=2, d=3, a=9)",
        "lambda f: f(*[1, 2], **{'e': 3, 'b': 4})",
        "lambda f: outcome(lambda: f(1, 2, b=3))",
        "lambda f: outcome(lambda: f(e=3))",
        "lambda f: f(1, *(2, 3), *[4], **{'e': 0}, **{'q': 1})",
    ),
    partial_calls: (N, "4"),
    memory_of_calls: (N, "4"),
    wrapped_functions: (N, "4"),
    stable_sorts: (N, "4"),
    getters: (N, "4"),
    grouped: (f"[{N}, 1, 2]", "(5, 2, 1, 0, 4)", "range(1, 6)"),
}
"""Texts of arguments with which each function is called."""
