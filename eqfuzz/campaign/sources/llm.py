"""A campaign's seeds, written by a language model when they are drawn."""

from __future__ import annotations

import asyncio
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.engine.disk_space import DISK_FULL, enough_room
from eqfuzz.campaign.sources.files import CampaignEnding, DrawHistory, SeedText
from eqfuzz.campaign.store.database import StoreUnavailable, told_of_file
from eqfuzz.errors import UsageError
from eqfuzz.events.campaign import SourceUnavailable
from eqfuzz.events.event import Handler
from eqfuzz.events.llm import SampleEnded
from eqfuzz.generate.llm.model.budget import BudgetLedger
from eqfuzz.generate.llm.model.client import Client, RequestRejected, RetryPolicy
from eqfuzz.generate.llm.model.response_log import InvalidResponseLog, ResponseLog
from eqfuzz.generate.llm.repair import RequestSettings, SampleResult, make
from eqfuzz.generate.llm.request import (
    JOURNAL,
    GenerationRequest,
    InvalidRequest,
    amount_of,
    endpoint_of,
    parts_of,
    prompts_of,
    samples_of,
)
from eqfuzz.generate.llm.samples import SampleRequest
from eqfuzz.generate.llm.seed_folder import SeedFolder
from eqfuzz.generate.llm.validation import TARGET, Reason, ValidationResult, Validator
from eqfuzz.generate.llm.white_box import CompilerPart
from eqfuzz.rewrite.rules.user_rules import known_rules
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool

TRIES = 12
"""Programs asked for until one is a seed. A model that writes none of so many will hardly write the next."""

SILENT_SECONDS = 60.0
"""Wall seconds for which a server that gives no answer is left alone."""

LOOKING_SECONDS = 0.1

ENDING_SECONDS = 20.0
"""Wall seconds that a question which is being asked is waited for at the end."""

BUDGET_SPENT = "the budget is spent"


