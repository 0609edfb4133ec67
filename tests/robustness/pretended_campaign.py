"""Campaigns of pretended programs: loop, store, sorting and files are the real ones, only an item takes no time.

``python -m tests.robustness.pretended_campaign`` runs one; ``--die-at N`` kills it with SIGKILL at its N-th step, where
every statement and commit of the database, every file's replacement, every event and every item is a step. ``--deaths``
does so again and again, from one process that has imported everything, until the campaign comes through.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import alembic.command  # noqa: F401 - or every fork would import it
import sqlalchemy as sa

from eqfuzz.campaign.configuration import Configuration, from_tables
from eqfuzz.campaign.engine import loop as campaign
from eqfuzz.campaign.engine.dispatch import EventDispatcher
from eqfuzz.campaign.engine.loop import CampaignInvocation, CampaignLoop
from eqfuzz.campaign.engine.plan import SearchSpace
from eqfuzz.campaign.executors.item_runner import ItemInterrupted, ItemResult, WorkOrder
from eqfuzz.campaign.metrics import CampaignMetrics
from eqfuzz.campaign.sources.files import SeedFiles
from eqfuzz.campaign.store import database, retries
from eqfuzz.campaign.store.outcome import Outcome
from eqfuzz.campaign.store.store import Store
from eqfuzz.events.campaign import CampaignBlocked
from eqfuzz.events.event import Event, Handler
from eqfuzz.events.run import FindingReported
from eqfuzz.mutate.bucketing import Bucketer
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.report.machine.event_log import EventFile
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.folder import write_folder
from eqfuzz.triage.reproducer.script_files import ReproducerScript

SEEDS = 8
CONFIGS = ("inductor", "eager")
FAMILIES = ("algebra", "layout", "packing")
DEFECTS = 9
"""Findings that there are to be made, of three defects."""

Step = Callable[[], None]


class Pretending:
    """Does an item at once: what comes of it depends on nothing but the item. Logs each in ``performed`` beside it."""

    def __init__(self, out: Path, slots: int, seconds: float, slow_from: int, step: Step) -> None:
        self.slots = slots
        self._out = out
        self._seconds = seconds
        self._slow_from = slow_from
        self._step = step

    def ready(self, slot: int, emit: Handler) -> bool:
        return True

    def perform(self, slot: int, order: WorkOrder, emit: Handler, stop: threading.Event) -> ItemResult:
        item, text, index = order.item, order.text, order.index
        self._step()
        if stop.wait(self._seconds if index >= self._slow_from else 0.0):
            raise ItemInterrupted
        rng = random.Random(f"{item.program} {item.options}")
        if rng.random() < 0.1:
            return ItemResult(Outcome(state="invalid", reason="pretended"))
        cells = rng.randint(1, 4)
        features = {
            variant: tuple(sorted(rng.sample(range(400), rng.randint(1, 12)))) for variant in range(rng.randint(1, 3))
        }
        outcome = Outcome(
            state="done",
            cells=cells,
            variants=len(features) - 1,
            verdicts={"agree": cells},
            cpu_seconds=time.process_time(),
            features=features,
            rules={variant: (f"{rng.choice(FAMILIES)}/rule",) for variant in features if variant},
            lines={"ir.py": f"{rng.getrandbits(64):x}"},
        )
        texts = {variant: f"{text}# {rng.random()}\n" for variant in features if variant}
        findings = [self._finding(index, rng.randrange(DEFECTS), text) for _ in range(rng.random() < 0.3)]
        with (self._out / "performed").open("a", encoding="utf-8") as log:
            log.write(f"{item.epoch}/{item.number}\n")
        self._step()
        return ItemResult(outcome, tuple(findings), texts)

    def _finding(self, index: int, number: int, text: str) -> FindingReported:
        program = Program(f"seed{number}.py", "pass\n", SeedFormat.EQFUZZ, "program", "program", "inputs(rng)")
        finding = Finding(
            id=f"f{number:09}",
            original=program,
            transformed=program,
            derivation=(),
            verdict=Verdict(VerdictKind.WRONG_RESULT, "pretended"),
            device="cpu",
            config="inductor",
            settings={},
            cells={},
            also=0,
            environment=FindingEnvironment(),
            fingerprint=f"defect {number % 3}",
        )
        exists = (self._out / "findings" / finding.id).exists()
        folder = write_folder(self._out / "findings", finding, ReproducerScript("pass\n"), None)
        self._step()
        return FindingReported(index=index, finding=finding, folder=str(folder), known=exists)

    def close(self) -> None:
        pass


def configuration(cells: int) -> Configuration:
    tables: dict[str, dict[str, Any]] = {"budget": {"cells": cells}, "feedback": {"epoch": 4, "cost": "cells"}}
    return from_tables({"seed": 5, **tables}, "pretended")


@dataclasses.dataclass(frozen=True)
class Pretended:
    """One call of a pretended campaign: where it is, how long it runs, how many slots do items for how long.

    Items before ``slow_from`` take no time.
    """

    out: Path
    name: str
    cells: int
    url: str = ""
    slots: int = 1
    seconds: float = 0.0
    slow_from: int = 0

    def run(self, step: Step = lambda: None, causes: list[str] | None = None) -> CampaignLoop:
        """Run to the budget; ``step`` is called everywhere that a kill could make a difference.

        ``causes`` are taken of what it waited for; empty ones where that was over.
        """
        folder = self.out / self.name
        seeds = self.out / "seeds"
        for path in (folder, seeds):
            path.mkdir(parents=True, exist_ok=True)
        os.chdir(seeds)  # so that their names are the same for every ``out``
        files = [Path(f"s{number}.py") for number in range(SEEDS)]
        for file in files:
            if not file.exists():
                file.write_text(f"# {file.name}\n", encoding="utf-8")
        with Store.open(self.url or f"sqlite:///{self.out / 'campaigns.db'}", self.out / "store") as store:
            _count_statements(store, step)
            call = CampaignInvocation(
                name=self.name,
                out=folder,
                store=store,
                executor=Pretending(folder, self.slots, self.seconds, self.slow_from, step),
                executor_name="pretended",
                space=SearchSpace([SeedFiles("folder:seeds", files)], FAMILIES, CONFIGS),
                rules=3,
                check_oracle=lambda emit: "",
            )
            log = EventFile(folder / "events.ndjson")

            def handle(event: Event) -> None:
                step()
                log.handle(event)
                if causes is not None and isinstance(event, CampaignBlocked):
                    causes.append(event.cause)

            events = EventDispatcher(CampaignMetrics(), handle)
            campaigning = CampaignLoop(configuration(self.cells), call, Bucketer(folder, ()), events)
            campaigning.run()
            log.close()
        return campaigning


def _count_statements(store: Store, step: Step) -> None:
    engine = store._database.engine
    for name in ("before_cursor_execute", "after_cursor_execute", "commit"):
        sa.event.listen(engine, name, lambda *_: step())


class Deadly:
    """Kills this process at the ``last`` step."""

    def __init__(self, last: int) -> None:
        self.steps = 0
        self._last = last

    def step(self) -> None:
        self.steps += 1
        if self.steps == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


def killed_at(pretended: Pretended, last: int) -> int | None:
    """Run it in a fork that is killed at step ``last``; the steps that it took where it came through before."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 3
        try:
            os.close(read)
            deadly = Deadly(last)
            replace = Path.replace

            def replace_and_step(path: Path, target: Path | str) -> Path:
                deadly.step()
                moved = replace(path, target)
                deadly.step()
                return moved

            Path.replace = replace_and_step  # type: ignore[method-assign]
            campaigning = pretended.run(deadly.step)
            os.write(write, str(deadly.steps).encode())
            code = 4 if campaigning._errors else 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    os.close(write)
    text = os.read(read, 100)
    os.close(read)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return None
    if status != 0:
        raise SystemExit(f"it ended with status {os.waitstatus_to_exitcode(status)}")
    return int(text)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="pretended")
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--db", default="")
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--slow-from", type=int, default=0, help="the item from which on an item takes --seconds")
    parser.add_argument("--patience", type=float, help="seconds between tries, at most")
    parser.add_argument("--deaths", type=int, help="seed of random moments to be killed at")
    parser.add_argument("--every", type=int, default=150, help="steps between two deaths, on average")
    arguments = parser.parse_args()
    pretended = Pretended(
        arguments.out.absolute(),
        arguments.name,
        arguments.cells,
        arguments.db,
        arguments.slots,
        arguments.seconds,
        arguments.slow_from,
    )
    if arguments.patience is not None:
        campaign.RECHECK_SECONDS = retries.MOST_SECONDS = arguments.patience
        database.BUSY_SECONDS = arguments.patience
    if arguments.deaths is None:
        causes: list[str] = []
        figures = pretended.run(causes=causes).metrics.figures()
        print(json.dumps({"figures": figures, "waited": causes}))
        return
    rng = random.Random(arguments.deaths)
    deaths = 0
    while (steps := killed_at(pretended, rng.randint(1, 2 * arguments.every))) is None:
        deaths += 1
    print(json.dumps({"deaths": deaths, "steps": steps}))


if __name__ == "__main__":
    main()
