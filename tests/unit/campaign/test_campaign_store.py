"""The store on SQLite: items are leased once, writes are atomic, everything is read back."""

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
from eqfuzz.campaign.store.errors import StoreError, StoreUnavailable
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Arm, CorpusEntry, EpochResult, Item, ItemOptions, Lease, StoredFinding
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/campaigns.db", tmp_path / "store") as opened:
        yield opened


def items(store: Store, epoch: int, number: int = 3) -> list[Item]:
    digest = store.put_program("def f(x):\n    return x\n")
    options = ItemOptions(seed=epoch)
    return [Item(epoch, n, digest, f"seed{n}.py", {"source": "folder:s"}, options) for n in range(number)]


def open_campaign(store: Store, name: str = "night") -> int:
    return store.open_campaign(name, 7, {"depth": 4}, {"torch": "2"}, 1.0).id


def finding(name: str) -> StoredFinding:
    return StoredFinding(name, "wrong-values", "f1", "b1", "", "seed0.py", 1, {"event": "finding"})


def leased(store: Store, campaign: int, worker: str = "h/1/1") -> Lease:
    lease = store.items.lease(campaign, worker)
    assert lease is not None
    return lease


def test_migrations_create_the_tables_of_the_schema(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/a.db")
    with database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


def test_campaign_is_created_once_per_name(store: Store) -> None:
    first = store.open_campaign("night", 7, {"depth": 4}, {}, 1.0)
    again = store.open_campaign("night", 8, {"depth": 9}, {}, 2.0)
    assert again == first
    assert store.campaigns() == [first]
    assert store.campaign("day") is None


def test_items_are_leased_once_and_in_order(store: Store) -> None:
    campaign = open_campaign(store)
    planned = items(store, 1)
    assert store.items.add_epoch(campaign, 1, planned)
    claims = [leased(store, campaign) for _ in planned]
    assert [lease.item for lease in claims] == planned
    assert store.items.lease(campaign, "h/2/2") is None
    assert store.state_counts(campaign) == {"open": 0, "claimed": 3, "done": 0}


def test_an_epoch_is_added_once(store: Store) -> None:
    campaign = open_campaign(store)
    assert store.items.add_epoch(campaign, 1, items(store, 1))
    assert not store.items.add_epoch(campaign, 1, items(store, 1))
    assert not store.items.add_epoch(campaign, 3, items(store, 3))
    assert store.state_counts(campaign)["open"] == 3


def test_threads_never_lease_the_same_item(store: Store) -> None:
    campaign = open_campaign(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 120))

    retry = StoreRetrier(lambda error, seconds: None, threading.Event())

    def claim_all(worker: int) -> list[int]:
        cases: list[int] = []
        while (lease := retry(store.items.lease, campaign, f"h/{worker}/1")) is not None:
            cases.append(lease.case)
            assert retry(store.items.complete, lease, Outcome(state="done"), [], 1.0)
        return cases

    with ThreadPoolExecutor(4) as pool:
        cases = [case for cases_of_worker in pool.map(claim_all, range(4)) for case in cases_of_worker]
    assert sorted(cases) == sorted(set(cases))
    assert len(cases) == 120


def test_completed_item_is_stored_with_its_findings(store: Store) -> None:
    campaign = open_campaign(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    lease = leased(store, campaign)
    outcome = Outcome(state="done", cells=5)
    assert store.items.results_of_epoch(campaign, 1) is None
    assert store.items.complete(lease, outcome, [finding("b"), finding("a")], 3.0)
    assert store.items.complete(lease, outcome, [finding("c")], 4.0), "it is done: the answer may have been lost"
    assert store.items.results_of_epoch(campaign, 1) == [(lease.item, outcome)]
    assert store.results_after(campaign, 0) == [(lease.item, outcome)]
    assert [stored.id for stored in store.findings(campaign)] == ["a", "b"]


def test_stored_finding_is_not_overwritten(store: Store) -> None:
    campaign = open_campaign(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 2))
    for seed in ("first.py", "second.py"):
        one = dataclasses.replace(finding("a"), seed=seed)
        assert store.items.complete(leased(store, campaign), Outcome(state="done"), [one], 3.0)
    assert [stored.seed for stored in store.findings(campaign)] == ["first.py"]


