"""Functions of itertools, functools and operator, and iterators of containers."""

import collections
import functools
import itertools
import operator


def program(x):

    combined = (
        list(itertools.accumulate([1, 2, 3], operator.mul)), list(itertools.chain([1], [2])),
        list(itertools.product([1, 2], "ab")), list(itertools.product([0, 1], repeat=2)),
        list(itertools.combinations([1, 2, 3], 2)), list(itertools.combinations_with_replacement([1, 2], 2)),
        list(itertools.permutations([1, 2, 3], 2)), list(itertools.islice(itertools.count(3, 2), 3)),
        list(itertools.islice([1, 2, 3, 4], 1, None, 2)), list(itertools.zip_longest([1], [2, 3], fillvalue=0)),
        list(itertools.takewhile(lambda a: a < 3, [1, 2, 3, 1])),
        list(itertools.dropwhile(lambda a: a < 3, [1, 2, 3, 1])),
        [(k, list(g)) for k, g in itertools.groupby([1, 1, 2, 1])],
        [(k, list(g)) for k, g in itertools.groupby("AaB", key=str.lower)], list(itertools.starmap(pow, [(2, 3)])),
        list(itertools.compress("abc", [1, 0, 1])), list(itertools.pairwise([1, 2, 3])),
        list(itertools.repeat(1, 2)), list(itertools.filterfalse(None, [0, 1, 2])),
    )
    grouped = (
        next(itertools.cycle([5])), list(itertools.islice(itertools.cycle([1, 2]), 5)),
        [list(t) for t in itertools.tee([1, 2])], functools.reduce(operator.add, [x, x]),
        functools.reduce(operator.add, [1, 2], 10), list(itertools.accumulate([3, 1, 2], max, initial=0)),
        list(itertools.chain.from_iterable([[1], [2]])), functools.partial(operator.sub, 5)(2),
        functools.partial(operator.sub, 5).args, operator.itemgetter(1)([1, 2]), operator.itemgetter(1, 0)([1, 2]),
        operator.concat([1], [2]),
        operator.countOf([1, 1], 1), operator.indexOf([1, 2], 2), operator.contains([1], 1), operator.truth([]),
        operator.not_([]),
    )
    applied = (
        operator.is_(x, x), operator.xor(5, 3), operator.matmul(x, x), operator.pos(x), operator.iadd([1], [2]),
        operator.length_hint([1]), list(zip(*[(1, 2), (3, 4)])), list(map(str, range(3))), dict(enumerate("ab")),
        max(map(abs, [-3, 2])), sum(map(lambda a: a * a, range(3))), list(filter(lambda a: a > 1, range(3))),
        [*map(lambda a: a + 1, (1, 2))], list(zip(range(3), itertools.count())), list(enumerate(zip([1], [2]))),
        list(reversed([1, 2])), iter([1]).__next__(), list(iter(lambda c=iter([1, 2, 0]): next(c), 0)),
        sorted(itertools.chain([2], [1])),
    )
    counted = (
        collections.Counter("abca").most_common(1), collections.Counter("abca")["z"],
        collections.Counter(a=1) + collections.Counter(a=2),
        collections.Counter(a=3) - collections.Counter(a=2, b=1), sorted(collections.Counter("aab").elements()),
        collections.Counter("aab").total(), list(collections.OrderedDict(a=1, b=2)),
        list(collections.deque([1, 2, 3], maxlen=2)), collections.deque([1, 2]).maxlen,
        collections.defaultdict(int)["x"], dict(collections.defaultdict(list, a=1)),
        list(collections.ChainMap({"a": 1}, {"b": 2})), collections.namedtuple("P", "a b")(1, 2)._asdict(),
        collections.namedtuple("P", "a b")._fields,
        collections.OrderedDict(a=1, b=2) == collections.OrderedDict(b=2, a=1),
        collections.OrderedDict(a=1) == {"a": 1},
    )
    return combined, grouped, applied, counted, x + 1


def inputs(rng):
    yield rng.normal(3)
    yield rng.normal(4)
