"""What a store holds of its campaigns: queries that SQLite and PostgreSQL both answer, by whichever driver."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Protocol

from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Arm, Campaign, CorpusEntry, Item, ItemOptions, Json, StoredFinding

OPEN, CLAIMED, DONE = "open", "claimed", "done"


class Rows(Protocol):
    """A database that answers queries."""

    @property
    def place(self) -> str:
        """URL of the database, without the password."""
        ...

    def rows(self, query: str, **values: Any) -> list[Mapping[str, Any]]:
        """The rows that a query gives for its ``:names``, by the names of their columns. Raises StoreError."""
        ...


class StoreReader:
    """The campaigns of a store. Every method is one transaction. All raise StoreError."""

    def __init__(self, database: Rows) -> None:
        self._rows = database.rows
        self.place = database.place
        """URL of the database, without the password."""

    def campaign(self, name: str) -> Campaign | None:
        rows = self._rows("SELECT * FROM campaigns WHERE name = :name", name=name)
        return _campaign(rows[0]) if rows else None

    def campaigns(self) -> list[Campaign]:
        """All, the oldest first."""
        return [_campaign(row) for row in self._rows("SELECT * FROM campaigns ORDER BY id")]

    def features(self, campaign: int) -> set[int]:
        rows = self._rows("SELECT feature FROM features WHERE campaign = :campaign", campaign=campaign)
        return {row["feature"] for row in rows}

    def arms(self, campaign: int) -> list[Arm]:
        """In order of dimension and name."""
        rows = self._rows("SELECT * FROM arms WHERE campaign = :campaign", campaign=campaign)
        arms = [Arm(r["dimension"], r["name"], r["reward"], r["cost"], r["pulls"]) for r in rows]
        return sorted(arms, key=lambda arm: (arm.dimension, arm.name))

    def corpus(self, campaign: int) -> list[CorpusEntry]:
        """In order of insertion."""
        rows = self._rows("SELECT * FROM corpus WHERE campaign = :campaign", campaign=campaign)
        return [
            CorpusEntry(
                program=row["program"],
                name=row["name"],
                parent=row["parent"],
                arms=_decoded(row["arms"]),
                rules=tuple(_decoded(row["rules"])),
                features=frozenset(_decoded(row["features"])),
                cost=row["cost"],
                settings=_decoded(row["settings"]) if "settings" in row else {},  # stores of older versions have none
            )
            for row in sorted(rows, key=lambda row: row["position"])
        ]

    def lines(self, campaign: int) -> dict[str, bytes]:
        """Bitmaps of executed lines (bit n is line n, the least first) by file."""
        rows = self._rows("SELECT file, bitmap FROM lines WHERE campaign = :campaign", campaign=campaign)
        return {row["file"]: row["bitmap"] for row in rows}

    def curve(self, campaign: int) -> list[Json]:
        """One point per committed epoch."""
        rows = self._rows("SELECT point FROM curve WHERE campaign = :campaign ORDER BY epoch", campaign=campaign)
        return [_decoded(row["point"]) for row in rows]

    def findings(self, campaign: int) -> list[StoredFinding]:
        """In order of their first epoch and id."""
        names = [field.name for field in dataclasses.fields(StoredFinding)]
        rows = self._rows("SELECT * FROM findings WHERE campaign = :campaign", campaign=campaign)
        findings = [
            StoredFinding(**{**{name: row[name] for name in names}, "report": _decoded(row["report"])}) for row in rows
        ]
        return sorted(findings, key=lambda finding: (finding.epoch, finding.id))

    def results_after(self, campaign: int, epoch: int) -> list[tuple[Item, Outcome]]:
        """The completed items of epochs later than ``epoch`` in order, with their outcomes."""
        rows = self._rows(
            "SELECT epoch, number, program, name, arms, options, outcome FROM cases"
            " WHERE campaign = :campaign AND epoch > :epoch AND state = :state ORDER BY epoch, number",
            campaign=campaign,
            epoch=epoch,
            state=DONE,
        )
        return [(item_of(row), Outcome.model_validate(_decoded(row["outcome"]))) for row in rows]

    def state_counts(self, campaign: int) -> dict[str, int]:
        """Number of items that are ``open``, ``claimed`` (leased) and ``done``."""
        rows = self._rows(
            "SELECT state, COUNT(*) AS number FROM cases WHERE campaign = :campaign GROUP BY state", campaign=campaign
        )
        counts = {row["state"]: row["number"] for row in rows}
        return {state: counts.get(state, 0) for state in (OPEN, CLAIMED, DONE)}

    def workers(self, campaign: int) -> list[str]:
        """The workers with leases."""
        rows = self._rows(
            "SELECT DISTINCT worker FROM cases WHERE campaign = :campaign AND state = :state",
            campaign=campaign,
            state=CLAIMED,
        )
        return sorted(row["worker"] for row in rows)


def item_of(row: Mapping[str, Any]) -> Item:
    """The item in a row of ``cases``."""
    options = ItemOptions.from_json(_decoded(row["options"]))
    return Item(row["epoch"], row["number"], row["program"], row["name"], _decoded(row["arms"]), options)


def _campaign(row: Mapping[str, Any]) -> Campaign:
    return Campaign(
        id=row["id"],
        name=row["name"],
        seed=row["seed"],
        settings=_decoded(row["settings"]),
        versions=_decoded(row["versions"]),
        created=row["created"],
        planned=row["planned"],
        committed=row["settled"],
    )


def _decoded(value: Any) -> Any:
    """The value of a JSON column; only SQLite gives it as text."""
    return json.loads(value) if isinstance(value, str) else value
