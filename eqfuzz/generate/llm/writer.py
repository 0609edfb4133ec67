"""Generation of seeds by a language model: requests, validation, repairs, files and events."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

from eqfuzz.errors import UsageError
from eqfuzz.events.event import Handler
from eqfuzz.events.llm import (
    DrySummary,
    PromptShown,
    PromptTally,
    SampleEnded,
    WritingEnded,
    WritingStarted,
    WritingSummary,
)
from eqfuzz.generate.llm.model.budget import BudgetLedger
from eqfuzz.generate.llm.model.client import Client, RequestRejected
from eqfuzz.generate.llm.model.question import Question
from eqfuzz.generate.llm.model.response_log import InvalidResponseLog, ResponseLog
from eqfuzz.generate.llm.repair import SampleResult, generate_sample
from eqfuzz.generate.llm.request import RESPONSE_LOG, GenerationRequest, samples_of
from eqfuzz.generate.llm.samples import SampleRequest
from eqfuzz.generate.llm.seed_folder import SeedFolder
from eqfuzz.generate.llm.validation import TARGET, Reason, ValidationResult, Validator
from eqfuzz.generate.llm.white_box import CompilerPart
from eqfuzz.mutate.parallel import pool_threads
from eqfuzz.rewrite.rules.user_rules import known_rules
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.sandbox.launcher import SandboxUnavailable, require_level

TYPICAL_OUTPUT = 700
"""Typical tokens of an answer with a program."""

UNANSWERED = 5
"""Consecutive samples without an answer after which the run ends."""


def write_seeds(request: GenerationRequest, handler: Handler, *, runs: bool = False) -> WritingEnded:
    """Generate the seeds in ``request.out``/programs; returns the last event. Ctrl-C ends the run early.

    ``runs``: the seeds are run afterwards, so the last event is not the summary. Raises UsageError, also where the
    server rejects requests, and RunnerFailed when no process can be started.
    """
    try:
        if not request.unsafe:
            require_level()  # before any request is paid for
        request.out.mkdir(parents=True, exist_ok=True)
        with ResponseLog(request.out / RESPONSE_LOG) as log:
            return _WritingRun(request, BudgetLedger(log, request.budget), handler).run(runs=runs)
    except (InvalidResponseLog, SandboxUnavailable) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"--out: {error.filename or request.out}: {error.strerror}") from None


def show_prompts(request: GenerationRequest, handler: Handler) -> DrySummary:
    """Emit the first question of every sample and its cost, without asking it. Raises UsageError."""
    samples = samples_of(request)
    tokens, typical, most = 0, Decimal(0), Decimal(0)
    for sample in samples.all:
        messages = samples.messages(sample, ())
        question = Question(request.endpoint.model, messages, sample.number, request.settings.max_output)
        price = request.price
        about = price.dollars(question.typical_input, min(TYPICAL_OUTPUT, request.settings.max_output))
        at_most = price.dollars(question.most_input, request.settings.max_output)
        part = sample.part.name if sample.part is not None else ""
        handler(
            PromptShown(
                number=sample.number,
                prompt=sample.prompt.name,
                part=part,
                messages=list(messages),
                input_tokens=question.typical_input,
                dollars=float(about),
                at_most=float(at_most),
            )
        )
        tokens += question.typical_input
        typical += about
        most += at_most
    summary = DrySummary(
        model=request.endpoint.model,
        prompts=len(samples.all),
        input_tokens=tokens,
        dollars=float(typical),
        at_most=float(most * (1 + request.settings.repairs)),
        budget=float(request.budget) if request.budget is not None else None,
    )
    handler(summary)
    return summary


class _WritingRun:
    """One call of ``write_seeds``. Samples are generated concurrently; their results are handled in order."""

    def __init__(self, request: GenerationRequest, ledger: BudgetLedger, handler: Handler) -> None:
        self.request = request
        self.ledger = ledger
        self.handler = handler
        self.start = time.monotonic()
        self.before = ledger.account()
        self.samples = samples_of(request)
        self.programs = SeedFolder(request.out / "programs", request.endpoint, request.seed)
        self.decided = [asyncio.Event() for _ in self.samples.all]
        self.events: list[SampleEnded] = []
        self.results: list[SampleResult] = []
        self.examples: dict[str, list[str]] = {}
        self.retries = 0
        self.why = self.trouble = ""

    def run(self, *, runs: bool) -> WritingEnded:
        request = self.request
        budget = float(request.budget) if request.budget is not None else None
        spent = float(self.before.dollars)
        prompts = [prompt.name for prompt in request.prompts]
        self.handler(
            WritingStarted(
                model=request.endpoint.model,
                endpoint=request.endpoint.host,
                prompts=prompts,
                count=request.count,
                seed=request.seed,
                budget=budget,
                spent=spent,
                out=str(request.out),
            )
        )
        limits = Limits(load_s=request.program_seconds, eager_s=request.program_seconds)
        watches = any(sample.part is not None for sample in self.samples.all)
        environment = Environment(request.out.resolve(), unsafe=request.unsafe)
        rules = tuple(rule.name for rule in known_rules())
        pool = Pool(environment, limits, jobs=request.jobs, target=TARGET, warm=watches)
        with pool_threads(pool, request.jobs, "check") as threads:
            try:
                asyncio.run(self._all(Validator(pool, limits, rules, request.seed), threads))
            except KeyboardInterrupt:
                self.why = "interrupt"
            except RequestRejected as error:
                raise UsageError(f"{request.endpoint.host} refuses: {error}") from None
        event = self._event(WritingSummary if not runs or self.why == "interrupt" else WritingEnded)
        self.handler(event)
        return event

    async def _all(self, validator: Validator, threads: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()

        async def check(code: str, watched: Sequence[CompilerPart]) -> ValidationResult:
            return await loop.run_in_executor(threads, validator.check, code, watched)

        request = self.request
        client = Client(
            request.endpoint,
            request.price,
            self.ledger,
            concurrency=request.concurrency,
            retry_policy=request.retry_policy,
        )
        window = asyncio.Semaphore(request.concurrency + 2 * request.jobs)

        async def one(sample: SampleRequest) -> SampleResult:
            async with window:
                if sample.after is not None:
                    await self.decided[sample.after].wait()
                part = sample.part
                examples = self.examples.get(part.name, []) if part is not None else []
                messages = self.samples.messages(sample, examples)
                watched = [part] if part is not None else []
                return await generate_sample(client, check, request.settings, messages, sample.number, watched)

        async with client:
            tasks = [asyncio.create_task(one(sample)) for sample in self.samples.all]
            try:
                for sample, task in zip(self.samples.all, tasks, strict=True):
                    self._decide(sample, await task)
                    self.retries = client.retries
                    if self._is_unanswered():
                        break
            finally:
                self.retries = client.retries
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _is_unanswered(self) -> bool:
        last = self.events[-UNANSWERED:]
        if len(last) == UNANSWERED and all(event.reason == Reason.NO_ANSWER for event in last):
            self.why, self.trouble = "endpoint", last[-1].message
        return bool(self.why)

    def _decide(self, sample: SampleRequest, result: SampleResult) -> None:
        """Save the program if it is a new seed, and emit the event."""
        event = self.programs.decide(sample, result)
        if event.reached:
            self.examples.setdefault(event.part, []).append(result.code.strip())
        self.events.append(event)
        self.results.append(result)
        self.decided[sample.number].set()
        self.handler(event)

    def _event(self, kind: type[WritingEnded]) -> WritingEnded:
        request, account = self.request, self.ledger.account()
        answered = [result for result in self.results if result.answers]
        accepted = [event for event in self.events if not event.reason]
        answers = [answer for result in self.results for answer in result.answers]
        failed = Counter(event.reason for event in self.events if event.reason)
        first = Counter(str(result.rounds[0].validation.reason or "") for result in answered)
        if not self.why and failed[Reason.BUDGET]:
            self.why = "budget"
        prompts = {
            prompt.name: PromptTally(
                asked=sum(event.prompt == prompt.name and bool(result.answers) for event, result in self._outcomes()),
                accepted=sum(event.prompt == prompt.name for event in accepted),
            )
            for prompt in request.prompts
        }
        repaired = sum(len(result.rounds) > 1 and result.validation.reason is None for result in answered)
        return kind(
            model=request.endpoint.model,
            count=request.count,
            asked=len(answered),
            accepted=len(accepted),
            first_valid=first.pop("", 0),
            repaired=repaired,
            valid_share=round(len(accepted) / len(answered), 4) if answered else 0.0,
            first=dict(sorted(first.items())),
            failed=dict(sorted(failed.items())),
            prompts=prompts,
            parts=len({event.part for event in self.events if event.part}),
            reached=sorted({event.part for event in self.events if event.reached}),
            queries=len(answers),
            kept=sum(answer.kept for answer in answers),
            retries=self.retries,
            estimated=sum(answer.estimated for answer in answers),
            input_tokens=sum(answer.input_tokens for answer in answers),
            output_tokens=sum(answer.output_tokens for answer in answers),
            dollars=float(sum((answer.dollars for answer in answers), Decimal(0))),
            paid=float(account.dollars - self.before.dollars),
            lost=float(account.forfeited - self.before.forfeited),
            spent=float(account.dollars),
            budget=float(request.budget) if request.budget is not None else None,
            why=self.why,
            trouble=self.trouble,
            interrupted=self.why == "interrupt",
            seconds=round(time.monotonic() - self.start, 3),
            out=str(request.out),
        )

    def _outcomes(self) -> list[tuple[SampleEnded, SampleResult]]:
        return list(zip(self.events, self.results, strict=True))
