"""Tiny campaigns run as users run them, in a process group of their own, and what their store holds afterwards."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eqfuzz.campaign.store.store import Store
from tests.commandline import write

FAULT = Path(__file__).parents[2] / "tools" / "fault_detection" / "frequent" / "abs_keeps_the_sign.py"

SEEDS = {
    "absolute.py": """
        import torch
        def program(x, y):
            return torch.abs(x) + y, x * 2 - y
        def inputs(rng):
            return torch.tensor([-1.0, 2.0, -3.0]), torch.tensor([4.0, 5.0, 6.0])
    """,
    "sums.py": """
        import torch
        def program(x):
            return x.sum(0), torch.softmax(x, 1)
        def inputs(rng):
            return (torch.tensor([[-1.0, 2.0], [-3.0, 0.5]]),)
    """,
    "raises.py": """
        import torch
        def program(x):
            raise ValueError("no")
        def inputs(rng):
            return (torch.ones(2),)
    """,
}

CONFIGURATION = """
    seed = 3
    [budget]
    cells = {cells}
    [sources]
    seeds = ["seeds"]
    templates = []
    [rewriting]
    variants = 1
    depth = 2
    rules = "operators/*"
    [compiling]
    configs = ["inductor"]
    tiers = ["code"]
    preload = "{fault}"
    [judging]
    steps = 0
    no_check = ["draws", "place", "stage"]
    [feedback]
    epoch = 2
    traced = 0.5
    cost = "cells"
"""


def configured(folder: Path, *, cells: int) -> Path:
    """The file of a campaign over three seeds, one of them invalid, with a fault planted that one of them shows."""
    for name, text in SEEDS.items():
        write(folder / "seeds", name, text)
    return write(folder, "eqfuzz.toml", CONFIGURATION.format(cells=cells, fault=FAULT))


class Running:
    """``eqfuzz campaign`` with ``arguments``; its output is written to files in ``logs``, by default beside ``out``."""

    def __init__(self, out: Path, name: str, *arguments: object, jobs: int = 1, logs: Path | None = None) -> None:
        self.out, self.name = out, name
        folder = logs or out.parent
        folder.mkdir(parents=True, exist_ok=True)
        self._output, self._errors = (folder / f"{out.name}-{name}.{stream}" for stream in ("stdout", "stderr"))
        command = [sys.executable, "-m", "eqfuzz", "campaign", *map(str, arguments)]
        with self._output.open("w") as output, self._errors.open("w") as errors:
            self.process = subprocess.Popen(
                [*command, "--name", name, "--out", str(out), "--jobs", str(jobs), "--format", "json"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )

    @property
    def errors(self) -> str:
        return self._errors.read_text(encoding="utf-8")

    def events(self) -> list[dict[str, Any]]:
        """Those of this call, as far as it has come."""
        return [json.loads(line) for line in self._output.read_bytes().split(b"\n")[:-1]]

    def wait_for(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = 400.0) -> bool:
        """Whether an event came that is ``wanted``; False where the campaign ended first."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            over = self.process.poll() is not None
            if any(wanted(event) for event in self.events()):
                return True
            if over:
                return False
            time.sleep(0.02)
        raise AssertionError(f"it never came; so far: {[event['event'] for event in self.events()]}\n{self.errors}")

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    def kill_group(self) -> None:
        """kill -9 of the whole process group, and of what the tests must not leave behind."""
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ended(self, seconds: float = 400.0) -> int:
        """Its exit code."""
        return self.process.wait(seconds)


PRETENDED = "pretended"
"""The name of pretended campaigns."""


