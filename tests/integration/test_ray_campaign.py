"""``eqfuzz campaign --executor ray`` on two real workers: what this machine finds, though one is killed."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from eqfuzz.campaign.configuration import Configuration, from_tables
from eqfuzz.campaign.executors.file_transfer import ShippedConfiguration, unpack
from eqfuzz.campaign.executors.item_runner import WorkOrder
from eqfuzz.campaign.executors.ray_worker import RayWorker, UnfitNode
from eqfuzz.campaign.invocation import InvocationOptions, open_store
from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.campaign.setup import run_campaign
from eqfuzz.campaign.store.records import Item, ItemOptions
from eqfuzz.events.campaign import CampaignSummary, ItemEnded, ItemStarted, WorkerLost
from eqfuzz.events.event import Event
from eqfuzz.events.run import CellJudged, FindingReported
from eqfuzz.triage.findings.folder import read_finding
from eqfuzz.triage.findings.versions import versions
from tests.commandline import write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'eqfuzz[ray]'"),
]

FAULT = Path(__file__).parents[2] / "tools" / "fault_detection" / "frequent" / "abs_keeps_the_sign.py"

ABSOLUTE = """
    import torch
    def program(x, y):
        return torch.abs(x) + y, x * 2 - y
    def inputs(rng):
        return torch.tensor([-1.0, 2.0, -3.0]), torch.tensor([4.0, 5.0, 6.0])
"""

KILLS_ITS_WORKER = """
    import os
    import pathlib
    import signal
    import torch

    def worker_above(pid):
        while pid > 1:
            if pathlib.Path(f"/proc/{pid}/cmdline").read_text().startswith("ray::"):
                return pid
            pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return 0

    done = pathlib.Path("DONE")
    above = worker_above(os.getpid())
    if above and not done.exists():
        done.touch()
        os.kill(above, signal.SIGKILL)

    def program(x):
        return x.sum(0), torch.softmax(x, 1)
    def inputs(rng):
        return (torch.tensor([[-1.0, 2.0], [-3.0, 0.5]]),)
"""

CRASHES = """
    import ctypes
    ctypes.string_at(0)
    def program(x):
        return x + 1
    def inputs(rng):
        return (__import__("torch").ones(2),)
"""

PRINTS_ITS_PROCESS = """
    import os
    raise ValueError(f"process {os.getpid()} of {os.getppid()}")
    def program(x):
        return x + 1
    def inputs(rng):
        return (__import__("torch").ones(2),)
"""

MEASURED = ("seconds", "cpu_seconds", "peak_mb")


def configuration(folder: Path, **tables: dict[str, object]) -> Configuration:
    """Three seeds: a planted fault shows in one, one kills the Ray worker above it once, one crashes."""
    texts = {"absolute": ABSOLUTE, "kills": KILLS_ITS_WORKER.replace("DONE", str(folder / "done")), "crashes": CRASHES}
    for name, text in texts.items():
        write(folder / "seeds", f"{name}.py", text)
    defaults: dict[str, dict[str, object]] = {
        "budget": {"cells": 8},
        "sources": {"seeds": [folder / "seeds"], "templates": []},
        "rewriting": {"variants": 1, "depth": 2},
        "compiling": {"configs": ["inductor"], "tiers": ["code"], "preload": FAULT},
        "judging": {"steps": 0, "no_check": ["draws", "place"]},
        "feedback": {"epoch": 3, "traced": 0, "cost": "cells"},
    }
    return from_tables({"seed": 5, **defaults, **tables}, "test")


@dataclasses.dataclass(frozen=True)
class Ran:
    """A campaign that was run, its events, and what its store has: outcomes by epoch and number, without times."""

    summary: CampaignSummary
    events: list[Event]
    outcomes: dict[tuple[int, int], dict[str, Any]]
    problems: list[str]
    out: Path

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def ran(configuration: Configuration, out: Path, executor: str) -> Ran:
    """Run it to its end, with two workers."""
    options = InvocationOptions(name="night", out=out, jobs=2, executor=executor)
    events: list[Event] = []
    summary = run_campaign(configuration, options, CampaignMetrics(), events.append)
    with open_store(options) as store:
        campaign = store.campaign("night")
        assert campaign is not None
        outcomes = {
            (epoch, item.number): {name: value for name, value in outcome.to_json().items() if name not in MEASURED}
            for epoch in range(1, campaign.planned + 1)
            for item, outcome in store.items.results_of_epoch(campaign.id, epoch) or []
        }
        return Ran(summary, events, as_learnt(outcomes), store.problems(campaign.id), options.folder)


def as_learnt(outcomes: dict[tuple[int, int], dict[str, Any]]) -> dict[tuple[int, int], dict[str, Any]]:
    """Without what earlier epochs reached: items are stored without it where these were settled soon enough."""
    earlier: set[int] = set()
    outcomes: dict[tuple[int, int], dict[str, Any]] = {}
    for epoch in sorted({epoch for epoch, _ in outcomes}):
        here = {key: outcome for key, outcome in outcomes.items() if key[0] == epoch}
        for key, outcome in here.items():
            new = {variant: sorted({*reached} - earlier) for variant, reached in outcome["features"].items()}
            new = {variant: reached for variant, reached in new.items() if reached}
            texts = {variant: text for variant, text in outcome["texts"].items() if variant in new}
            outcomes[key] = {**outcome, "features": new, "texts": texts}
        earlier |= {one for outcome in here.values() for reached in outcome["features"].values() for one in reached}
    return outcomes


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Ran]:
    """The same campaign done by this machine's processes, and by a Ray cluster."""
    folder = tmp_path_factory.mktemp("campaigns")
    chosen = configuration(folder)
    return ran(chosen, folder / "local", "local"), ran(chosen, folder / "ray", "ray")


