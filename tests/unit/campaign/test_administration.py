"""Description of a stored campaign, as ``campaign show`` prints it."""

from pathlib import Path

from eqfuzz.campaign.administration import campaign_named, description
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.records import Item, StoredFinding
from eqfuzz.campaign.store.store import Store
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind


def stored_finding(name: str, kind: VerdictKind) -> StoredFinding:
    verdict = Verdict(kind, "it differs", Evidence(path="output"))
    return StoredFinding(name, str(kind), "f", f"b{name}", "", "seed.py", 1, {"verdict": verdict.to_json()})


def test_findings_are_described_by_severity(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/campaigns.db", tmp_path / "store") as store:
        campaign = store.open_campaign("night", 7, {}, {"torch": "2"}, 1.0).id
        item = Item(1, 0, store.put_program("def f(x):\n    return x\n"), "seed.py", {"source": "s"}, {})
        store.items.add_epoch(campaign, 1, [item])
        claim = store.items.lease(campaign, "h/1/1")
        assert claim is not None
        findings = [
            stored_finding("1", VerdictKind.WRONG_METADATA),
            stored_finding("2", VerdictKind.COMPILER_CRASH),
            stored_finding("3", VerdictKind.WRONG_RESULT),
        ]
        assert store.items.complete(claim, Outcome(state="done"), findings, 3.0)
        described = description(store, campaign_named(store, "night"))
    assert [(one["id"], one["severity"]) for one in described["findings"]] == [
        ("3", "wrong-values"),
        ("2", "crash"),
        ("1", "metadata"),
    ]
    assert described["figures"]["severities"] == {"wrong-values": 1, "crash": 1, "metadata": 1}
