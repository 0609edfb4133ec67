"""The store on SQLite: work handed out once, nothing half-written, everything there again."""

from __future__ import annotations

import dataclasses
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.campaign.store import schema
from eqfuzz.campaign.store.database import Database
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Arm, CorpusEntry, EpochResult, Item, ItemOptions, Lease, StoredFinding
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store, StoreError, StoreUnavailable


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/campaigns.db", tmp_path / "store") as opened:
        yield opened


def items(store: Store, epoch: int, number: int = 3) -> list[Item]:
    digest = store.put_program("def f(x):\n    return x\n")
    options = ItemOptions(seed=epoch)
    return [Item(epoch, n, digest, f"seed{n}.py", {"source": "folder:s"}, options) for n in range(number)]


def begun(store: Store, name: str = "night") -> int:
    return store.open_campaign(name, 7, {"depth": 4}, {"torch": "2"}, 1.0).id


def finding(name: str) -> StoredFinding:
    return StoredFinding(name, "wrong-values", "f1", "b1", "", "seed0.py", 1, {"event": "finding"})


def claimed(store: Store, campaign: int, worker: str = "h/1/1") -> Lease:
    claim = store.items.lease(campaign, worker)
    assert claim is not None
    return claim


def test_the_migrations_make_the_tables_that_are_used(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/a.db")
    with database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


def test_a_campaign_of_a_name_is_begun_once(store: Store) -> None:
    first = store.open_campaign("night", 7, {"depth": 4}, {}, 1.0)
    again = store.open_campaign("night", 8, {"depth": 9}, {}, 2.0)
    assert again == first
    assert store.campaigns() == [first]
    assert store.campaign("day") is None


def test_every_item_is_handed_out_once_and_in_order(store: Store) -> None:
    campaign = begun(store)
    planned = items(store, 1)
    assert store.items.add_epoch(campaign, 1, planned)
    claims = [claimed(store, campaign) for _ in planned]
    assert [claim.item for claim in claims] == planned
    assert store.items.lease(campaign, "h/2/2") is None
    assert store.items.state_counts(campaign) == {"open": 0, "claimed": 3, "done": 0}


def test_an_epoch_is_added_once(store: Store) -> None:
    campaign = begun(store)
    assert store.items.add_epoch(campaign, 1, items(store, 1))
    assert not store.items.add_epoch(campaign, 1, items(store, 1))
    assert not store.items.add_epoch(campaign, 3, items(store, 3))
    assert store.items.state_counts(campaign)["open"] == 3


def test_threads_never_claim_the_same_item(store: Store) -> None:
    campaign = begun(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 120))

    retry = StoreRetrier(lambda error, seconds: None, threading.Event())

    def claim_all(worker: int) -> list[int]:
        cases: list[int] = []
        while (claim := retry(store.items.lease, campaign, f"h/{worker}/1")) is not None:
            cases.append(claim.case)
            assert retry(store.items.complete, claim, Outcome(state="done"), [], 1.0)
        return cases

    with ThreadPoolExecutor(4) as pool:
        cases = [case for found in pool.map(claim_all, range(4)) for case in found]
    assert sorted(cases) == sorted(set(cases))
    assert len(cases) == 120


def test_what_is_finished_is_there_again_with_its_findings(store: Store) -> None:
    campaign = begun(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    claim = claimed(store, campaign)
    outcome = Outcome(state="done", cells=5)
    assert store.items.results_of_epoch(campaign, 1) is None
    assert store.items.complete(claim, outcome, [finding("b"), finding("a")], 3.0)
    assert store.items.complete(claim, outcome, [finding("c")], 4.0), "it is done: the answer may have been lost"
    assert store.items.results_of_epoch(campaign, 1) == [(claim.item, outcome)]
    assert store.items.outcomes_after(campaign, 0) == [outcome]
    assert [kept.id for kept in store.findings(campaign)] == ["a", "b"]


def test_a_finding_that_is_there_is_left_as_it_is(store: Store) -> None:
    campaign = begun(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 2))
    for seed in ("first.py", "second.py"):
        one = dataclasses.replace(finding("a"), seed=seed)
        assert store.items.complete(claimed(store, campaign), Outcome(state="done"), [one], 3.0)
    assert [kept.seed for kept in store.findings(campaign)] == ["first.py"]


