"""Campaigns at rest: what the store holds of one, a copy of it for others, its corpus made small."""

from __future__ import annotations

import csv
import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

from eqfuzz.campaign.feedback.novelty import smallest_cover
from eqfuzz.campaign.metrics import Statistics
from eqfuzz.campaign.store.records import Campaign, CorpusEntry
from eqfuzz.campaign.store.store import Store
from eqfuzz.errors import UsageError

FINDINGS = "findings"


@dataclasses.dataclass(frozen=True)
class CorpusReduction:
    """A corpus before and after, in programs; ``features`` are reached by both. ``seconds`` are CPU seconds of one
    compiled cell of each program."""

    before: int
    after: int
    features: int
    seconds_before: float
    seconds_after: float


def campaign_named(store: Store, name: str) -> Campaign:
    """Raises UsageError where there is none, StoreError."""
    found = store.campaign(name)
    if found is None:
        known = ", ".join(campaign.name for campaign in store.campaigns()) or "none"
        raise UsageError(f"no campaign {name!r} in {store.place}; there are: {known}")
    return found


def description(store: Store, campaign: Campaign) -> dict[str, Any]:
    """The campaign as it stands, as JSON; ``seconds`` are wall seconds up to the last settled epoch."""
    statistics = Statistics(clock=lambda: 0.0)
    curve = store.curve(campaign.id)
    kept = store.findings(campaign.id)
    statistics.begin(curve, store.items.finished(campaign.id, campaign.settled), kept)
    figures = statistics.figures()
    for of_a_call in ("running", "waiting", "waiting_detail", "last_bucket_seconds_ago", "cells_per_second"):
        figures.pop(of_a_call)
    return {
        "campaign": campaign.name,
        "seed": campaign.seed,
        "created": campaign.created,
        "planned": campaign.planned,
        "settled": campaign.settled,
        "items": store.items.states(campaign.id),
        "workers": store.items.holders(campaign.id),
        "figures": {**figures, "seconds": round(statistics.total_seconds, 3)},
        "findings": [
            {
                "id": f.id,
                "kind": f.kind,
                "severity": str(f.severity),
                "bucket": f.bucket,
                "fingerprint": f.fingerprint,
                "issue": f.issue,
                "seed": f.seed,
            }
            for f in sorted(kept, key=lambda f: f.severity.rank)
        ],
        "yields": [dataclasses.asdict(arm) for arm in store.arms(campaign.id)],
        "settings": dict(campaign.settings),
        "versions": dict(campaign.versions),
    }


def export(store: Store, campaign: Campaign, out: Path, target: Path) -> dict[str, int]:
    """Write the campaign into the new folder ``target``; returns how many of each there are.

    ``campaign.json``, ``curve.csv``, ``outcomes.jsonl``, ``corpus/`` with its seeds, and ``findings/`` copied from the
    campaign's folder ``out``. Raises UsageError and StoreError.
    """
    try:
        target.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"{target}: {error.strerror}; choose a folder that is not there yet") from None
    (target / "campaign.json").write_text(json.dumps(description(store, campaign), indent=2) + "\n", encoding="utf-8")
    curve = store.curve(campaign.id)
    with (target / "curve.csv").open("w", encoding="utf-8", newline="") as stream:
        columns = [name for name in (curve[0] if curve else {}) if name != "verdicts"]
        table = csv.DictWriter(stream, columns, extrasaction="ignore")
        table.writeheader()
        table.writerows(curve)
    outcomes = 0
    with (target / "outcomes.jsonl").open("w", encoding="utf-8") as stream:
        for epoch in range(1, campaign.settled + 1):
            for item, outcome in store.items.outcomes(campaign.id, epoch) or ():
                stream.write(json.dumps({"item": dataclasses.asdict(item), "outcome": outcome}) + "\n")
                outcomes += 1
    corpus = store.corpus(campaign.id)
    (target / "corpus").mkdir()
    for entry in corpus:
        (target / "corpus" / _file_name(entry)).write_text(store.program(entry.program), encoding="utf-8")
    kept = [found for found in store.findings(campaign.id) if (out / FINDINGS / found.id).is_dir()]
    for found in kept:
        shutil.copytree(out / FINDINGS / found.id, target / FINDINGS / found.id)
    if (out / "buckets.json").is_file():
        shutil.copyfile(out / "buckets.json", target / "buckets.json")
    return {"programs": len(corpus), "outcomes": outcomes, "findings": len(kept)}


def shrink_corpus(store: Store, campaign: Campaign) -> CorpusReduction:
    """Keep the fewest cheap programs of the corpus that reach the same features (greedily). Raises StoreError."""
    before = store.corpus(campaign.id)
    after = smallest_cover(before)
    if len(after) < len(before):
        store.replace_corpus(campaign.id, after)
    reached: set[int] = set().union(*(entry.features for entry in before))
    costs = (round(sum(entry.cost for entry in entries), 3) for entries in (before, after))
    return CorpusReduction(len(before), len(after), len(reached), *costs)


def _file_name(entry: CorpusEntry) -> str:
    """The name of the seed that it is or was made from, and its digest: names of two sources may be the same."""
    return (
        f"{Path(entry.name).stem}-{entry.program[:10]}.py" if entry.program not in entry.name else Path(entry.name).name
    )
