"""What is left does it, nothing of it can be spared, and nothing is asked twice."""

from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.triage.reduce.ddmin import ddmin


@given(size=st.integers(1, 12), needed=st.sets(st.integers(0, 11), min_size=1, max_size=4))
def test_exactly_the_needed_items_are_left(size, needed):
    needed = {n for n in needed if n < size} or {0}
    queries: list[tuple[int, ...]] = []

    def is_failing(chosen: tuple[int, ...]) -> bool:
        queries.append(chosen)
        return needed <= set(chosen)

    assert ddmin(range(size), is_failing) == tuple(sorted(needed))
    assert len(queries) == len(set(queries))


@given(size=st.integers(1, 8), subsets=st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1, max_size=4))
def test_result_is_minimal(size, subsets):
    """Also where more does not always do it."""
    good = {tuple(sorted(s & set(range(size)))) for s in subsets} | {tuple(range(size))}
    left = ddmin(range(size), lambda chosen: chosen in good)
    assert left in good
    assert not any(tuple(x for x in left if x != out) in good for out in left) or len(left) == 1


def test_items_that_do_not_fail_are_returned_unchanged():
    assert ddmin("abc", lambda _: False) == ("a", "b", "c")
    assert ddmin("", lambda _: True) == ()
