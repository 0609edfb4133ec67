"""Containers and their order, texts, numbers, copies, tensors in containers. Imports no torch."""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable, Mapping
from typing import Any

from eqfuzz.generate.catalogues.python.calls import N


def slices_in_place(values, n):
    values = list(values)
    alias = values
    values[1:2] = [10, 11, 12]
    del values[::n]
    values[:0] = "ab"
    values[-1:] = []
    try:
        values[::2] = [0]
    except ValueError:
        values.append("refused")
    values *= 2
    values += (1,)
    return values, alias is values, alias == values


def keys_in_order(n):
    table = {"a": 1, "b": 2, "c": n}
    table["a"] = table.pop("a")
    del table["b"]
    table["b"] = 5
    table["c"] = 6
    table.setdefault("d", []).append(1)
    table.setdefault("d", []).append(2)
    table |= {"z": 0, "c": 7}
    last = table.popitem()
    merged = {"b": 0, **table, "a": 9}
    return list(table), last, list(merged.items()), list(reversed(table)), next(iter(table)), {**table} == table


def views_of_keys(n):
    table = {"a": 1, "b": 2}
    keys, values, items = table.keys(), table.values(), table.items()
    table["c"] = n
    shared = keys & {"a", "c", "x"}
    return list(keys), list(values), len(items), sorted(shared), ("b", 2) in items, 3 in values, keys == {"a", "b", "c"}


def changed_while_iterated(values):
    values = list(values)
    seen = []
    for value in values:
        seen.append(value)
        if value == 2 and len(values) < 8:
            values.append(9)
            values.remove(1)
    table = dict.fromkeys(seen, 0)
    try:
        for key in table:
            table[key, 1] = 1
    except RuntimeError as error:
        seen.append(type(error).__name__)
    return seen, values


def formatted(n):
    value, name = 3.14159, "pi"
    return [
        f"{name}={value:.2f}",
        f"{n:>4}|{n:<4}|{n:^5}|{n:04d}",
        f"{name!r:>6}",
        f"{n:b} {255:#x} {1234567:,}",
        "{0} {1} {0}".format(n, name),
        "{a[1]} {b.real}".format(a=[1, 2], b=n),
        "%s %5.1f %-4s| %03d" % (name, value, "x", n),
        f"{'nested ' + f'{n}'}",
        f"{value:e} {0.5:%}",
    ]


def whole_numbers(n):
    return [
        -7 // n,
        -7 % n,
        divmod(-7, -n),
        7 // -n,
        pow(n, 5, 7),
        pow(2, -1, 5),
        round(2.5),
        round(-1.5),
        round(12345, -n),
        ~n << 2 | 1,
        -9 >> 1,
        int("-0b101", 0),
        int("z", 36),
        int(-3.9),
        (10**20 + n) % 7,
        n.bit_length(),
        int.from_bytes(b"\x01\x02", "little"),
        True + True,
        n**-1,
    ]


def floats(n):
    inf, nan = float("inf"), float("nan")
    return [
        inf - inf == inf - inf,
        nan in [nan],
        [nan] == [nan],
        max(nan, 1.0),
        max(1.0, nan),
        min(n, nan),
        sorted([3.0, -inf, n]),
        0.0 == -0.0,
        str(-0.0),
        divmod(-7.5, 2),
        -7.5 % 2,
        7.5 // -2,
        (2.5).is_integer(),
        (0.5).as_integer_ratio(),
        round(2.675, 2),
        1e16 + 1,
        sum([0.1] * 10) == 1,
        float("1_0.5"),
        hash(2.0) == hash(2),
        inf > 10**400,
    ]


def copies(n):
    inner = [n, 2]
    table = {"a": inner, "b": (inner, 1)}
    shallow, deep = copy.copy(table), copy.deepcopy(table)
    inner.append(5)
    shallow["c"] = 1
    return shallow, deep, deep["a"] is deep["b"][0], sorted(table), [1, [2]] * 2


def ordered_tables(n):
    table = collections.OrderedDict(a=1, b=2, c=n)
    table.move_to_end("a")
    table.move_to_end("c", last=False)
    first = table.popitem(last=False)
    other = collections.OrderedDict([("b", 2), ("a", 1)])
    same = collections.OrderedDict([("a", 1), ("b", 2)])
    return list(table), first, other == same, other == dict(same), list(reversed(table)), list(table | {"d": 4})