class Pretending:
    """A process with a pretended campaign below ``out``, see ``pretended_campaign``."""

    def __init__(self, out: Path, *arguments: object, cells: int = 60) -> None:
        self._log = out / PRETENDED / "events.ndjson"
        command = [sys.executable, "-m", "tests.robustness.pretended_campaign", "--out", str(out)]
        self.process = subprocess.Popen(
            [*command, "--cells", str(cells), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def events(self) -> list[dict[str, Any]]:
        """Those of all its calls that are in the campaign's log."""
        if not self._log.exists():
            return []
        return [json.loads(line) for line in self._log.read_bytes().split(b"\n")[:-1]]

    def wait_for(self, event: str, number: int) -> None:
        """Until so many events of this name are in the log."""
        while sum(one["event"] == event for one in self.events()) < number:
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)

    def ended(self) -> dict[str, Any]:
        """What it prints: its ``figures``, and what it ``waited`` for, with "" where that was over."""
        output, errors = self.process.communicate(timeout=3000)
        assert self.process.returncode == 0, output + errors
        assert not errors, output + errors
        return json.loads(output)


def whole_lines(log: Path) -> bool:
    """Whether a log ends with a line's end and has JSON alone."""
    data = log.read_bytes()
    return data.endswith(b"\n") and all(isinstance(json.loads(line), dict) for line in data.splitlines())


def left_of(out: Path, seconds: float = 10.0) -> dict[int, str]:
    """The processes with a place below ``out``, command by id, after they have had a while to end; no zombies."""
    end = time.monotonic() + seconds
    while (alive := _alive(out)) and time.monotonic() < end:
        time.sleep(0.1)
    return alive


def _alive(out: Path) -> dict[int, str]:
    processes: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            if "State:\tZ" in (entry / "status").read_text():
                continue
            if str(out).encode() in command or str(out).encode() in (entry / "environ").read_bytes():
                processes[int(entry.name)] = command.decode(errors="replace").replace("\0", " ")
        except OSError:
            continue
    return processes


_TIMES = frozenset({"seconds", "cpu_seconds", "eager_seconds", "peak_mb"})
_PRUNED = frozenset({"features", "lines", "texts"})
"""What is left out of an outcome where it was known when its item ended: with several workers, a matter of timing."""


@dataclasses.dataclass(frozen=True)
class Kept:
    """What a store holds of a campaign up to an epoch, without what depends on time: findings by id with their bucket
    and first epoch, digests of the corpus, the number of the item that reached each feature first, outcomes."""

    epoch: int
    findings: list[tuple[str, str, str]]
    corpus: list[str]
    features: dict[int, int]
    lines: dict[str, bytes] | None
    outcomes: list[dict[str, Any]]
    curve: list[dict[str, Any]]
    arms: list[tuple[str, str, float, float, int]] | None


def stored_state(out: Path, name: str, url: str = "", until: int | None = None) -> Kept:
    """Everything up to epoch ``until``, or to the last settled one; only that has lines and arms."""
    with Store.open(url or f"sqlite:///{out / 'campaigns.db'}", out / "store") as store:
        campaign = store.campaign(name)
        assert campaign is not None
        epoch = campaign.committed if until is None else until
        assert epoch <= campaign.committed
        is_last = epoch == campaign.committed
        curve = store.curve(campaign.id)[:epoch]
        outcomes = [
            {"item": dataclasses.asdict(item), **_without(outcome.to_json(), _TIMES)}
            for number in range(1, epoch + 1)
            for item, outcome in store.items.results_of_epoch(campaign.id, number) or ()
        ]
        corpus = store.corpus(campaign.id)[: curve[-1]["kept"] if curve else 0]
        return Kept(
            epoch=epoch,
            findings=sorted((f.id, f.bucket, f.issue) for f in store.findings(campaign.id) if f.epoch <= epoch),
            corpus=[entry.program for entry in corpus],
            features={feature: number for entry in corpus for number, feature in enumerate(sorted(entry.features))},
            lines=store.lines(campaign.id) if is_last else None,
            outcomes=outcomes,
            curve=[_without(point, _TIMES) for point in curve],
            arms=[dataclasses.astuple(arm) for arm in store.arms(campaign.id)] if is_last else None,
        )


def assert_same(one: Kept, other: Kept, *, timing: bool = False) -> None:
    """``timing``: several workers were at it, so what was left out as known may differ, and the last epochs do."""
    outcomes = (_unpruned(one), _unpruned(other)) if timing else (one.outcomes, other.outcomes)
    assert outcomes[0] == outcomes[1]
    assert one.findings == other.findings
    assert one.corpus == other.corpus
    assert one.features == other.features
    assert one.curve == other.curve
    if one.arms is not None and other.arms is not None and not timing:
        assert (one.lines, one.arms) == (other.lines, other.arms)


def _unpruned(state: Kept) -> list[dict[str, Any]]:
    return [_without(outcome, _PRUNED) for outcome in state.outcomes]


def _without(fields: Mapping[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in left_out}


def undamaged(out: Path, name: str, url: str = "") -> list[str]:
    """What ``show --check`` would complain of."""
    with Store.open(url or f"sqlite:///{out / 'campaigns.db'}", out / "store") as store:
        campaign = store.campaign(name)
        assert campaign is not None
        return store.problems(campaign.id)
