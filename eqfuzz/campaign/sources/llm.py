"""Source of seeds that a language model writes when they are drawn."""

from __future__ import annotations

import asyncio
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from eqfuzz.campaign.configuration import Configuration
from eqfuzz.campaign.engine.disk_space import DISK_FULL, has_space
from eqfuzz.campaign.sources.files import CampaignEnding, DrawHistory, SeedText
from eqfuzz.campaign.store.errors import StoreUnavailable, file_error
from eqfuzz.closeable import Closeable
from eqfuzz.errors import UsageError
from eqfuzz.events.campaign import SourceUnavailable
from eqfuzz.events.event import Handler
from eqfuzz.events.llm import SampleEnded
from eqfuzz.generate.llm.model.budget import BudgetLedger
from eqfuzz.generate.llm.model.client import Client, RequestRejected, RetryPolicy
from eqfuzz.generate.llm.model.response_log import InvalidResponseLog, ResponseLog
from eqfuzz.generate.llm.repair import RequestSettings, SampleResult, generate_sample
from eqfuzz.generate.llm.request import (
    RESPONSE_LOG,
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
"""Samples per draw until one is a seed; a model that fails so often is unlikely to succeed at all."""

SILENT_SECONDS = 60.0
"""Wall seconds without requests after a server did not answer."""

CHECK_SECONDS = 0.1

ENDING_SECONDS = 20.0
"""Wall seconds that a request in flight has at the end of the campaign."""

BUDGET_SPENT = "the budget is spent"


class LlmSeeds(Closeable):
    """Seeds written for the prompts of ``request``, whose count is ignored. A context manager; else call ``close``.

    The ``number``-th draw sends the same requests every time: earlier responses are read from the response log, so a
    resumed campaign draws the same seeds without paying again. A draw waits for the model. It gives None once the
    budget is spent, the server rejects requests or too many samples are invalid; ``trouble`` is the reason then.
    ``emit`` gets an event per sample and per problem, ``record_spending`` the ``figures`` when they change. Raises
    UsageError.
    """

    def __init__(
        self, request: GenerationRequest, emit: Handler, record_spending: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self.name = f"llm:{'+'.join(Path(prompt.name).stem for prompt in request.prompts)}"
        self.trouble = ""
        self._emit = emit
        self._record_spending = record_spending
        self._request = request
        self._samples = samples_of(request)
        self._programs = SeedFolder(request.out / "programs", request.endpoint, request.seed)
        self._drawn: dict[int, SeedText] = {}
        self._events: dict[int, SampleEnded] = {}
        self._reasons: Counter[str] = Counter()
        self._silent_until = 0.0
        self._ending = threading.Event()
        self._aborted = threading.Event()
        try:
            self._log = ResponseLog(request.out / RESPONSE_LOG)
            self._ledger = BudgetLedger(self._log, request.budget)
        except InvalidResponseLog as error:
            raise UsageError(str(error)) from None
        limits = Limits(load_s=request.program_seconds, eager_s=request.program_seconds)
        watches = any(prompt.needs == "part" for prompt in request.prompts)
        environment = Environment(request.out.resolve(), unsafe=request.unsafe)
        self._pool = Pool(environment, limits, jobs=1, target=TARGET, warm=watches)
        self._validator = Validator(self._pool, limits, [rule.name for rule in known_rules()], request.seed)
        record_spending(self.figures())

    def draw(self, rng: random.Random, number: int, history: DrawHistory) -> SeedText | None:
        """Raises CampaignEnding, StoreError for files, and RunnerFailed when no sandbox can be started."""
        if number not in self._drawn:
            try:
                if not has_space(self._request.out):
                    raise StoreUnavailable(DISK_FULL, f"too little disk space below {self._request.out}")
                seed = self._new_seed(number)
            except OSError as error:
                raise file_error(error, self._request.out) from None
            if seed is None:
                return None
            self._drawn[number] = seed  # the same draw again is not a duplicate
        return self._drawn[number]

    def _new_seed(self, number: int) -> SeedText | None:
        reason = ""
        for attempt in range(TRIES):
            if self.trouble or self.is_silent:
                return None
            if self._ending.is_set():
                raise CampaignEnding
            event = self._accepted_or_rejected(self._samples.one(number, number * TRIES + attempt))
            if event is None:
                return None
            if event.file:
                file = Path(event.file)
                return SeedText(file.name, file.read_text(encoding="utf-8"))
            reason = event.reason
        self._give_up(f"{TRIES} programs in a row were no seeds, the last for: {reason}")
        return None

    def _accepted_or_rejected(self, sample: SampleRequest) -> SampleEnded | None:
        """The event of ``sample``, which is requested once; None without a response."""
        if sample.number in self._events:
            return self._events[sample.number]
        try:
            result = asyncio.run(self._make_unless_aborted(sample))
        except RequestRejected as error:
            self._give_up(f"{self._request.endpoint.host} refuses: {error}")
            return None
        finally:
            self._record_spending(self.figures())
        event = self._programs.decide(sample, result)
        match result.validation.reason:
            case Reason.BUDGET:
                self._give_up(BUDGET_SPENT)
                return None
            case Reason.NO_ANSWER:
                self._silent_until = time.monotonic() + SILENT_SECONDS
                self._emit(
                    SourceUnavailable(
                        source=self.name, detail=f"no answer, left alone for a while: {event.message}", ended=False
                    )
                )
                return None
            case _:
                self._events[sample.number] = event
                self._reasons[event.reason] += 1
                self._record_spending(self.figures())
                self._emit(event)
                return event

    def _give_up(self, why: str) -> None:
        self.trouble = why
        self._emit(SourceUnavailable(source=self.name, detail=why, ended=True))

    @property
    def is_broke(self) -> bool:
        """Whether the budget is spent."""
        return self.trouble == BUDGET_SPENT

    @property
    def is_silent(self) -> bool:
        """Whether requests are paused because the server did not answer."""
        return time.monotonic() < self._silent_until

    def figures(self) -> dict[str, Any]:
        """``queries``: responses in the log; ``dollars``: the most that they can have cost; ``samples``: those of this
        call by result, ``accepted`` or the reason of the rejection."""
        account = self._ledger.account()
        samples = {reason or "accepted": number for reason, number in sorted(dict(self._reasons).items())}
        return {"queries": account.answers, "dollars": float(account.dollars), "samples": samples}

    def drain(self) -> None:
        """Send no new requests; a request in flight may finish."""
        self._ending.set()

    def abort(self) -> None:
        """Interrupt the request in flight, and send no new ones."""
        self._ending.set()
        self._aborted.set()
        self._pool.close()

    def close(self) -> None:
        """End the processes and close the response log."""
        self.abort()
        self._log.close()

    async def _make_unless_aborted(self, sample: SampleRequest) -> SampleResult:
        making = asyncio.create_task(self._make(sample))
        ends = math.inf
        while not making.done() and not self._aborted.is_set() and time.monotonic() < ends:
            await asyncio.wait({making}, timeout=CHECK_SECONDS)
            if self._ending.is_set():
                ends = min(ends, time.monotonic() + ENDING_SECONDS)
        if not making.done():
            making.cancel()
            await asyncio.wait({making})
            raise CampaignEnding
        return making.result()

    async def _make(self, sample: SampleRequest) -> SampleResult:
        request = self._request

        async def check(code: str, watched: Sequence[CompilerPart]) -> ValidationResult:
            checked = await asyncio.to_thread(self._validator.check, code, watched)
            if self._ending.is_set() and checked.reason is not None:
                raise CampaignEnding  # ending the processes may be why the check failed
            return checked

        messages = self._samples.messages(sample, ())
        watched = [sample.part] if sample.part is not None else []
        async with Client(
            request.endpoint, request.price, self._ledger, concurrency=1, retry_policy=request.retry_policy
        ) as client:
            return await generate_sample(client, check, request.settings, messages, sample.number, watched)


def llm_request_of(configuration: Configuration, out: Path) -> GenerationRequest:
    """The request for seeds of the configuration's ``[model]``, with files below ``out``. Raises UsageError."""
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
    return GenerationRequest(
        endpoint=endpoint,
        price=price,
        prompts=prompts,
        count=0,
        out=out,
        seed=configuration.seed,
        budget=None if dollars is None else Decimal(str(dollars)),
        settings=RequestSettings(model.max_tokens, model.temperature, model.repairs),
        retry_policy=RetryPolicy(timeout=model.timeout, attempts=model.attempts),
        parts=parts,
        all_parts=all_parts,
        corpus=seeds or (),
        program_seconds=model.program_timeout,
        unsafe=configuration.sources.unsafe,
    )
