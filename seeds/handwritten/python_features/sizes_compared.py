"""Sizes compared, sorted, looked up, and used as conditions."""

import operator


def program(x):
    n = x.shape[0]
    ordered = (
        1 < n < 5, n == 3.0, max(n, 4, 2), min(n, 4), max([n, 2]), sorted([n, 1, 4]),
        sorted([n, 1, 4], reverse=True), sum([n, n]), all([n, 0]), any([0, n]), n in (3, 4),
        [4, n].index(n) if n in [4, n] else -1, (n, 2) < (n, 3),
    )
    chosen = (
        n != n, max(n, n + 1, key=lambda a: -a), min([n], default=0), max([], default=n), not n, n and 5, 0 or n,
        n if n > 3 else -n, n in {3: 1}, n in {3, 4}, {3: "a", 4: "b"}.get(n, "z"), [n, n] == [n, n], (n,) == (3,),
    )
    looked_up = (
        n is None, n in [i for i in range(9)], sorted([(n, 2), (1, n)]), sorted("cab", key=lambda c: n * ord(c)),
        [0, 1, 2, 3, 4, 5, 6, 7, 8][n], {n: 1}, {n: 1} == {3: 1}, {n, 3}, tuple(sorted({n, 9})), len({n, 3, 4}),
        [1, 2, 3].count(n), n.__eq__(3), n.__lt__(4),
    )
    counted = (
        operator.lt(n, 4), operator.index(n), n == True, (n > 3) + 1, (n > 3) * n, bool(n > 3), int(n > 3),
        (n > 3) & (n < 9), ~(n > 3), sum((n > i for i in range(9))), [n > 3], str(n > 3),
    )
    return ordered, chosen, looked_up, counted, x + 1


def inputs(rng):
    yield rng.normal(3)
    yield rng.normal(4)
    yield rng.normal(8)