def queues(n):
    queue = collections.deque([1, 2, 3, 4], maxlen=4)
    queue.append(n)
    queue.appendleft(9)
    queue.rotate(1)
    queue.extendleft([7, 8])
    queue.rotate(-n)
    queue[1] = "one"
    queue.insert(0, "new") if len(queue) < 4 else queue.pop()
    unbounded = collections.deque("abc")
    unbounded.extendleft("xy")
    unbounded.remove("b")
    return list(queue), queue.maxlen, list(unbounded), unbounded.index("c"), unbounded.popleft(), list(reversed(queue))


def default_tables(n):
    groups = collections.defaultdict(list)
    for index, letter in enumerate("abca"):
        groups[letter].append(index)
    counts = collections.Counter("banana")
    counts.update("nn")
    counts.subtract({"a": n, "z": 1})
    missing = groups.get("q"), "q" in groups, groups["q"], "q" in groups
    total = counts + collections.Counter(a=1, n=1)
    return (
        dict(groups),
        missing,
        counts.most_common(2),
        dict(counts),
        dict(total),
        list(collections.Counter(b=2).elements()),
    )


def tensors_in_order(x, n):
    rows = [x, x * 2, x + n]
    rows.insert(1, rows.pop())
    table = {"last": rows[-1], "first": rows[0]}
    table["last"], table["first"] = table["first"], table["last"]
    queue = collections.deque(rows, maxlen=2)
    queue.rotate(1)
    by_shape = sorted([x.T, x, x[:1]], key=lambda one: one.shape)
    return rows, table, list(queue), [tuple(one.shape) for one in by_shape], x in [x], rows.index(rows[0])


def tensors_by_name(x, n):
    class State:
        total = None

        def __init__(self):
            self.parts = {}

        def add(self, **tensors):
            for name, tensor in tensors.items():
                self.parts[name] = self.parts.get(name, 0) + tensor
            self.total = sum(self.parts.values())
            return self

    state = State().add(a=x, b=x * n).add(b=x, c=-x)
    del state.parts["a"]
    return state.total, list(state.parts), state.parts["b"], State.total is None


def sizes_of_tensors(x, n):
    rows, columns = x.shape
    padded = x.new_zeros(rows + n, max(columns, n))
    padded[:rows, :columns] = x
    size = x.shape + (1,)
    return (
        padded,
        rows * columns // n,
        size[-1:],
        x.size(-1),
        x.shape[::-1],
        x.dim() if x.numel() > n else -1,
        len(x),
        [row.sum() for row in x],
        x.shape == (rows, columns),
        x.reshape(size).squeeze(-1).shape[0] == n,
    )


def text_methods(text):
    head, separator, tail = text.partition("-")
    return [
        text.split(),
        text.split("-", 1),
        text.rsplit("-", 1),
        (head, separator, tail),
        "-".join(reversed(text.split("-"))),
        text.strip(" x").title(),
        text.replace("a", "", 1),
        text.translate(str.maketrans({"a": "4", "b": None})),
        text.find("a", 2),
        text.count("a"),
        text.removeprefix("a").removesuffix("a"),
        text.zfill(9),
        text.isidentifier(),
        text.startswith(("b", "a")),
        text.splitlines(),
        text[::-2],
        text.encode()[1:3],
        text < "b",
        text.casefold() in text,
    ]


ARGUMENTS: Mapping[Callable[..., Any], tuple[str, ...]] = {
    slices_in_place: (f"range(6), {N}", "'abcd', 2"),
    keys_in_order: (N, "4"),
    views_of_keys: (N, "4"),
    changed_while_iterated: ("[1, 2, 3, 2]", f"[{N}, 1, 2]"),
    formatted: (N, "4"),
    whole_numbers: (N, "4"),
    floats: (N, "4"),
    copies: (N, "4"),
    ordered_tables: (N, "4"),
    queues: (N, "1"),
    default_tables: (N, "4"),
    tensors_in_order: ("${x}, " + N,),
    tensors_by_name: ("${x}, 2",),
    sizes_of_tensors: ("${x}, 2", "${x}, " + N),
    text_methods: ("'a-b-a c'", "'banana'", "' xX\\n-'"),
}
"""Texts of arguments with which each function is called."""
