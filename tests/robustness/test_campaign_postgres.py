"""Campaigns on a real PostgreSQL server: shared by several processes, and gone for a while."""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from eqfuzz.campaign.store.database import Database
from eqfuzz.campaign.store.errors import StoreError
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import EpochResult, Item, Lease, StoredFinding
from eqfuzz.campaign.store.retries import StoreRetrier
from eqfuzz.campaign.store.store import Store
from eqfuzz.run.processes.process_tree import children_of
from tests.robustness.campaigns import (
    PRETENDED,
    Kept,
    Pretending,
    Running,
    assert_same,
    configured,
    stored_state,
    undamaged,
)
from tests.robustness.postgres import Postgres
from tests.unit.campaign.test_campaign_store import (  # noqa: F401 - collected here, they get the store below
    test_an_epoch_is_added_once,
    test_campaign_is_created_once_per_name,
    test_campaigns_share_no_items,
    test_completed_item_is_stored_with_its_findings,
    test_completion_can_be_retried,
    test_epoch_is_committed_once_with_its_result,
    test_failed_lease_counts_as_attempt,
    test_finding_has_the_earliest_epoch,
    test_invalid_seeds_are_listed_up_to_an_epoch,
    test_items_are_leased_once_and_in_order,
    test_leases_expire_without_heartbeats,
    test_problems_are_listed,
    test_released_lease_does_not_count_as_attempt,
    test_stored_finding_is_not_overwritten,
    test_symptoms_of_originals_are_listed_by_digest,
    test_threads_never_lease_the_same_item,
    test_unknown_leases_are_released,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres() as started:
        yield started


@pytest.fixture
def url(server: Postgres) -> str:
    return server.database(f"d{time.monotonic_ns()}")


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    with Store.open(url, tmp_path / "store") as opened:
        yield opened


def test_concurrent_connections_migrate_the_database_once(url: str) -> None:
    def opened() -> None:
        Database(url).close()

    threads = [threading.Thread(target=opened) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)


class Claiming:
    """A process that plans, claims, finishes and settles the items of several campaigns until all are done."""

    def __init__(self, url: str, folder: Path, campaigns: list[int], epochs: int, size: int, number: int) -> None:
        self.store = Store.open(url, folder)
        self.campaigns, self.epochs, self.size = campaigns, epochs, size
        self.worker = f"here/{number}/1"
        self.rng = random.Random(number)
        self.trouble: list[str] = []
        self.retry = StoreRetrier(self.take_error, threading.Event())

    def run(self) -> tuple[list[int], list[str]]:
        """The cases done, and what the database was not able to do at once."""
        done: list[int] = []
        left = list(self.campaigns)
        while left:
            campaign = self.rng.choice(left)
            claim = self.retry(self.store.items.lease, campaign, self.worker)
            if claim is None:
                if self.go_on(campaign):
                    left.remove(campaign)
                continue
            ids = self.rng.sample(range(20), 3)
            findings = [StoredFinding(f"f{n}", "wrong-result", "f", "b", "", "s.py", claim.item.epoch, {}) for n in ids]
            assert self.retry(self.finish, claim, findings)
            done.append(claim.case)
            if self.rng.random() < 0.02:
                self.retry(self.store.items.heartbeat, self.worker, "here", os.getpid(), time.time())
                self.retry(self.store.items.release_expired, time.time(), 3600.0)
        return done, self.trouble

    def finish(self, claim: Lease, findings: list[StoredFinding]) -> bool:
        return self.store.items.complete(claim, Outcome(state="done"), findings, time.time())

    def go_on(self, campaign: int) -> bool:
        """Settle and plan; whether all is done."""
        stored = next(one for one in self.store.campaigns() if one.id == campaign)
        if (
            stored.committed < stored.planned
            and self.store.items.results_of_epoch(campaign, stored.committed + 1) is not None
        ):
            features = dict.fromkeys(self.rng.sample(range(10**6), 50), 0)
            settlement = EpochResult(features, (), (), {"a.py": b"\x01"}, {})
            self.retry(self.store.commit_epoch, campaign, stored.committed + 1, settlement)
        elif stored.planned < self.epochs:
            epoch = stored.planned + 1
            planned = [Item(epoch, n, "d", f"s{n}.py", {}) for n in range(self.size)]
            self.retry(self.store.items.add_epoch, campaign, epoch, planned)
        return stored.committed == self.epochs

    def take_error(self, error: StoreError | None, seconds: float) -> None:
        if error is not None:
            self.trouble.append(str(error))


def test_stores_without_a_common_folder_share_programs(url: str, tmp_path: Path) -> None:
    text = "x = 1  # \udc80\x00\n"
    with Store.open(url, tmp_path / "here") as here, Store.open(url, tmp_path / "there") as there:
        digest = here.put_program(text)
        assert here.put_program(text) == digest
        assert there.program(digest) == text == there.program(digest)
        with pytest.raises(StoreError, match="No such file"):
            there.program("0" * 32)


def claim_all(arguments: tuple[Any, ...]) -> tuple[list[int], list[str]]:
    return Claiming(*arguments).run()


@pytest.mark.parametrize("claims", [400, pytest.param(10_000, marks=pytest.mark.long)])
def test_four_processes_lease_every_item_of_two_campaigns_once(
    server: Postgres, url: str, tmp_path: Path, claims: int
) -> None:
    epochs = 10
    with Store.open(url, tmp_path) as store:
        campaigns = [store.open_campaign(name, 0, {}, {}, 0.0).id for name in ("one", "other")]
        size = claims // len(campaigns) // epochs
        before = server.log().count("deadlock detected")
        with multiprocessing.get_context("spawn").Pool(4) as pool:
            arguments = [(url, tmp_path, campaigns, epochs, size, number) for number in range(4)]
            results = pool.map(claim_all, arguments)
        cases = [case for done, _ in results for case in done]
        assert len(cases) == len(set(cases)) == claims
        assert [line for _, trouble in results for line in trouble] == []
        assert server.log().count("deadlock detected") == before
        assert min(len(done) for done, _ in results) > 0
        for campaign in campaigns:
            assert store.state_counts(campaign) == {"open": 0, "claimed": 0, "done": claims // 2}
            assert len(store.findings(campaign)) == 20
            assert {finding.epoch for finding in store.findings(campaign)} <= {1, 2, 3}


CELLS = 100


def assert_ended_like(out: Path, url: str, undisturbed_like: Callable[[Kept], Kept]) -> None:
    whole = stored_state(out, PRETENDED, url)
    assert_same(whole, undisturbed_like(whole), timing=True)
    assert undamaged(out, PRETENDED, url) == []


def test_two_processes_share_a_campaign_and_its_budget(
    url: str, tmp_path: Path, undisturbed_like: Callable[[Kept], Kept]
) -> None:
    arguments = ("--db", url, "--slots", 2, "--seconds", 0.05)
    both = [Pretending(tmp_path, *arguments, cells=CELLS) for _ in range(2)]
    for running in both:
        running.ended()
    performed = (tmp_path / PRETENDED / "performed").read_text().split()
    assert len(performed) == len(set(performed)), "an item was done twice"
    events = both[0].events()
    stored = [event for event in events if event["event"] == "stored"]
    assert len(stored) == len({event["index"] for event in stored})
    assert [event["event"] for event in events].count("start") == 2
    assert_ended_like(tmp_path, url, undisturbed_like)
    with Store.open(url, tmp_path / "store") as store:
        assert not logging.getLogger("psycopg").isEnabledFor(logging.WARNING), "the store logs its errors"
        figures = store.curve(1)[-1]
        done = sum(outcome.cells for _, outcome in store.results_after(1, 0))
    assert figures["cells"] <= done < CELLS + 60, "the budget is for both together"


@pytest.mark.parametrize("away", [2.0, pytest.param(20.0, marks=pytest.mark.long)])
def test_campaign_waits_for_a_server_that_is_stopped(
    server: Postgres, url: str, tmp_path: Path, undisturbed_like: Callable[[Kept], Kept], away: float
) -> None:
    running = Pretending(tmp_path, "--db", url, "--slots", 2, "--seconds", 0.05, cells=CELLS)
    for number in (3, 12):
        running.wait_for("stored", number)
        server.stop()
        time.sleep(away)
        server.start()
    waited = running.ended()["waited"]
    assert "database gone" in waited, waited
    assert waited[-1] == "", waited
    assert_ended_like(tmp_path, url, undisturbed_like)


@pytest.mark.long
def test_campaign_survives_repeated_crashes_of_the_server(
    server: Postgres, url: str, tmp_path: Path, undisturbed_like: Callable[[Kept], Kept]
) -> None:
    """Crashes while it answers: what it did, or did not do, is found out."""
    running = Pretending(tmp_path, "--db", url, "--slots", 3, cells=CELLS)
    rng = random.Random(0)
    while running.process.poll() is None:
        time.sleep(rng.uniform(0.2, 1.0))
        server.stop()
        server.start()
    running.ended()
    assert_ended_like(tmp_path, url, undisturbed_like)


@pytest.mark.long
def test_campaign_waits_for_a_server_that_does_not_answer(
    server: Postgres, url: str, tmp_path: Path, undisturbed_like: Callable[[Kept], Kept]
) -> None:
    """SIGSTOP of all its processes: nothing is refused, nothing answers."""
    running = Pretending(tmp_path, "--db", url, "--slots", 2, "--seconds", 0.05, cells=CELLS)
    running.wait_for("stored", 3)
    stopped = [server.pid, *children_of(server.pid)]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(3.0)
    assert running.process.poll() is None
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    running.ended()
    assert_ended_like(tmp_path, url, undisturbed_like)


@pytest.mark.long
def test_two_commands_share_a_campaign_while_the_server_restarts(server: Postgres, url: str, tmp_path: Path) -> None:
    file = configured(tmp_path, cells=10)
    alone = Running(tmp_path / "alone", "night", "--file", file)
    assert alone.ended(1500) == 1, alone.errors
    both = [Running(tmp_path / name, "night", "--file", file, "--db", url) for name in ("a", "b")]
    assert both[0].wait_for(lambda event: event["event"] == "stored", 1500)
    server.stop()
    time.sleep(20)
    server.start()
    for running in both:
        assert running.ended(1500) == 1, running.errors
        assert "database gone" in [event["cause"] for event in running.events() if event["event"] == "waiting"]
    stored = [event["index"] for running in both for event in running.events() if event["event"] == "stored"]
    assert len(stored) == len(set(stored))
    shared, expected = stored_state(tmp_path / "a", "night", url), stored_state(tmp_path / "alone", "night")
    until = min(shared.epoch, expected.epoch)
    assert until > 0
    one, other = (
        stored_state(tmp_path / "a", "night", url, until),
        stored_state(tmp_path / "alone", "night", until=until),
    )
    assert_same(one, other, timing=True)
