"""Loops, exceptions, generators, unpacking, the order of evaluation. Imports no torch."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from eqfuzz.generate.catalogues.python.calls import N


def loop_with_else(values, stop):
    seen = []
    for value in values:
        if value == stop:
            break
        if value == 1:
            continue
        seen.append(value)
    else:
        seen.append("else")
    return seen


def while_with_else(n, limit):
    steps = 0
    while n < limit:
        n = n * 2 + 1
        steps += 1
        if steps == 3:
            break
    else:
        steps = -steps
    return n, steps


def order_of_finally(values, index):
    order = []
    try:
        order.append("try")
        order.append(values[index])
    except IndexError as error:
        order.append(type(error).__name__)
    except (TypeError, KeyError):
        order.append("other")
    else:
        order.append("else")
    finally:
        order.append("finally")
    return order


def result_of_finally(values):
    order = []

    def last(value):
        for step in range(4):
            try:
                if step == value:
                    return "returned"
                if step == value + 1:
                    continue
                if step == 3 and value < 0:
                    break
            finally:
                order.append(step)
        return "ended"

    return [last(value) for value in values], order


def cause_of_error(values):
    names = []
    for value in values:
        try:
            try:
                {}[value]
            except KeyError as error:
                if value:
                    raise ValueError(value) from error
                raise
        except ValueError as error:
            names.append((type(error.__cause__).__name__, error.args))
        except KeyError as error:
            names.append((type(error).__name__, error.args, error.__cause__ is None))
    return names


def own_errors(value):
    class Wrong(ValueError):
        def __init__(self, code, *rest):
            super().__init__(*rest)
            self.code = code

    class MoreWrong(Wrong):
        pass

    try:
        if value > 2:
            raise MoreWrong(value, "a", value)
        raise Wrong(value)
    except MoreWrong as error:
        return "more", error.code, error.args
    except Wrong as error:
        return "less", error.code, error.args


def error_leaves_name(n):
    error = n
    try:
        raise RuntimeError("late")
    except RuntimeError as error:
        text = str(error)
    try:
        return text, error
    except UnboundLocalError as unbound:
        return text, type(unbound).__name__


def managers(swallow, fail):
    order = []

    class Manager:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            order.append(("enter", self.name))
            return self.name

        def __exit__(self, kind, error, trace):
            order.append(("exit", self.name, kind.__name__ if kind else None))
            return swallow and kind is ValueError

    try:
        with Manager("a") as a, Manager("b") as b:
            order.append(a + b)
            if fail:
                raise fail("inside")
        order.append("after")
    except Exception as error:
        order.append(type(error).__name__)
    return order


def generator_managers(fail):
    order = []

    @contextlib.contextmanager
    def noted(name):
        order.append(name)
        try:
            yield name * 2
        except ValueError:
            order.append("caught")
        finally:
            order.append(name.upper())

    with contextlib.ExitStack() as stack, noted("a") as a:
        stack.callback(order.append, "callback")
        order.append(stack.enter_context(noted("b")) + a)
        if fail:
            raise ValueError
    with contextlib.suppress(KeyError, IndexError):
        order.append("in")
        order.append([][0])
    with contextlib.nullcontext(3) as three:
        order.append(three)
    return order


def generators(n):
    def counted(start):
        received = []
        while start < 6:
            value = yield start
            received.append(value)
            start += value or 1
        return received

    def outer():
        result = yield from counted(n)
        yield ("returned", result)
        yield from (value * value for value in range(2))

    first = counted(n)
    steps = [next(first), first.send(2), next(first, "end"), next(first, "end")]
    return steps, list(outer())


def closed_generator(values):
    order = []

    def steps():
        try:
            for value in values:
                yield value
        except KeyError:
            order.append("thrown")
            yield "last"
        finally:
            order.append("closed")

    first, second = steps(), steps()
    order.append(next(first))
    first.close()
    order.append(next(second))
    order.append(second.throw(KeyError))
    order.append(next(second, None))
    return order


def unpacking(values):
    first, *middle, last = values
    (a, b), [*c] = [first, last], middle
    a, b = b, a
    values = list(values)
    index = 0
    index, values[index] = 1, "set"
    *_, second = first, last
    return a, b, c, values, index, second


def order_of_evaluation(n):
    order = []

    def noted(value):
        order.append(value)
        return value

    results = [
        noted(1) < noted(n) < noted(2) < noted(9),
        noted(0) or noted(5) and noted(6),
        noted(7) if noted(0) else noted(8),
        {noted("k"): noted("v"), **{noted("m"): 1}},
        [noted(3), *[noted(4)]][noted(0)],
    ]
    return results, order


def walrus(values):
    if (count := len(values)) > 2 and (top := max(values)) > 1:
        count += top
    return count, [double for value in values if (double := value * 2) > 2], double


def matching(value):
    match value:
        case []:
            return "empty"
        case [one]:
            return "one", one
        case [first, *rest] if len(rest) == 1:
            return "two", first, rest
        case {"a": inner, **more}:
            return "mapping", inner, more
        case int() | float() as number if number > 2:
            return "large", number
        case str(text):
            return "text", text
        case 1 | 2:
            return "small"
        case _:
            return "other"


def comprehensions(n):
    pairs = [(a, b) for a in range(n) if a != 1 for b in range(a, n) if (a + b) % 2 == 0]
    keys = {value % 2: value for value in range(n + 2)}
    nested = [[column * row for column in range(row)] for row in range(n)]
    unique = {value // 2 for value in range(n + 2)}
    flat = [value for row in nested for value in row]
    return pairs, keys, nested, sorted(unique), flat, sum(value for value in flat if value)


def deleted_names(n):
    value, deleted = n, [n]
    alias = deleted
    del deleted
    try:
        deleted.append(1)
    except UnboundLocalError:
        alias.append("unbound")
    alias.append(value)
    return alias


def asserted(value):
    try:
        assert value, f"no {value!r}"
        return "true"
    except AssertionError as error:
        return str(error)


def strict_zips(a, b):
    try:
        return list(zip(a, b, strict=True))
    except ValueError as error:
        return type(error).__name__


def shared_iterators(n):
    numbers = iter(range(8))
    pairs = list(zip(numbers, numbers))[:n]
    letters = iter("abcdef")
    head = list(itertools.islice(letters, 2))
    short = list(zip([1], letters))
    third = next(letters)
    counted = enumerate(letters, n)
    again = [next(counted), *letters, next(counted, "end")]
    return pairs, head, short, third, again


def called_until(n):
    values = [1, 2, n, 4, 5]
    taken = list(iter(lambda: values.pop(0), 3))
    return taken, values, next(iter([]), "none"), list(map(max, [1, 5, 9], [4, 2])), list(filter(None, [0, 1, "", n]))


def recursion(n):
    def factorial(value):
        return 1 if value <= 1 else value * factorial(value - 1)

    def even(value):
        return value == 0 or odd(value - 1)

    def odd(value):
        return value != 0 and even(value - 1)

    def flattened(value):
        return [leaf for item in value for leaf in flattened(item)] if isinstance(value, list) else [value]

    return factorial(n), even(n), odd(n), flattened([1, [n, [3, []]], 4])


ARGUMENTS: Mapping[Callable[..., Any], tuple[str, ...]] = {
    loop_with_else: (f"[{N}, 1, 2], 2", "range(4), 9", "'ab', 'a'", "[], 1"),
    while_with_else: (f"{N}, 9", "1, 100", "5, 2"),
    order_of_finally: ("[1, 2], 1", "[1], 3", "[1], 'a'", f"{{{N}: 4}}, 3", "{}, 1"),
    result_of_finally: (f"[0, {N}, 7]", "[-1, 1]"),
    cause_of_error: (f"[0, {N}]", "['', 'a']"),
    own_errors: (N, "1"),
    error_leaves_name: (N, "4"),
    managers: ("True, ValueError", "False, ValueError", "True, KeyError", "False, None"),
    generator_managers: ("True", "False"),
    generators: (N, "1", "5"),
    closed_generator: ("[1, 2]", f"({N}, 4)"),
    unpacking: (f"[{N}, 1, 2, 4]", "(1, 2)", "'abc'"),
    order_of_evaluation: (N, "1"),
    walrus: (f"[{N}, 1, 2]", "(1, 0)"),
    matching: ("[]", f"[{N}]", "(1, 2)", "{'a': 1, 'b': 2}", N, "'text'", "2", "None", "2.5", "[1, 2, 3]"),
    comprehensions: (N, "5"),
    deleted_names: (N, "4"),
    asserted: (N, "[]", "0.0", "''"),
    strict_zips: (f"[1, 2], [{N}, 4]", "[1], [1, 2]", "[1, 2], 'a'", "range(2), iter('abc')", "iter([]), []"),
    shared_iterators: (N, "2"),
    called_until: (N, "4"),
    recursion: (N, "4"),
}
"""Texts of arguments with which each function is called."""
