"""Methods, operators and comprehensions of sets."""

import torch


def program(x):
    s = {1, 2, 3}
    t = s | {4}
    s.discard(1)
    combined = (
        s, t, s & t, t - s, s ^ t, len(s), {1} <= s, s.isdisjoint({9}), frozenset(t), {y * 2 for y in s},
        s.add(7) or s, s.update([8], (9,)) or s, s.remove(2) or s, s.difference_update({2}) or s,
        s.intersection_update({2}) or s, s.symmetric_difference_update({2, 9}) or s, s.union([5], [6]),
        s.intersection([2]),
    )
    compared = (
        s.difference([2]), s.symmetric_difference([2, 9]), s.issubset(t), t.issuperset(s), s < t, s == t, s != t,
        s.copy() == s, set("aab") == {"a", "b"}, frozenset([1]) == {1}, {1, True, 1.0}, s | frozenset([9]), 2 in s,
        min(s), sum(s), sorted(s, reverse=True), s.pop() + len(s), {frozenset([1])},
    )
    changed = (
        {1, 2} - {2} - {1}, not set(), set([1]) | set([2]), {*[1, 2], *{3}}, s.clear() or s, set(range(3)) >= {1},
        set.union({1}, {2}), repr({1}), isinstance(s, set), type(frozenset()).__name__, {x.ndim},
        {x.dtype}, x.dtype in {torch.float32}, {None, False},
    )
    return combined, compared, changed, x + 1


def inputs(rng):
    yield rng.normal(3)
    yield rng.normal(4)