def test_cluster_has_same_outcomes_as_local_executor(both: tuple[Ran, Ran]) -> None:
    local, ray = both
    shared = local.outcomes.keys() & ray.outcomes.keys()
    assert {(epoch, number) for epoch in (1, 2) for number in range(3)} <= shared
    assert {key: ray.outcomes[key] for key in shared} == {key: local.outcomes[key] for key in shared}
    findings = {finding for key in shared for finding in ray.outcomes[key]["findings"]}
    assert findings
    assert Counter(outcome["state"] for outcome in ray.outcomes.values()).keys() == {"done", "invalid"}
    for name in findings:
        here, there = (run.out / "findings" / name for run in (local, ray))
        assert sorted(path.name for path in here.iterdir()) == sorted(path.name for path in there.iterdir())
        assert (here / "repro.py").read_text() == (there / "repro.py").read_text()
        assert read_finding(here) == read_finding(there)


def test_killed_worker_loses_no_item(both: tuple[Ran, Ran]) -> None:
    _, ray = both
    lost = ray.of(WorkerLost)
    assert len(lost) == 1
    assert "worker process has died" in lost[0].detail
    attempts = Counter(event.index for event in ray.of(ItemStarted))
    again = [index for index, times in attempts.items() if times > 1]
    assert len(again) == 1
    assert attempts[again[0]] == 2
    ended = Counter(event.index for event in ray.of(ItemEnded))
    assert set(ended.values()) == {1}
    assert ended.keys() == attempts.keys()
    assert {event.state for event in ray.of(ItemEnded)} == {"done", "invalid"}
    assert ray.problems == []
    assert ray.summary.errors == []


def test_cluster_leaves_no_process(both: tuple[Ran, Ran]) -> None:
    _, ray = both
    assert not (ray.out / "workers").exists()
    alive = [process for process in psutil.Process().children(recursive=True) if process.status() != "zombie"]
    commands = [" ".join(process.cmdline()) for process in alive]  # pytest's own are none of the cluster's
    assert [
        command for command in commands if any(name in command for name in ("ray::", "raylet", "gcs_server", "eqfuzz."))
    ] == []
    folders = {str(Path(event.folder).parent) for event in ray.of(FindingReported)}
    assert folders == {str(ray.out.resolve() / "findings")}


@pytest.mark.long
def test_code_under_test_runs_in_child_of_worker(tmp_path: Path) -> None:
    out = tmp_path / "elsewhere"
    worker = RayWorker(ShippedConfiguration.of(configuration(tmp_path)), str(tmp_path / "node"), str(out), versions())
    worker_id = worker.start()
    try:
        options = ItemOptions(seed=1, configs=("inductor",))
        texts = {path.name: path.read_text() for path in (tmp_path / "seeds").iterdir()}
        write(tmp_path, "prints.py", PRINTS_ITS_PROCESS)
        texts["prints.py"] = (tmp_path / "prints.py").read_text()
        done = {
            name: worker.perform(WorkOrder(Item(1, 0, "", name, {}, options), texts[name], 7))
            for name in ("prints.py", "crashes.py", "absolute.py")
        }
        children = {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}
    finally:
        worker.shut_down()
    assert f"/{os.getpid()}/" in worker_id
    outcome = done["prints.py"].result.outcome
    processes = re.search(r"process (\d+) of (\d+)", outcome.reason)
    assert outcome.state == "invalid"
    assert processes is not None
    assert int(processes[1]) != os.getpid()
    assert int(processes[2]) in children
    assert done["crashes.py"].result.outcome.state == "invalid"

    completed = done["absolute.py"]
    [event] = completed.result.findings
    assert next(e.index for e in completed.events if isinstance(e, CellJudged)) == 7
    assert event.folder == f"findings/{event.finding.id}"
    assert f"{event.folder}/repro.py" in completed.files
    assert not any(str(tmp_path / "node").encode() in content for content in completed.files.values())
    unpack(completed.files, out)
    assert read_finding(out / event.folder) == event.finding
    assert list((tmp_path / "node").iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"torch": "1.0"}, r"it has torch .*, not 1\.0$"),
        ({"build": "cu001"}, r"it has build .*, not cu001$"),
        ({"git": "d0f2af8"}, r"it has git none, not d0f2af8$"),
    ],
)
def test_node_with_other_versions_refuses(tmp_path: Path, changed: dict[str, str], why: str) -> None:
    other = {**versions(), **changed}
    worker = RayWorker(ShippedConfiguration.of(configuration(tmp_path)), str(tmp_path / "node"), str(tmp_path), other)
    with pytest.raises(UnfitNode, match=why):
        worker.start()
    shutil.rmtree(tmp_path / "node", ignore_errors=True)
