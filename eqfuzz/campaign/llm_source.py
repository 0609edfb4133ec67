"""A campaign's seeds, written by a language model when they are drawn."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eqfuzz.campaign.campaign_events import SourceTold
from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.events import Handler
from eqfuzz.campaign.llm_order import (
    JOURNAL,
    BadOrder,
    Order,
    amount_of,
    endpoint_of,
    parts_of,
    prompts_of,
    samples_of,
)
from eqfuzz.campaign.llm_seeds import SeedFolder
from eqfuzz.campaign.mutate import UsageError
from eqfuzz.campaign.sources import Drawn, Ending, Seedling
from eqfuzz.generate.llm.client import Client, Patience, Refused
from eqfuzz.generate.llm.journal import BadJournal, Journal
from eqfuzz.generate.llm.purse import Purse
from eqfuzz.generate.llm.repair import Asking, Made, make
from eqfuzz.generate.llm.samples import Sample
from eqfuzz.generate.llm.validation import TARGET, Checked, Reason, Validator
from eqfuzz.generate.llm.white_box import Part
from eqfuzz.rewrite.own_rules import known_rules
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.pool import Pool

TRIES = 3
"""Programs asked for until one is a seed."""

SILENT_SECONDS = 60.0
"""Wall seconds for which a server that gives no answer is left alone."""

LOOKING_SECONDS = 0.1

BUDGET_SPENT = "the budget is spent"


class LlmSource:
    """Seeds of the prompts of ``order``; what it counts does not matter. ``close`` it, or use it as a context manager.

    The ``number``-th draw asks the same questions every time: what was answered before is read from the journal, so a
    campaign that is continued draws the same seeds and pays nothing for them. A draw waits for the model. Nothing is
    given any more once the budget is spent or the server refuses; ``trouble`` says so. ``tell`` is handed an event for
    everything that was asked for, and for every trouble. Raises UsageError.
    """

    def __init__(self, order: Order) -> None:
        self.name = f"llm:{'+'.join(Path(prompt.name).stem for prompt in order.prompts)}"
        self.trouble = ""
        self.tell: Handler = lambda _: None
        self._order = order
        self._samples = samples_of(order)
        self._programs = SeedFolder(order.out / "programs", order.endpoint, order.seed)
        self._given: dict[int, Seedling] = {}
        self._reasons: Counter[str] = Counter()
        self._silent_until = 0.0
        self._ending = threading.Event()
        self._cut_off = threading.Event()
        try:
            self._journal = Journal(order.out / JOURNAL)
            self._purse = Purse(self._journal, order.budget)
        except BadJournal as error:
            raise UsageError(str(error)) from None
        limits = Limits(load_s=order.program_seconds, eager_s=order.program_seconds)
        watches = any(prompt.needs == "part" for prompt in order.prompts)
        environment = Environment(order.out.resolve(), unsafe=order.unsafe)
        self._pool = Pool(environment, limits, jobs=1, target=TARGET, warm=watches)
        self._validator = Validator(self._pool, limits, [rule.name for rule in known_rules()], order.seed)

    def draw(self, rng: random.Random, number: int, drawn: Drawn) -> Seedling | None:
        """Raises Ending once it is to end, and RunnerFailed when no sandbox can be started."""
        if number not in self._given:
            seedling = self._written(number)
            if seedling is None:
                return None
            self._given[number] = seedling  # who draws the same again means the same, not a duplicate of it
        return self._given[number]

    def _written(self, number: int) -> Seedling | None:
        for attempt in range(TRIES):
            if self.trouble or self.is_silent:
                return None
            if self._ending.is_set():
                raise Ending
            sample = self._samples.one(number * TRIES + attempt)
            try:
                made = asyncio.run(self._make_unless_cut_off(sample))
            except Refused as refused:
                self._give_up(f"{self._order.endpoint.host} refuses: {refused}")
                return None
            event = self._programs.decide(sample, made)
            self._reasons[event.reason] += 1
            self.tell(event)
            match made.checked.reason:
                case Reason.BUDGET:
                    self._give_up(BUDGET_SPENT)
                case Reason.NO_ANSWER:
                    self._silent_until = time.monotonic() + SILENT_SECONDS
                    self.tell(SourceTold(self.name, f"no answer, left alone for a while: {event.message}", False))
                case _:
                    pass
            if event.file:
                file = Path(event.file)
                return Seedling(file.name, file.read_text(encoding="utf-8"))
        return None

    def _give_up(self, why: str) -> None:
        self.trouble = why
        self.tell(SourceTold(self.name, why, True))

    @property
    def is_broke(self) -> bool:
        """Whether it gives nothing any more because the budget is spent."""
        return self.trouble == BUDGET_SPENT

    @property
    def is_silent(self) -> bool:
        """Whether the server gave no answer lately."""
        return time.monotonic() < self._silent_until

    def figures(self) -> dict[str, Any]:
        """``queries`` answered and the ``dollars`` that they may have cost, since the journal began; of this call the
        ``samples`` asked for by what came of them, ``accepted`` or a reason."""
        account = self._purse.account()
        samples = {reason or "accepted": number for reason, number in sorted(dict(self._reasons).items())}
        return {"queries": account.answers, "dollars": float(account.dollars), "samples": samples}

    def end(self) -> None:
        """Ask nothing new; what is being asked is waited for."""
        self._ending.set()

    def cut_off(self) -> None:
        """Wait for nothing any more."""
        self._ending.set()
        self._cut_off.set()
        self._pool.close()

    def close(self) -> None:
        """End the processes and let go of the journal."""
        self.cut_off()
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _make_unless_cut_off(self, sample: Sample) -> Made:
        making = asyncio.create_task(self._make(sample))
        while not making.done() and not self._cut_off.is_set():
            await asyncio.wait({making}, timeout=LOOKING_SECONDS)
        if self._cut_off.is_set():
            making.cancel()
            with contextlib.suppress(BaseException):  # the end has nobody who could use what went wrong
                await making
            raise Ending
        return making.result()

    async def _make(self, sample: Sample) -> Made:
        order = self._order

        async def check(code: str, watched: Sequence[Part]) -> Checked:
            return await asyncio.to_thread(self._validator.check, code, watched)

        messages = self._samples.messages(sample, ())
        watched = [sample.part] if sample.part is not None else []
        async with Client(order.endpoint, order.price, self._purse, concurrency=1, patience=order.patience) as client:
            return await make(client, check, order.asking, messages, sample.number, watched)


def llm_source_of(configuration: Configuration, out: Path) -> LlmSource:
    """The source that the configuration's ``[model]`` names, kept below ``out``. Raises UsageError."""
    model = configuration.model
    try:
        endpoint = endpoint_of(model.name, model.base_url, model.key_env or None, model.key_file, silent=False)
        price = amount_of(endpoint, model.price)
        prompts = prompts_of(model.prompts)
        parts, all_parts = parts_of(prompts, model.targets)
    except BadOrder as error:
        entry = "name" if error.entry == "model" else error.entry
        raise UsageError(f"model.{entry}: {error}") from None
    dollars = configuration.budget.dollars
    seeds = configuration.sources.seeds
    order = Order(
        endpoint=endpoint,
        price=price,
        prompts=prompts,
        count=0,
        out=out,
        seed=configuration.seed,
        budget=None if dollars is None else Decimal(str(dollars)),
        asking=Asking(model.max_tokens, model.temperature, model.repairs),
        patience=Patience(timeout=model.timeout, attempts=model.attempts),
        parts=parts,
        all_parts=all_parts,
        corpus=seeds or (),
        program_seconds=model.program_timeout,
        unsafe=configuration.sources.unsafe,
    )
    return LlmSource(order)
