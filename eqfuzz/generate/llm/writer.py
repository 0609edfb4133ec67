"""Seeds written by a language model: asked for, checked, repaired, kept as files, and told as events."""

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
from eqfuzz.generate.llm.repair import SampleResult, make
from eqfuzz.generate.llm.request import JOURNAL, GenerationRequest, samples_of
from eqfuzz.generate.llm.samples import SampleRequest
from eqfuzz.generate.llm.seed_folder import SeedFolder
from eqfuzz.generate.llm.validation import TARGET, Reason, ValidationResult, Validator
from eqfuzz.generate.llm.white_box import CompilerPart
from eqfuzz.rewrite.rules.user_rules import known_rules
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.sandbox.launcher import SandboxUnavailable, require_level

TYPICAL_OUTPUT = 700
"""Tokens of a program, with the words that models put around it."""

UNANSWERED = 5
"""So many samples in a row without an answer end the run."""


def write_seeds(order: GenerationRequest, handler: Handler, *, runs: bool = False) -> WritingEnded:
    """Have the seeds written to ``order.out``/programs and return the last event. Ctrl-C ends it early.

    Raises UsageError, also where the server refuses, and RunnerFailed when no process can be started.
    """
    try:
        if not order.unsafe:
            require_level()  # before anything is paid for
        order.out.mkdir(parents=True, exist_ok=True)
        with ResponseLog(order.out / JOURNAL) as journal:
            return _WritingRun(order, BudgetLedger(journal, order.budget), handler).run(runs=runs)
    except (InvalidResponseLog, SandboxUnavailable) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"--out: {error.filename or order.out}: {error.strerror}") from None


def show_prompts(order: GenerationRequest, handler: Handler) -> DrySummary:
    """Tell what would be asked first, and what it would cost. Raises UsageError."""
    samples = samples_of(order)
    tokens, typical, most = 0, Decimal(0), Decimal(0)
    for sample in samples.all:
        messages = samples.messages(sample, ())
        question = Question(order.endpoint.model, messages, sample.number, order.asking.max_output)
        price = order.price
        about = price.dollars(question.typical_input, min(TYPICAL_OUTPUT, order.asking.max_output))
        at_most = price.dollars(question.most_input, order.asking.max_output)
        part = sample.part.name if sample.part is not None else ""
        told = list(messages), question.typical_input, float(about), float(at_most)
        handler(PromptShown(sample.number, sample.prompt.name, part, *told))
        tokens += question.typical_input
        typical += about
        most += at_most
    budget = float(order.budget) if order.budget is not None else None
    whole = len(samples.all), tokens, float(typical), float(most * (1 + order.asking.repairs)), budget
    summary = DrySummary(order.endpoint.model, *whole)
    handler(summary)
    return summary


