"""Administration of stored campaigns: description, export, corpus reduction."""

from __future__ import annotations

import csv
import dataclasses
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eqfuzz.campaign.feedback.novelty import ReachedFeatures, add_results, reached_by, smallest_cover
from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.reader import StoreReader
from eqfuzz.campaign.store.records import Campaign, CorpusEntry, Item
from eqfuzz.errors import UsageError

if TYPE_CHECKING:
    from eqfuzz.campaign.store.store import Store

FINDINGS = "findings"


@dataclasses.dataclass(frozen=True)
class CorpusReduction:
    """A corpus before and after its reduction."""

    before: int
    """Number of programs."""
    after: int
    features: int
    """Number of reached features, the same before and after."""
    seconds_before: float
    """CPU seconds of one compiled cell of each program."""
    seconds_after: float


def campaign_named(store: StoreReader, name: str) -> Campaign:
    """Raises UsageError for an unknown name, and StoreError."""
    campaign = store.campaign(name)
    if campaign is None:
        names = ", ".join(campaign.name for campaign in store.campaigns()) or "none"
        raise UsageError(f"no campaign {name!r} in {store.place}; there are: {names}")
    return campaign


def description(store: StoreReader, campaign: Campaign) -> dict[str, Any]:
    """The campaign as JSON; ``seconds`` are wall seconds up to the last committed epoch."""
    metrics = CampaignMetrics(clock=lambda: 0.0)
    curve = store.curve(campaign.id)
    findings = store.findings(campaign.id)
    results = store.results_after(campaign.id, campaign.committed)
    metrics.load_earlier_calls(curve, [outcome for _, outcome in results], findings)
    reached, corpus = _with_pending(store, campaign, results)
    metrics.record_reached(len(reached.features), reached.line_count(), len(corpus))
    figures = metrics.figures()
    for name in ("running", "waiting", "waiting_detail", "last_bucket_seconds_ago", "cells_per_second"):
        figures.pop(name)  # of a running call only
    return {
        "campaign": campaign.name,
        "seed": campaign.seed,
        "created": campaign.created,
        "planned": campaign.planned,
        "settled": campaign.committed,
        "items": store.state_counts(campaign.id),
        "workers": store.workers(campaign.id),
        "figures": {**figures, "seconds": round(metrics.total_seconds, 3)},
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
            for f in sorted(findings, key=lambda f: f.severity.rank)
        ],
        "yields": [dataclasses.asdict(arm) for arm in store.arms(campaign.id)],
        "settings": dict(campaign.settings),
        "versions": dict(campaign.versions),
    }


def export(store: Store, campaign: Campaign, out: Path, target: Path) -> dict[str, int]:
    """Write the campaign into the new folder ``target``; returns the numbers of programs, outcomes and findings.

    ``campaign.json``, ``curve.csv``, ``outcomes.jsonl``, ``corpus/`` with its seeds, and ``findings/`` copied from the
    campaign's folder ``out``. Raises UsageError and StoreError.
    """
    try:
        target.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"{target}: {error.strerror}; choose a folder that does not exist") from None
    (target / "campaign.json").write_text(json.dumps(description(store, campaign), indent=2) + "\n", encoding="utf-8")
    curve = store.curve(campaign.id)
    with (target / "curve.csv").open("w", encoding="utf-8", newline="") as stream:
        columns = [name for name in (curve[0] if curve else {}) if name != "verdicts"]
        table = csv.DictWriter(stream, columns, extrasaction="ignore")
        table.writeheader()
        table.writerows(curve)
    outcomes = 0
    with (target / "outcomes.jsonl").open("w", encoding="utf-8") as stream:
        for item, outcome in store.results_after(campaign.id, 0):
            stream.write(json.dumps({"item": dataclasses.asdict(item), "outcome": outcome.to_json()}) + "\n")
            outcomes += 1
    _, corpus = _with_pending(store, campaign, store.results_after(campaign.id, campaign.committed))
    (target / "corpus").mkdir()
    for entry in corpus:
        (target / "corpus" / _file_name(entry)).write_text(store.program(entry.program), encoding="utf-8")
    findings = [finding for finding in store.findings(campaign.id) if (out / FINDINGS / finding.id).is_dir()]
    for finding in findings:
        shutil.copytree(out / FINDINGS / finding.id, target / FINDINGS / finding.id)
    if (out / "buckets.json").is_file():
        shutil.copyfile(out / "buckets.json", target / "buckets.json")
    return {"programs": len(corpus), "outcomes": outcomes, "findings": len(findings)}


def _with_pending(
    store: StoreReader, campaign: Campaign, results: Sequence[tuple[Item, Outcome]]
) -> tuple[ReachedFeatures, list[CorpusEntry]]:
    """What the campaign has reached, and its corpus, with ``results`` of epochs that are not committed."""
    cost_unit = campaign.settings.get("feedback", {}).get("cost", "cpu")  # campaigns before this setting had that
    reached, corpus = reached_by(store, campaign), store.corpus(campaign.id)
    _, added = add_results(reached, corpus, results, cost_unit)
    return reached, [*corpus, *added]


def shrink_corpus(store: Store, campaign: Campaign) -> CorpusReduction:
    """Reduce the corpus to few, cheap programs that reach the same features. Raises StoreError."""
    before = store.corpus(campaign.id)
    after = smallest_cover(before)
    if len(after) < len(before):
        store.replace_corpus(campaign.id, after)
    reached: set[int] = set().union(*(entry.features for entry in before))
    costs = (round(sum(entry.cost for entry in entries), 3) for entries in (before, after))
    return CorpusReduction(len(before), len(after), len(reached), *costs)


def _file_name(entry: CorpusEntry) -> str:
    """Name of the seed with the digest: seeds of two sources may have the same name."""
    return (
        f"{Path(entry.name).stem}-{entry.program[:10]}.py" if entry.program not in entry.name else Path(entry.name).name
    )