def test_a_finding_is_of_the_earliest_epoch_that_made_it(store: Store) -> None:
    campaign = begun(store)
    for epoch in (1, 2):
        store.items.add_epoch(campaign, epoch, items(store, epoch, 1))
    earlier, later = claimed(store, campaign), claimed(store, campaign)
    assert store.items.complete(later, Outcome(state="done"), [dataclasses.replace(finding("a"), epoch=2)], 1.0)
    assert [kept.epoch for kept in store.findings(campaign)] == [2]
    assert store.items.complete(earlier, Outcome(state="done"), [finding("a")], 2.0)
    assert [kept.epoch for kept in store.findings(campaign)] == [1]


def test_an_answer_that_got_lost_is_given_again(store: Store) -> None:
    campaign = begun(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    claim = claimed(store, campaign)
    assert store.items.complete(claim, Outcome(state="done"), [finding("a")], 1.0)
    assert store.items.complete(claim, Outcome(state="invalid"), [finding("b")], 2.0)
    assert not store.items.complete(dataclasses.replace(claim, worker="h/2/1"), Outcome(state="done"), [], 3.0)
    assert store.items.results_of_epoch(campaign, 1) == [(claim.item, Outcome(state="done"))]
    assert [kept.id for kept in store.findings(campaign)] == ["a"]


def test_what_nobody_heard_of_is_handed_back(store: Store) -> None:
    campaign = begun(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 2))
    heard, unheard = claimed(store, campaign), claimed(store, campaign)
    assert store.items.release_unknown("h/1/1", {heard.case}) == 1
    assert claimed(store, campaign, "h/2/1").case == unheard.case
    assert store.items.complete(heard, Outcome(state="done"), [], 1.0)


def test_what_was_handed_back_was_not_attempted(store: Store) -> None:
    campaign = begun(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    claim = claimed(store, campaign, "h/1/1")
    assert store.items.workers(campaign) == ["h/1/1"]
    assert store.items.release_worker("h/1/1") == 1
    assert not store.items.complete(claim, Outcome(state="done"), [], 1.0), "it is nobody's now"
    assert claimed(store, campaign, "h/2/1").attempt == 1


def test_what_was_given_up_was_attempted(store: Store) -> None:
    campaign = begun(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    claim = claimed(store, campaign)
    assert store.items.fail(claim)
    assert not store.items.fail(claim)
    assert claimed(store, campaign).attempt == 2


def test_the_silent_lose_what_they_hold(store: Store) -> None:
    campaign = begun(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 2))
    silent, alive = claimed(store, campaign, "h/1/1"), claimed(store, campaign, "h/2/1")
    store.items.heartbeat("h/1/1", "h", 1, 100.0)
    store.items.heartbeat("h/2/1", "h", 2, 100.0)
    store.items.heartbeat("h/2/1", "h", 2, 150.0)
    assert store.items.release_expired(161.0, 60.0) == 1
    assert claimed(store, campaign).case == silent.case
    assert not store.items.complete(silent, Outcome(state="done"), [], 1.0)
    assert store.items.complete(alive, Outcome(state="done"), [], 1.0)


def test_an_epoch_is_settled_once_and_teaches(store: Store) -> None:
    campaign = begun(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    store.items.complete(claimed(store, campaign), Outcome(state="done"), [], 1.0)
    entry = CorpusEntry("ab", "seed0.py", "cd", {"source": "s"}, ("r/a",), frozenset({2**62, 5}), 1.5)
    arm = Arm("source", "folder:s", 1.0, 2.0, 3)
    settlement = EpochResult({5: 0, 2**62: 0}, (entry,), (arm,), {"a.py": b"\x06"}, {"epoch": 1, "cells": 2})
    assert store.commit_epoch(campaign, 1, settlement)
    assert not store.commit_epoch(campaign, 1, settlement)
    assert store.features(campaign) == {5, 2**62}
    assert store.corpus(campaign) == [entry]
    assert store.arms(campaign) == [arm]
    assert store.lines(campaign) == {"a.py": b"\x06"}
    assert store.curve(campaign) == [{"epoch": 1, "cells": 2}]
    found = store.campaign("night")
    assert found is not None
    assert (found.planned, found.committed) == (1, 1)


def test_campaigns_know_nothing_of_each_other(store: Store) -> None:
    one, other = begun(store, "one"), begun(store, "other")
    store.items.add_epoch(one, 1, items(store, 1))
    assert store.items.lease(other, "h/1/1") is None
    assert store.items.draw_counts(other) == {}
    assert store.items.draw_counts(one) == {"seed0.py": 1, "seed1.py": 1, "seed2.py": 1}


def test_seeds_that_are_none_are_known_up_to_an_epoch(store: Store) -> None:
    campaign = begun(store)
    for epoch in (1, 2):
        store.items.add_epoch(campaign, epoch, items(store, epoch, epoch))
    for state in ("invalid", "done", "lost"):
        store.items.complete(claimed(store, campaign), Outcome(state=state), [], 1.0)
    assert store.items.invalid_seeds(campaign, 1) == {"seed0.py"}
    assert store.items.invalid_seeds(campaign, 2) == {"seed0.py", "seed1.py"}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 2**70)), max_size=3))
