"""A campaign's seeds, written by a language model when they are drawn."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eqfuzz.campaign.llm_generating import JOURNAL, Order, samples_of
from eqfuzz.campaign.llm_seeds import SeedFolder
from eqfuzz.campaign.mutate import UsageError
from eqfuzz.campaign.sources import Drawn, Seedling
from eqfuzz.generate.llm.client import Client, Refused
from eqfuzz.generate.llm.journal import BadJournal, Journal
from eqfuzz.generate.llm.purse import Purse
from eqfuzz.generate.llm.repair import Made, make
from eqfuzz.generate.llm.samples import Sample
from eqfuzz.generate.llm.validation import TARGET, Checked, Reason, Validator
from eqfuzz.generate.llm.white_box import Part
from eqfuzz.rewrite.own_rules import known_rules
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.pool import Pool

TRIES = 3
"""Programs asked for until one is a seed."""


class LlmSource:
    """Seeds of the prompts of ``order``; what it counts does not matter. ``close`` it, or use it as a context manager.

    The ``number``-th draw asks the same questions every time: what was answered before is read from the journal, so a
    campaign that is continued draws the same seeds and pays nothing for them. A draw waits for the model. Nothing is
    given any more once the budget is spent or the server refuses; ``trouble`` says so. Raises UsageError.
    """

    def __init__(self, order: Order) -> None:
        self.name = f"llm:{'+'.join(Path(prompt.name).stem for prompt in order.prompts)}"
        self.trouble = ""
        self._order = order
        self._samples = samples_of(order)
        self._programs = SeedFolder(order.out / "programs", order.endpoint, order.seed)
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
        """Raises RunnerFailed when no sandbox can be started."""
        for attempt in range(TRIES):
            if self.trouble:
                return None
            sample = self._samples.one(number * TRIES + attempt)
            try:
                made = asyncio.run(self._make(sample))
            except Refused as refused:
                self.trouble = f"{self._order.endpoint.host} refuses: {refused}"
                return None
            if made.checked.reason is Reason.BUDGET:
                self.trouble = "the budget is spent"
            if made.checked.reason is None:
                file = self._programs.keep(sample, made)
                if isinstance(file, Path):
                    return Seedling(file.name, file.read_text(encoding="utf-8"))
        return None

    def figures(self) -> dict[str, Any]:
        """``queries`` answered and the ``dollars`` that they may have cost, since the journal began."""
        account = self._purse.account()
        return {"queries": account.answers, "dollars": float(account.dollars)}

    def close(self) -> None:
        """End the processes and let go of the journal."""
        self._pool.close()
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _make(self, sample: Sample) -> Made:
        order = self._order

        async def check(code: str, watched: Sequence[Part]) -> Checked:
            return await asyncio.to_thread(self._validator.check, code, watched)

        messages = self._samples.messages(sample, ())
        watched = [sample.part] if sample.part is not None else []
        async with Client(order.endpoint, order.price, self._purse, concurrency=1, patience=order.patience) as client:
            return await make(client, check, order.asking, messages, sample.number, watched)
