"""Feedback: novelty counts once, rewarded arms are drawn more, the corpus can be reduced."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.campaign.feedback.bandit import DISCOUNT, Bandit
from eqfuzz.campaign.feedback.novelty import ArmResult, ReachedFeatures, arm_results, corpus_entries, smallest_cover
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Arm, CorpusEntry, Item


def item(number: int = 0, source: str = "template:a") -> Item:
    return Item(1, number, f"digest{number}", f"seed{number}.py", {"source": source, "config": "inductor"})


def outcome(**changes: object) -> Outcome:
    return Outcome.model_validate({"state": "done", "cells": 3, "cpu_seconds": 2.0, **changes})


def entry(program: str, features: set[int], cost: float = 1.0) -> CorpusEntry:
    return CorpusEntry(program, f"{program}.py", program, {}, (), frozenset(features), cost)


def test_feature_counts_for_the_first_item():
    reached = ReachedFeatures({1}, {}, set())
    first = reached.add_outcome(item(0), outcome(features={"0": [1, 2], "1": [2, 3]}), "cpu")
    again = reached.add_outcome(item(1), outcome(features={"0": [1, 2, 3]}), "cpu")
    assert first.features == {0: {2}, 1: {3}}
    assert first.reward == 2
    assert again.reward == 0
    assert not again.features


def test_lines_and_buckets_count_once():
    reached = ReachedFeatures(set(), {"a.py": b"\x06"}, {"old"})
    result = outcome(lines={"a.py": "e", "b.py": "1"}, buckets=["old", "new"])
    added = reached.add_outcome(item(), result, "cells")
    assert (added.lines, added.buckets, added.cost) == (2, 1, 3.0)
    assert reached.line_count() == 4
    assert reached.bitmaps()["a.py"] == b"\x0e"
    assert reached.add_outcome(item(), result, "cells").reward == 0


def test_the_seed_and_the_variants_that_reach_something_enter_the_corpus():
    result = outcome(features={"0": [1], "2": [2]}, rules={"1": ["x/a"], "2": ["y/b"]}, texts={"2": "ab12"})
    one = ReachedFeatures(set(), {}, set()).add_outcome(item(), result, "cpu")
    entries = corpus_entries(one, result)
    assert [(e.program, e.name, e.rules) for e in entries] == [
        ("digest0", "seed0.py", ()),
        ("ab12", "corpus/ab12.py", ("y/b",)),
    ]


def test_arms_are_rewarded_for_new_features():
    reached = ReachedFeatures(set(), {}, set())
    rich = outcome(features={"0": [1, 2], "1": [3]}, rules={"1": ["forms/a"], "2": ["layout/b"]})
    poor = outcome(features={"0": [1]}, cpu_seconds=6.0)
    outcomes = [rich, poor]
    yields = [
        reached.add_outcome(item(0, "template:a"), rich, "cpu"),
        reached.add_outcome(item(1, "template:b"), poor, "cpu"),
    ]
    arms = arm_results(yields, outcomes)
    reward_a, cost_a, _ = arms["source", "template:a"]
    reward_b, cost_b, _ = arms["source", "template:b"]
    assert reward_a > reward_b == 0
    assert (cost_a, cost_b) == (0.5, 1.5)
    assert arms["rules", "forms"][0] > arms["rules", "layout"][0] == 0
    assert arms["config", "inductor"][2] == 2


def test_rewarded_arm_is_drawn_more_and_new_arm_is_explored():
    bandit = Bandit([Arm("source", "good", 9.0, 10.0, 10), Arm("source", "bad", 3.0, 10.0, 10)])
    rng = random.Random(1)
    drawn = Counter(bandit.choose("source", ["good", "bad", "never"], rng) for _ in range(1000))
    assert drawn["good"] > 3 * drawn["bad"] > 0
    assert drawn["never"] > drawn["bad"]


def test_rewards_are_discounted():
    bandit = Bandit([Arm("source", "a", 2.0, 4.0, 5)]).updated(
        {("source", "b"): ArmResult(reward=1.0, cost=1.0, pulls=1)}
    )
    assert bandit.arms == (Arm("source", "a", 2 * DISCOUNT, 4 * DISCOUNT, 5), Arm("source", "b", 1.0, 1.0, 1))


def test_the_same_draws_choose_the_same():
    bandit = Bandit([Arm("source", "a", 2.0, 4.0, 5)])
    ranked = [bandit.rank("source", ["a", "b", "c"], random.Random(7)) for _ in range(2)]
    assert ranked[0] == ranked[1]
    assert sorted(ranked[0]) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="nothing to choose"):
        bandit.choose("source", [], random.Random(7))


@given(st.lists(st.tuples(st.sets(st.integers(0, 20), min_size=1), st.floats(0.1, 10)), max_size=12))
def test_the_smallest_cover_reaches_everything_with_no_more_programs(given_entries):
    corpus = [entry(f"p{n}", features, cost) for n, (features, cost) in enumerate(given_entries)]
    chosen = smallest_cover(corpus)
    assert set().union(*(e.features for e in chosen)) == set().union(*(e.features for e in corpus))
    assert [e for e in corpus if e in chosen] == chosen
    assert len(chosen) <= len(corpus)


def test_the_smallest_cover_prefers_what_is_cheap():
    dear, cheap = entry("dear", {1, 2}, 10.0), entry("cheap", {1, 2}, 1.0)
    assert smallest_cover([dear, cheap]) == [cheap]