class LlmSeeds:
    """Seeds of the prompts of ``order``; what it counts does not matter. ``close`` it, or use it as a context manager.

    The ``number``-th draw asks the same questions every time: what was answered before is read from the journal, so a
    campaign that is continued draws the same seeds and pays nothing for them. A draw waits for the model. Nothing is
    given any more once the budget is spent, the server refuses or no program is a seed; ``trouble`` says so. ``tell``
    is handed an event for everything that was asked for, and for every trouble. Raises UsageError.
    """

    def __init__(self, order: GenerationRequest) -> None:
        self.name = f"llm:{'+'.join(Path(prompt.name).stem for prompt in order.prompts)}"
        self.trouble = ""
        self.tell: Handler = lambda _: None
        self._order = order
        self._samples = samples_of(order)
        self._programs = SeedFolder(order.out / "programs", order.endpoint, order.seed)
        self._given: dict[int, SeedText] = {}
        self._events: dict[int, SampleEnded] = {}
        self._reasons: Counter[str] = Counter()
        self._silent_until = 0.0
        self._ending = threading.Event()
        self._cut_off = threading.Event()
        try:
            self._journal = ResponseLog(order.out / JOURNAL)
            self._purse = BudgetLedger(self._journal, order.budget)
        except InvalidResponseLog as error:
            raise UsageError(str(error)) from None
        limits = Limits(load_s=order.program_seconds, eager_s=order.program_seconds)
        watches = any(prompt.needs == "part" for prompt in order.prompts)
        environment = Environment(order.out.resolve(), unsafe=order.unsafe)
        self._pool = Pool(environment, limits, jobs=1, target=TARGET, warm=watches)
        self._validator = Validator(self._pool, limits, [rule.name for rule in known_rules()], order.seed)

    def draw(self, rng: random.Random, number: int, drawn: DrawHistory) -> SeedText | None:
        """Raises Ending once it is to end, StoreError for files, and RunnerFailed when no sandbox can be started."""
        if number not in self._given:
            try:
                if not enough_room(self._order.out):
                    raise StoreUnavailable(DISK_FULL, f"less room than is needed below {self._order.out}")
                seedling = self._written(number)
            except OSError as error:
                raise told_of_file(error, self._order.out) from None
            if seedling is None:
                return None
            self._given[number] = seedling  # who draws the same again means the same, not a duplicate of it
        return self._given[number]

    def _written(self, number: int) -> SeedText | None:
        reason = ""
        for attempt in range(TRIES):
            if self.trouble or self.is_silent:
                return None
            if self._ending.is_set():
                raise CampaignEnding
            event = self._decided(self._samples.one(number, number * TRIES + attempt))
            if event is None:
                return None
            if event.file:
                file = Path(event.file)
                return SeedText(file.name, file.read_text(encoding="utf-8"))
            reason = event.reason
        self._give_up(f"{TRIES} programs in a row were no seeds, the last for: {reason}")
        return None

    def _decided(self, sample: SampleRequest) -> SampleEnded | None:
        """What came of ``sample``, which is asked for once; None where there was no answer."""
        if sample.number in self._events:
            return self._events[sample.number]
        try:
            made = asyncio.run(self._make_unless_cut_off(sample))
        except RequestRejected as refused:
            self._give_up(f"{self._order.endpoint.host} refuses: {refused}")
            return None
        event = self._programs.decide(sample, made)
        match made.checked.reason:
            case Reason.BUDGET:
                self._give_up(BUDGET_SPENT)
                return None
            case Reason.NO_ANSWER:
                self._silent_until = time.monotonic() + SILENT_SECONDS
                self.tell(SourceUnavailable(self.name, f"no answer, left alone for a while: {event.message}", False))
                return None
            case _:
                self._events[sample.number] = event
                self._reasons[event.reason] += 1
                self.tell(event)
                return event

    def _give_up(self, why: str) -> None:
        self.trouble = why
        self.tell(SourceUnavailable(self.name, why, True))

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

    async def _make_unless_cut_off(self, sample: SampleRequest) -> SampleResult:
        making = asyncio.create_task(self._make(sample))
        ends = math.inf
        while not making.done() and not self._cut_off.is_set() and time.monotonic() < ends:
            await asyncio.wait({making}, timeout=LOOKING_SECONDS)
            if self._ending.is_set():
                ends = min(ends, time.monotonic() + ENDING_SECONDS)
        if not making.done():
            making.cancel()
            await asyncio.wait({making})
            raise CampaignEnding
        return making.result()

    async def _make(self, sample: SampleRequest) -> SampleResult:
        order = self._order

        async def check(code: str, watched: Sequence[CompilerPart]) -> ValidationResult:
            checked = await asyncio.to_thread(self._validator.check, code, watched)
            if self._ending.is_set() and checked.reason is not None:
                raise CampaignEnding  # nothing is asked for any more, and the end itself may be what broke the check
            return checked

        messages = self._samples.messages(sample, ())
        watched = [sample.part] if sample.part is not None else []
        async with Client(order.endpoint, order.price, self._purse, concurrency=1, patience=order.patience) as client:
            return await make(client, check, order.asking, messages, sample.number, watched)


def llm_source_of(configuration: Configuration, out: Path) -> LlmSeeds:
    """The source that the configuration's ``[model]`` names, kept below ``out``. Raises UsageError."""
    model = configuration.model
    try:
        endpoint = endpoint_of(model.name, model.base_url, model.key_env or None, model.key_file, silent=False)
        price = amount_of(endpoint, model.price)
        prompts = prompts_of(model.prompts)
        parts, all_parts = parts_of(prompts, model.targets)
    except InvalidRequest as error:
        entry = "name" if error.entry == "model" else error.entry
        raise UsageError(f"model.{entry}: {error}") from None
    dollars = configuration.budget.dollars
    seeds = configuration.sources.seeds
    order = GenerationRequest(
        endpoint=endpoint,
        price=price,
        prompts=prompts,
        count=0,
        out=out,
        seed=configuration.seed,
        budget=None if dollars is None else Decimal(str(dollars)),
        asking=RequestSettings(model.max_tokens, model.temperature, model.repairs),
        patience=RetryPolicy(timeout=model.timeout, attempts=model.attempts),
        parts=parts,
        all_parts=all_parts,
        corpus=seeds or (),
        program_seconds=model.program_timeout,
        unsafe=configuration.sources.unsafe,
    )
    return LlmSeeds(order)