def test_finding_has_the_earliest_epoch(store: Store) -> None:
    campaign = open_campaign(store)
    for epoch in (1, 2):
        store.items.add_epoch(campaign, epoch, items(store, epoch, 1))
    earlier, later = leased(store, campaign), leased(store, campaign)
    assert store.items.complete(later, Outcome(state="done"), [dataclasses.replace(finding("a"), epoch=2)], 1.0)
    assert [stored.epoch for stored in store.findings(campaign)] == [2]
    assert store.items.complete(earlier, Outcome(state="done"), [finding("a")], 2.0)
    assert [stored.epoch for stored in store.findings(campaign)] == [1]


def test_completion_can_be_retried(store: Store) -> None:
    campaign = open_campaign(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    lease = leased(store, campaign)
    assert store.items.complete(lease, Outcome(state="done"), [finding("a")], 1.0)
    assert store.items.complete(lease, Outcome(state="invalid"), [finding("b")], 2.0)
    assert not store.items.complete(dataclasses.replace(lease, worker="h/2/1"), Outcome(state="done"), [], 3.0)
    assert store.items.results_of_epoch(campaign, 1) == [(lease.item, Outcome(state="done"))]
    assert [stored.id for stored in store.findings(campaign)] == ["a"]


def test_unknown_leases_are_released(store: Store) -> None:
    campaign = open_campaign(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 2))
    heard, unheard = leased(store, campaign), leased(store, campaign)
    assert store.items.release_unknown("h/1/1", {heard.case}) == 1
    assert leased(store, campaign, "h/2/1").case == unheard.case
    assert store.items.complete(heard, Outcome(state="done"), [], 1.0)


def test_released_lease_does_not_count_as_attempt(store: Store) -> None:
    campaign = open_campaign(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    lease = leased(store, campaign, "h/1/1")
    assert store.workers(campaign) == ["h/1/1"]
    assert store.items.release_worker("h/1/1") == 1
    assert not store.items.complete(lease, Outcome(state="done"), [], 1.0), "the lease was released"
    assert leased(store, campaign, "h/2/1").attempt == 1


def test_failed_lease_counts_as_attempt(store: Store) -> None:
    campaign = open_campaign(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    lease = leased(store, campaign)
    assert store.items.fail(lease)
    assert not store.items.fail(lease)
    assert leased(store, campaign).attempt == 2


def test_leases_expire_without_heartbeats(store: Store) -> None:
    campaign = open_campaign(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 2))
    silent, alive = leased(store, campaign, "h/1/1"), leased(store, campaign, "h/2/1")
    store.items.heartbeat("h/1/1", "h", 1, 100.0)
    store.items.heartbeat("h/2/1", "h", 2, 100.0)
    store.items.heartbeat("h/2/1", "h", 2, 150.0)
    assert store.items.release_expired(161.0, 60.0) == 1
    assert leased(store, campaign).case == silent.case
    assert not store.items.complete(silent, Outcome(state="done"), [], 1.0)
    assert store.items.complete(alive, Outcome(state="done"), [], 1.0)


def test_epoch_is_committed_once_with_its_result(store: Store) -> None:
    campaign = open_campaign(store)
    store.items.add_epoch(campaign, 1, items(store, 1, 1))
    store.items.complete(leased(store, campaign), Outcome(state="done"), [], 1.0)
    entry = CorpusEntry("ab", "seed0.py", "cd", {"source": "s"}, ("r/a",), frozenset({2**62, 5}), 1.5)
    arm = Arm("source", "folder:s", 1.0, 2.0, 3)
    result = EpochResult({5: 0, 2**62: 0}, (entry,), (arm,), {"a.py": b"\x06"}, {"epoch": 1, "cells": 2})
    assert store.commit_epoch(campaign, 1, result)
    assert not store.commit_epoch(campaign, 1, result)
    assert store.features(campaign) == {5, 2**62}
    assert store.corpus(campaign) == [entry]
    assert store.arms(campaign) == [arm]
    assert store.lines(campaign) == {"a.py": b"\x06"}
    assert store.curve(campaign) == [{"epoch": 1, "cells": 2}]
    stored = store.campaign("night")
    assert stored is not None
    assert (stored.planned, stored.committed) == (1, 1)


def test_campaigns_share_no_items(store: Store) -> None:
    one, other = open_campaign(store, "one"), open_campaign(store, "other")
    store.items.add_epoch(one, 1, items(store, 1))
    assert store.items.lease(other, "h/1/1") is None
    assert store.items.draw_counts(other) == {}
    assert store.items.draw_counts(one) == {"seed0.py": 1, "seed1.py": 1, "seed2.py": 1}


def test_invalid_seeds_are_listed_up_to_an_epoch(store: Store) -> None:
    campaign = open_campaign(store)
    for epoch in (1, 2):
        store.items.add_epoch(campaign, epoch, items(store, epoch, epoch))
    for state in ("invalid", "done", "lost"):
        store.items.complete(leased(store, campaign), Outcome(state=state), [], 1.0)
    assert store.items.invalid_seeds(campaign, 1) == {"seed0.py"}
    assert store.items.invalid_seeds(campaign, 2) == {"seed0.py", "seed1.py"}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 2**70)), max_size=3))