def test_lines_are_joined(tmp_path_factory: pytest.TempPathFactory, epochs: list[dict[str, int]]) -> None:
    folder = tmp_path_factory.mktemp("store")
    with Store.open(f"sqlite:///{folder}/c.db", folder / "s") as store:
        campaign = begun(store)
        whole: dict[str, int] = {}
        for epoch, lines in enumerate(epochs, 1):
            bitmaps = {file: bits.to_bytes(9, "little") for file, bits in lines.items()}
            assert store.commit_epoch(campaign, epoch, EpochResult({}, (), (), bitmaps, {}))
            whole = {file: whole.get(file, 0) | lines.get(file, 0) for file in {*whole, *lines}}
        told = {file: int.from_bytes(bitmap, "little") for file, bitmap in store.lines(campaign).items()}
        assert told == {file: bits for file, bits in whole.items() if bits}


def test_a_program_is_kept_by_its_text(store: Store) -> None:
    text = "x = 'é'\n"
    digest = store.put_program(text)
    assert store.put_program(text) == digest
    assert store.program(digest) == text
    store.program_file(digest).write_text("other")
    with pytest.raises(StoreError, match="is not what was stored"):
        store.program(digest)


def test_problems_are_told(store: Store) -> None:
    campaign = begun(store)
    planned = items(store, 1, 1)
    store.items.add_epoch(campaign, 1, planned)
    assert store.problems(campaign) == []
    store.program_file(planned[0].program).write_text("other")
    [problem] = store.problems(campaign)
    assert "is not what was stored" in problem
    store.commit_epoch(campaign, 1, EpochResult({}, (), (), {}, {}))
    assert any("not all of their items are done" in line for line in store.problems(campaign))


def test_a_locked_database_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqfuzz.campaign.store.database._BUSY_SECONDS", 0.05)
    with Store.open(f"sqlite:///{tmp_path}/c.db", tmp_path / "s") as store:
        campaign = begun(store)
        store.items.add_epoch(campaign, 1, items(store, 1, 1))
        other = sqlite3.connect(tmp_path / "c.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable) as raised:
            store.items.lease(campaign, "h/1/1")
        assert raised.value.cause == "database locked"
        reports: list[str] = []

        def report(error: StoreError | None, seconds: float) -> None:
            reports.append(str(error))
            if error is not None:
                other.rollback()

        claim = StoreRetrier(report, threading.Event())(store.items.lease, campaign, "h/1/1")
        assert claim is not None
        assert ["locked" in line for line in reports] == [True, False]
        other.close()


def test_stopping_ends_retries() -> None:
    stop = threading.Event()
    stop.set()

    def fail() -> None:
        raise StoreUnavailable("disk full", "x")

    with pytest.raises(StoreUnavailable):
        StoreRetrier(lambda error, seconds: None, stop)(fail)


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/c.db"
    Database(url).close()
    with sqlite3.connect(tmp_path / "c.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="newer eqfuzz"):
        Database(url)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("nonsense", "not the URL"),
        ("mysql://me:secret@host/db", "mysql is not supported"),
        ("sqlite://", "needs a file"),
        ("postgresql://me:secret@127.0.0.1:1/db", "127.0.0.1"),
    ],
)
def test_a_database_that_cannot_be_used_is_told_without_its_password(url: str, told: str) -> None:
    with pytest.raises(StoreError, match=told) as raised:
        Database(url)
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_no_file_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "c.db").write_text("this is not a database, but it is long enough to be looked at as one" * 20)
    with pytest.raises(StoreError, match="not a database"):
        Database(f"sqlite:///{tmp_path}/c.db")


def test_what_originals_show_is_known_by_their_program(store: Store) -> None:
    campaign = begun(store)
    planned = items(store, 1, 2)
    store.items.add_epoch(campaign, 1, planned)
    symptom = ("cpu", "inductor", "wrong-result", "output[0]")
    for symptoms in ((symptom,), ()):
        outcome = Outcome(state="done", symptoms=symptoms)
        store.items.complete(claimed(store, campaign), outcome, [], 1.0)
    assert store.items.symptoms(campaign, 0) == {}
    assert store.items.symptoms(campaign, 1) == {planned[0].program: {symptom}}
