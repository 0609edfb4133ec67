"""Attributes, inheritance, special methods, data classes, enumerations, own containers. Imports no torch."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
from collections.abc import Callable, Mapping
from typing import Any

from eqfuzz.generate.catalogues.python.calls import N


def properties(n):
    class Box:
        limit = 5
        count = 0

        def __init__(self, value):
            self.value = value
            Box.count += 1

        @property
        def double(self):
            return self.value * 2

        @double.setter
        def double(self, value):
            self.value = min(value, self.limit) // 2

        @classmethod
        def of_two(cls, a, b):
            return cls(a + b)

        @staticmethod
        def name():
            return "box"

        @functools.cached_property
        def history(self):
            return [self.value]

    box, other = Box(n), Box.of_two(1, n)
    box.double = 9
    box.history.append(box.double)
    box.limit = 1
    return box.value, box.history, other.double, box.limit, Box.limit, Box.name(), Box.count, vars(other)


def special_attributes(n):
    class Open:
        def __init__(self):
            self.names = []

        def __getattr__(self, name):
            if name.startswith("no"):
                raise AttributeError(name)
            return name + "?"

        def __setattr__(self, name, value):
            object.__setattr__(self, name, [value] if name == "listed" else value)

        def __delattr__(self, name):
            self.names.append(name)
            object.__delattr__(self, name)

    one = Open()
    one.listed = n
    one.plain = n
    del one.plain
    has = [hasattr(one, name) for name in ("listed", "plain", "nothing")]
    return one.listed, one.plain, has, getattr(one, "none", 3), one.names


def descriptors(n):
    class Positive:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, instance, owner=None):
            return owner.__name__ if instance is None else getattr(instance, self.name, 0)

        def __set__(self, instance, value):
            setattr(instance, self.name, abs(value))

    class Owner:
        one = Positive()
        two = Positive()

    owner = Owner()
    owner.one = -n
    return owner.one, owner.two, Owner.one, sorted(vars(owner))


def order_of_bases(n):
    class Base:
        tag = "base"

        def names(self):
            return ["Base"]

        def __init_subclass__(cls, tag=None, **kwargs):
            super().__init_subclass__(**kwargs)
            if tag:
                cls.tag = tag

    class Left(Base, tag="left"):
        def names(self):
            return ["Left", *super().names()]

    class Right(Base):
        def names(self):
            return ["Right", *super().names(), self.tag]

    class Both(Left, Right):
        def names(self):
            return ["Both", *super().names()] * (n - 2)

    return Both().names(), [one.__name__ for one in Both.__mro__], Both.tag, Right().tag


def truth_of_objects(n):
    class Sized:
        def __init__(self, size):
            self.size = size

        def __len__(self):
            return self.size

    class Inverted(Sized):
        def __bool__(self):
            return self.size == 0

    class Plain:
        pass

    objects = [Sized(0), Sized(n), Inverted(0), Inverted(n), Plain(), None, 0.0, "", [0], {}]
    return [bool(one) for one in objects], [1 if one else 0 for one in objects], [not one for one in objects]


def comparing_objects(n):
    class Version:
        def __init__(self, *parts):
            self.parts = parts

        def __eq__(self, other):
            return isinstance(other, Version) and self.parts == other.parts

        def __hash__(self):
            return hash(self.parts)

        def __lt__(self, other):
            return self.parts < other.parts

    versions = [Version(1, n), Version(1, 2), Version(1, n), Version(0)]
    counts = {}
    for version in versions:
        counts[version] = counts.get(version, 0) + 1
    ordered = [one.parts for one in sorted(versions)]
    return list(counts.values()), ordered, max(versions).parts, versions.index(Version(1, 2)), Version(0) != versions[3]


def operators_of_objects(n):
    class Money:
        def __init__(self, value):
            self.value = value

        def __add__(self, other):
            if isinstance(other, Money):
                return Money(self.value + other.value)
            return NotImplemented

        def __radd__(self, other):
            return Money(self.value + other * 10)

        def __iadd__(self, other):
            self.value += 100
            return self

        def __neg__(self):
            return Money(-self.value)

        def __getitem__(self, index):
            if index > 2:
                raise IndexError(index)
            return self.value + index

        def __contains__(self, value):
            return value == 7

        def __call__(self, *args, factor=1):
            return self.value * factor + len(args)

        def __index__(self):
            return 2

    a, b = Money(1), Money(n)
    same = a
    a += b
    total = sum([a, b, Money(5)])
    results = [total.value, (-b).value, list(b), 7 in b, b[1] in [4], b(1, 2, factor=3), [4, 5, 6][b], same is a]
    try:
        results.append(b + "text")
    except TypeError:
        results.append("refused")
    return results


def iterating_objects(n):
    class Countdown:
        def __init__(self, start):
            self.start = start

        def __iter__(self):
            self.left = self.start
            return self

        def __next__(self):
            if self.left <= 0:
                raise StopIteration
            self.left -= 1
            return self.left

        def __reversed__(self):
            return iter(range(self.start))

    count = Countdown(n)
    first, *rest = count
    return first, rest, list(zip(count, "ab")), list(reversed(count)), 1 in count, max(count), dict(enumerate(count, 5))


def data_classes(n):
    @dataclasses.dataclass(order=True)
    class Point:
        x: int
        y: int = 2
        tags: list = dataclasses.field(default_factory=list, compare=False)

        def __post_init__(self):
            self.total = self.x + self.y

    a, b = Point(n), Point(n, tags=["t"])
    a.tags.append("own")
    moved = dataclasses.replace(a, y=7)
    return a == b, a < moved, b.tags, moved.tags is a.tags, dataclasses.asdict(moved), moved.total


def frozen_data(n):
    @dataclasses.dataclass(frozen=True)
    class Key:
        name: str
        size: int = 0

    table = {Key("a", n): 1, Key("b"): 2}
    table[Key("a", 3)] = 5
    try:
        Key("a").size = 4
        changed = True
    except dataclasses.FrozenInstanceError:
        changed = False
    return list(table.values()), changed, [field.name for field in dataclasses.fields(Key)]


def named_tuples(n):
    Pair = collections.namedtuple("Pair", ["left", "right"], defaults=[5])
    pair = Pair(n)
    left, right = pair._replace(left=1)
    return (
        tuple(pair),
        left,
        right,
        pair[-1],
        pair._asdict(),
        Pair._fields,
        pair == (n, 5),
        sorted([Pair(2, 1), Pair(1)]),
    )


def enumerations(n):
    class Color(enum.Enum):
        RED = 1
        GREEN = 2
        ALSO_RED = 1

    class Width(enum.IntEnum):
        SMALL = 1
        LARGE = 3

    class Permission(enum.Flag):
        READ = enum.auto()
        WRITE = enum.auto()

    names = [color.name for color in Color]
    both = Permission.READ | Permission.WRITE
    return (
        names,
        Color(2).name,
        Color["ALSO_RED"] is Color.RED,
        Width.LARGE + n,
        Width.SMALL < 2,
        Permission.READ in both,
        (both & ~Permission.READ).name,
        {Color.RED: "r"}.get(Color.ALSO_RED),
        Width(3).value,
    )


def checks_of_types(n):
    class Root:
        pass

    class Derived(Root, dict):
        pass

    one = Derived(a=n)
    return [
        isinstance(one, (int, Root)),
        isinstance(True, int),
        issubclass(Derived, dict),
        type(one) is dict,
        isinstance(one, collections.abc.Mapping),
        isinstance([], collections.abc.Sequence),
        isinstance("", collections.abc.Iterable),
        callable(one),
        callable(Derived),
        type(n)(2.9) if type(n) is int else 2,
        isinstance(n, int),
        type(one).__name__,
        one.__class__ is Derived,
    ]


def own_containers(n):
    class Doubling(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value * 2)

        def __missing__(self, key):
            return key * 3

    class Noisy(list):
        def append(self, value):
            super().append((value, len(self)))

        def __getitem__(self, index):
            return super().__getitem__(0)

    table = Doubling(a=1)
    table["b"] = n
    table.update(c=5)
    items = Noisy()
    items.append("x")
    items.append("y")
    items.extend("z")
    return table["b"], table["q"], table.get("q"), "q" in table, list(table.items()), items[1], list(items), len(items)


ARGUMENTS: Mapping[Callable[..., Any], tuple[str, ...]] = {
    properties: (N, "4"),
    special_attributes: (N, "4"),
    descriptors: (N, "4"),
    order_of_bases: (N, "4"),
    truth_of_objects: (N, "4"),
    comparing_objects: (N, "4"),
    operators_of_objects: (N, "4"),
    iterating_objects: (N, "2"),
    data_classes: (N, "4"),
    frozen_data: (N, "4"),
    named_tuples: (N, "4"),
    enumerations: (N, "4"),
    checks_of_types: (N, "4"),
    own_containers: (N, "4"),
}
"""Texts of arguments with which each function is called."""
