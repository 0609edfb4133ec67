"""A store's SQLite file read by Python's own driver: the same as through SQLAlchemy, where that may be done."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from eqfuzz.campaign.administration import description
from eqfuzz.campaign.invocation import STORE_FILE, InvocationOptions, open_reader, open_store
from eqfuzz.campaign.store import database
from eqfuzz.campaign.store.errors import StoreError, StoreUnavailable
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.reader import StoreReader
from eqfuzz.campaign.store.records import Arm, CorpusEntry, EpochResult, Item, ItemOptions, StoredFinding
from eqfuzz.campaign.store.sqlite_file import REVISION, SqliteFile
from eqfuzz.campaign.store.store import Store
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A campaign with a committed epoch, and another with a result, a leased and an open item."""
    verdict = Verdict(VerdictKind.WRONG_RESULT, "it differs", Evidence(path="output"))
    report = {"verdict": verdict.to_json()}
    with open_store(InvocationOptions(name="", out=tmp_path)) as store:
        campaign = store.open_campaign("night [bold]", 7, {"depth": 4}, {"torch": "2.15.0"}, 1.5).id
        digest = store.put_program("def f(x):\n    return x\n")
        for epoch, ids in ((1, ("b", "a")), (2, ("c",))):
            options = ItemOptions(seed=3, favoured=("shapes",), met=(("inductor", "hang"),))
            items = [Item(epoch, n, digest, f"seed{n}.py", {"source": "s", "config": "c"}, options) for n in range(3)]
            store.items.add_epoch(campaign, epoch, items)
            for id in ids:
                lease = store.items.lease(campaign, "host/1/1")
                assert lease is not None
                finding = StoredFinding(id, "wrong-result", "f1", "b1", "", "seed0.py", epoch, report)
                outcome = Outcome(state="done", cells=2, features={0: (5, 6)}, lines={"torch/a.py": "0f"}, reason="né")
                store.items.complete(lease, outcome, [finding], 2.0)
        store.items.lease(campaign, "host/1/1")
        entry = CorpusEntry(digest, "seed0.py", digest, {"source": "s"}, ("a/b",), frozenset({1, 2**62}), 0.5)
        arms = (Arm("source", "t", 0.5, 2.0, 3), Arm("config", "z", 1.0, 1.0, 1), Arm("config", "A", 1.0, 1.0, 1))
        point = {**_no_cells(), "epoch": 1, "features": 2, "lines": 3, "kept": 1, "seconds": 2.0}
        store.commit_epoch(campaign, 1, EpochResult({1: 0, 2**62: 1}, (entry,), arms, {"a.py": b"\x05\x00\x01"}, point))
        store.open_campaign("empty", 1, {}, {}, 3.0)
    return tmp_path


def _no_cells() -> dict[str, Any]:
    names = ("programs", "invalid", "errors", "lost", "sites", "variants", "cells", "erased", "peak_mb")
    return {**dict.fromkeys(names, 0), "verdicts": {}, "cpu_seconds": 1.0}


QUERIES: dict[str, Callable[[StoreReader], Any]] = {
    "campaigns": lambda store: store.campaigns(),
    "campaign": lambda store: [store.campaign(name) for name in ("night [bold]", "none")],
    "features": lambda store: store.features(1),
    "arms": lambda store: store.arms(1),
    "corpus": lambda store: store.corpus(1),
    "lines": lambda store: store.lines(1),
    "curve": lambda store: store.curve(1),
    "findings": lambda store: store.findings(1),
    "results": lambda store: store.results_after(1, 0),
    "states": lambda store: store.state_counts(1),
    "workers": lambda store: store.workers(1),
    "description": lambda store: [description(store, campaign) for campaign in store.campaigns()],
}


@pytest.mark.parametrize("query", QUERIES)
def test_file_is_read_as_through_sqlalchemy(out: Path, query: str):
    with open_reader(InvocationOptions(name="", out=out)) as reader:
        assert not isinstance(reader, Store)
        answer = QUERIES[query](reader)
    with open_store(InvocationOptions(name="", out=out)) as store:
        assert answer == QUERIES[query](store)
    assert answer


def test_revision_is_that_of_the_last_migration():
    config = Config()
    config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == REVISION


@pytest.mark.parametrize("revision", ["0001", "0002", None])
def test_file_of_an_earlier_version_is_migrated(tmp_path: Path, revision: str | None):
    connection = sqlite3.connect(tmp_path / STORE_FILE)
    connection.execute("CREATE TABLE unrelated (a)")
    connection.commit()
    connection.close()
    if revision is not None:
        _store_at(tmp_path, revision)
    with open_reader(InvocationOptions(name="", out=tmp_path)) as reader:
        assert isinstance(reader, Store)
        assert reader.campaigns() == []
    with SqliteFile(tmp_path / STORE_FILE) as file:
        assert file.is_current()


def _store_at(folder: Path, revision: str) -> None:
    """A store as a version of eqfuzz with that last migration makes it."""
    config = Config()
    config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations"))
    engine = sqlalchemy.create_engine(f"sqlite:///{folder / STORE_FILE}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_entries_of_an_earlier_version_are_read(tmp_path: Path, revision: str):
    _store_at(tmp_path, revision)
    with sqlite3.connect(tmp_path / STORE_FILE) as connection:
        connection.execute("INSERT INTO campaigns VALUES (1, 'c', 0, '{}', '{}', 0.0, 0, 0)")
        connection.execute("INSERT INTO corpus VALUES (1, 'd', 1, 'n.py', 'd', '{}', '[]', '[7]', 1.0)")
    with open_store(InvocationOptions(name="", out=tmp_path)) as store:
        (entry,) = store.corpus(1)
    assert (entry.features, entry.settings, entry.settings_digest) == (frozenset({7}), {}, "")


def test_file_of_a_newer_version_is_refused(out: Path):
    with sqlite3.connect(out / STORE_FILE) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with (
        pytest.raises(StoreError, match="newer eqfuzz"),
        open_reader(InvocationOptions(name="", out=out)),
    ):
        pass


def test_file_that_is_no_database_is_refused(tmp_path: Path):
    (tmp_path / STORE_FILE).write_text("not a database, but a text that is long enough to be looked at")
    with (
        pytest.raises(StoreError, match="not a database"),
        open_reader(InvocationOptions(name="", out=tmp_path)),
    ):
        pass


def test_locked_file_is_unavailable_for_a_while(out: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("eqfuzz.campaign.store.sqlite_file.BUSY_SECONDS", 0.01)
    with sqlite3.connect(out / STORE_FILE) as writer, SqliteFile(out / STORE_FILE) as file:
        writer.execute("PRAGMA locking_mode = EXCLUSIVE")
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable) as raised:
            file.rows("SELECT * FROM campaigns")
    assert raised.value.cause == "database locked"


def test_names_of_folders_are_no_part_of_urls(tmp_path: Path):
    folder = tmp_path / "a?mode=memory&b%41#"
    with open_store(InvocationOptions(name="", out=folder)) as store:
        store.open_campaign("night", 7, {}, {}, 1.0)
    with open_reader(InvocationOptions(name="", out=folder)) as reader:
        assert [campaign.name for campaign in reader.campaigns()] == ["night"]
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