def test_lines_of_epochs_are_joined(tmp_path_factory: pytest.TempPathFactory, epochs: list[dict[str, int]]) -> None:
    folder = tmp_path_factory.mktemp("store")
    with Store.open(f"sqlite:///{folder}/c.db", folder / "s") as store:
        campaign = open_campaign(store)
        whole: dict[str, int] = {}
        for epoch, lines in enumerate(epochs, 1):
            bitmaps = {file: bits.to_bytes(9, "little") for file, bits in lines.items()}
            assert store.commit_epoch(campaign, epoch, EpochResult({}, (), (), bitmaps, {}))
            whole = {file: whole.get(file, 0) | lines.get(file, 0) for file in {*whole, *lines}}
        joined = {file: int.from_bytes(bitmap, "little") for file, bitmap in store.lines(campaign).items()}
        assert joined == {file: bits for file, bits in whole.items() if bits}


def test_program_is_stored_by_digest(store: Store) -> None:
    text = "x = 'é'\n"
    digest = store.put_program(text)
    assert store.put_program(text) == digest
    assert store.program(digest) == text
    store.program_file(digest).write_text("other")
    with pytest.raises(StoreError, match="is not what was stored"):
        store.program(digest)


def test_problems_are_listed(store: Store) -> None:
    campaign = open_campaign(store)
    planned = items(store, 1, 1)
    store.items.add_epoch(campaign, 1, planned)
    assert store.problems(campaign) == []
    store.program_file(planned[0].program).write_text("other")
    [problem] = store.problems(campaign)
    assert "is not what was stored" in problem
    store.commit_epoch(campaign, 1, EpochResult({}, (), (), {}, {}))
    assert any("not all of their items are done" in line for line in store.problems(campaign))


def test_locked_database_is_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqfuzz.campaign.store.database.BUSY_SECONDS", 0.05)
    with Store.open(f"sqlite:///{tmp_path}/c.db", tmp_path / "s") as store:
        campaign = open_campaign(store)
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

        lease = StoreRetrier(report, threading.Event())(store.items.lease, campaign, "h/1/1")
        assert lease is not None
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
    ("url", "message"),
    [
        ("nonsense", "not the URL"),
        ("mysql://me:secret@host/db", "mysql is not supported"),
        ("sqlite://", "needs a file"),
        ("postgresql://me:secret@127.0.0.1:1/db", "127.0.0.1"),
    ],
)
def test_message_about_a_database_hides_the_password(url: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as raised:
        Database(url)
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_other_file_is_refused_as_database(tmp_path: Path) -> None:
    (tmp_path / "c.db").write_text("this is not a database, but it is long enough to be looked at as one" * 20)
    with pytest.raises(StoreError, match="not a database"):
        Database(f"sqlite:///{tmp_path}/c.db")


def test_symptoms_of_originals_are_listed_by_digest(store: Store) -> None:
    campaign = open_campaign(store)
    planned = items(store, 1, 2)
    store.items.add_epoch(campaign, 1, planned)
    symptom = ("cpu", "inductor", "wrong-result", "output[0]")
    for symptoms in ((symptom,), ()):
        outcome = Outcome(state="done", symptoms=symptoms)
        store.items.complete(leased(store, campaign), outcome, [], 1.0)
    assert store.items.symptoms(campaign, 0) == {}
    assert store.items.symptoms(campaign, 1) == {planned[0].program: {symptom}}
