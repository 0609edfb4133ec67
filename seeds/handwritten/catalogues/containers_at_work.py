"""Lists, dictionaries, sets, tuples, ranges and closures that Python code builds its result with."""

import collections

import torch

SCALE = 1.5
OFFSETS = [1, 2, 3]


def program(x, options, names):
    kept = rows = [x]
    rows += (x + 1, x + 2)
    rows.extend(row * 2 for row in rows[:2])
    rows.insert(1, x - 1)
    rows[0:1] = [x * SCALE]
    popped = rows.pop(-2)
    for row in rows:
        if len(rows) < 7:
            rows.append(row * 0.5)
    numbers = list(range(10))[7:1:-2] + [*range(2, 12, 3)[1:]] + list(range(10)[-4:]) + list(reversed(range(3)))
    table = {name: x * i for i, name in enumerate(names)}
    table.setdefault("more", x + options.get("shift", 0.25))
    table["first"] = table.pop(names[0]) + len(table)
    merged = {**table, "extra": x * options["scale"]} | {"last": x.sum() if "flag" in options else x.mean()}
    count = (
        collections.Counter(numbers)[3] + collections.defaultdict(int, a=2)["b"] + len({1, 2} & {2, 3} | set(OFFSETS))
    )
    calls = 0

    def counted(t):
        nonlocal calls
        calls += 1
        return t * calls

    twice = counted(counted(x))
    ends = collections.deque([x], maxlen=2)
    ends.append(twice)
    ends.appendleft(popped)
    pairs = sorted(zip(names, OFFSETS, strict=False), key=lambda pair: -pair[1])
    star, *rest = (t + k for t, k in zip(reversed(rows), OFFSETS, strict=False))
    return (
        torch.stack(kept),
        numbers,
        merged,
        twice + calls + count,
        list(ends),
        pairs,
        star,
        rest,
        any(n > 8 for n in numbers),
    )


def inputs(rng):
    yield rng.normal(3), {"scale": 2, "shift": 0.5, "flag": 1}, ["a", "b", "c"]
