"""The bounded campaign behind ``eqfuzz rules check``: every rule proved once, in processes that it may kill."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from eqfuzz.campaign.events import CheckStarted, CheckSummary, Handler, RuleChecked, RuleStarted
from eqfuzz.rewrite.library import place_of
from eqfuzz.rewrite.rule import Rule
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.pool import Pool


def check(
    rules: Sequence[Rule], handler: Handler, *, draws: int, jobs: int, rules_from: Sequence[Path] = ()
) -> CheckSummary:
    """Prove ``rules`` and hand every event to ``handler``, one at a time; the last is the returned summary.

    Ctrl-C ends it early with a partial summary. Raises RunnerFailed when no process can be started.
    """
    jobs = max(1, min(jobs, len(rules)))
    # The processes are kept and take one rule after another: Dynamo's first trace costs as much as ten proofs.
    with (
        tempfile.TemporaryDirectory(prefix="eqfuzz-check-") as folder,
        Pool(
            Environment(Path(folder)),
            Limits(),
            runner="spawn",
            jobs=jobs,
            target="eqfuzz.run.proving:run_proof",
            warm=False,
        ) as pool,
    ):
        return _Check(rules, handler, draws, jobs, [str(p.absolute()) for p in rules_from], pool).run()


class _Check:
    def __init__(
        self, rules: Sequence[Rule], handler: Handler, draws: int, jobs: int, rules_from: list[str], pool: Pool
    ) -> None:
        self.rules = rules
        self.handler = handler
        self.draws = draws
        self.jobs = jobs
        self.rules_from = rules_from
        self.pool = pool
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.checked: list[RuleChecked] = []

    def run(self) -> CheckSummary:
        began = time.monotonic()
        self.handler(CheckStarted(len(self.rules), self.draws, self.jobs))
        threads = ThreadPoolExecutor(self.jobs, thread_name_prefix="rule")
        pending = {threads.submit(self._check, i, r) for i, r in enumerate(self.rules)}
        interrupted = False
        try:
            while pending:
                done, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self.stop.set()
            threads.shutdown(wait=False, cancel_futures=True)
            self.pool.close()
            threads.shutdown(wait=True)
        summary = CheckSummary(
            rules=len(self.rules),
            checked=len(self.checked),
            failed=sorted(c.rule for c in self.checked if not c.holds),
            draws=sum(c.draws for c in self.checked),
            rewrites=sum(c.rewrites for c in self.checked),
            interrupted=interrupted,
            seconds=round(time.monotonic() - began, 3),
        )
        self.handler(summary)
        return summary

    def _check(self, index: int, rule: Rule) -> None:
        if self.stop.is_set():
            return
        self._emit(RuleStarted(index, rule.name))
        proved = {"draws": 0, "rewrites": 0, "problems": [], "seconds": 0.0}
        for event in self.pool.run({"rule": rule.name, "draws": self.draws, "rules_from": self.rules_from}):
            if event["event"] == "proved":
                proved = {key: event[key] for key in proved}
            elif event["event"] == "exit" and event["reason"] != "done":
                proved["problems"] = [*proved["problems"], f"trying it ended the process: {event['detail']}"]
        self._emit(RuleChecked(index, rule.name, place_of(rule), not proved["problems"], **proved))

    def _emit(self, event: RuleStarted | RuleChecked) -> None:
        with self.lock:
            if self.stop.is_set():
                return  # what comes after Ctrl-C was cut off
            if isinstance(event, RuleChecked):
                self.checked.append(event)
            self.handler(event)