class _WritingRun:
    """One call of ``write_seeds``. Samples are made several at a time, and decided one after the other, in order."""

    def __init__(self, order: GenerationRequest, purse: BudgetLedger, handler: Handler) -> None:
        self.order = order
        self.purse = purse
        self.handler = handler
        self.began = time.monotonic()
        self.before = purse.account()
        self.samples = samples_of(order)
        self.programs = SeedFolder(order.out / "programs", order.endpoint, order.seed)
        self.decided = [asyncio.Event() for _ in self.samples.all]
        self.told: list[SampleEnded] = []
        self.made: list[SampleResult] = []
        self.examples: dict[str, list[str]] = {}
        self.retries = 0
        self.why = self.trouble = ""

    def run(self, *, runs: bool) -> WritingEnded:
        order = self.order
        budget = float(order.budget) if order.budget is not None else None
        spent = float(self.before.dollars)
        prompts = [prompt.name for prompt in order.prompts]
        who = order.endpoint.model, order.endpoint.host
        self.handler(WritingStarted(*who, prompts, order.count, order.seed, budget, spent, str(order.out)))
        limits = Limits(load_s=order.program_seconds, eager_s=order.program_seconds)
        watches = any(sample.part is not None for sample in self.samples.all)
        environment = Environment(order.out.resolve(), unsafe=order.unsafe)
        rules = tuple(rule.name for rule in known_rules())
        threads = ThreadPoolExecutor(order.jobs, thread_name_prefix="check")
        pool = Pool(environment, limits, jobs=order.jobs, target=TARGET, warm=watches)
        try:
            asyncio.run(self._all(Validator(pool, limits, rules, order.seed), threads))
        except KeyboardInterrupt:
            self.why = "interrupt"
        except RequestRejected as refused:
            raise UsageError(f"{order.endpoint.host} refuses: {refused}") from None
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            pool.close()
            threads.shutdown(wait=True)
        event = self._event(WritingSummary if not runs or self.why == "interrupt" else WritingEnded)
        self.handler(event)
        return event

    async def _all(self, validator: Validator, threads: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()

        async def check(code: str, watched: Sequence[CompilerPart]) -> ValidationResult:
            return await loop.run_in_executor(threads, validator.check, code, watched)

        order = self.order
        client = Client(order.endpoint, order.price, self.purse, concurrency=order.concurrency, patience=order.patience)
        window = asyncio.Semaphore(order.concurrency + 2 * order.jobs)

        async def one(sample: SampleRequest) -> SampleResult:
            async with window:
                if sample.after is not None:
                    await self.decided[sample.after].wait()
                part = sample.part
                shown = self.examples.get(part.name, []) if part is not None else []
                messages = self.samples.messages(sample, shown)
                watched = [part] if part is not None else []
                return await make(client, check, order.asking, messages, sample.number, watched)

        async with client:
            tasks = [asyncio.create_task(one(sample)) for sample in self.samples.all]
            try:
                for sample, task in zip(self.samples.all, tasks, strict=True):
                    self._decide(sample, await task)
                    self.retries = client.retries
                    if self._goes_unanswered():
                        break
            finally:
                self.retries = client.retries
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _goes_unanswered(self) -> bool:
        last = self.told[-UNANSWERED:]
        if len(last) == UNANSWERED and all(event.reason == Reason.NO_ANSWER for event in last):
            self.why, self.trouble = "endpoint", last[-1].message
        return bool(self.why)

    def _decide(self, sample: SampleRequest, made: SampleResult) -> None:
        """Keep the seed unless it is there already, and tell."""
        event = self.programs.decide(sample, made)
        if event.reached:
            self.examples.setdefault(event.part, []).append(made.code.strip())
        self.told.append(event)
        self.made.append(made)
        self.decided[sample.number].set()
        self.handler(event)

    def _event(self, kind: type[WritingEnded]) -> WritingEnded:
        order, account = self.order, self.purse.account()
        answered = [made for made in self.made if made.answers]
        accepted = [event for event in self.told if not event.reason]
        answers = [answer for made in self.made for answer in made.answers]
        failed = Counter(event.reason for event in self.told if event.reason)
        first = Counter(str(made.rounds[0].checked.reason or "") for made in answered)
        if not self.why and failed[Reason.BUDGET]:
            self.why = "budget"
        prompts = {
            prompt.name: PromptTally(
                sum(event.prompt == prompt.name and bool(made.answers) for event, made in self._both()),
                sum(event.prompt == prompt.name for event in accepted),
            )
            for prompt in order.prompts
        }
        repaired = sum(len(made.rounds) > 1 and made.checked.reason is None for made in answered)
        return kind(
            model=order.endpoint.model,
            count=order.count,
            asked=len(answered),
            accepted=len(accepted),
            first_valid=first.pop("", 0),
            repaired=repaired,
            valid_share=round(len(accepted) / len(answered), 4) if answered else 0.0,
            first=dict(sorted(first.items())),
            failed=dict(sorted(failed.items())),
            prompts=prompts,
            parts=len({event.part for event in self.told if event.part}),
            reached=sorted({event.part for event in self.told if event.reached}),
            queries=len(answers),
            kept=sum(answer.kept for answer in answers),
            retries=self.retries,
            estimated=sum(answer.estimated for answer in answers),
            input_tokens=sum(answer.input_tokens for answer in answers),
            output_tokens=sum(answer.output_tokens for answer in answers),
            dollars=float(sum((answer.dollars for answer in answers), Decimal(0))),
            paid=float(account.dollars - self.before.dollars),
            lost=float(account.lost - self.before.lost),
            spent=float(account.dollars),
            budget=float(order.budget) if order.budget is not None else None,
            why=self.why,
            trouble=self.trouble,
            interrupted=self.why == "interrupt",
            seconds=round(time.monotonic() - self.began, 3),
            out=str(order.out),
        )

    def _both(self) -> list[tuple[SampleEnded, SampleResult]]:
        return list(zip(self.told, self.made, strict=True))
