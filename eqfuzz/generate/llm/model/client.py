"""Client of an OpenAI-compatible server, which reserves money before every attempt and retries by itself.

Responses are untrusted: bodies are limited, token counts checked, redirections not followed, and keys removed from
messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import email.utils
import json
import time
from typing import TYPE_CHECKING, Any, Self

from eqfuzz.generate.llm.model.budget import BudgetLedger
from eqfuzz.generate.llm.model.endpoint import OPENAI, Endpoint
from eqfuzz.generate.llm.model.price import Price
from eqfuzz.generate.llm.model.question import TYPICAL_BYTES_OF_A_TOKEN, Answer, Question

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI

BODY_BYTES = 8 * 2**20
SHOWN_WORDS = 300

_LEAST_SHARE = 32
"""The average token of a text has fewer bytes; token counts that contradict this are wrong."""

_FREE = (429, 503, 529)
"""Statuses before any work is done; these, and the other 4xx, are not charged."""

_OUT_OF_MONEY = ("insufficient_quota", "billing_hard_limit_reached")


class BudgetSpent(Exception):
    """The question may cost more than what is left of the budget."""


class NoAnswer(Exception):
    """The server gave no usable answer in all attempts; ``str()`` is one line."""


class RequestRejected(Exception):
    """The server rejects such questions (key, model, address); ``str()`` is one line."""


@dataclasses.dataclass(frozen=True)
class RetryPolicy:
    """``timeout`` in seconds limits one attempt. The pause between attempts is what the server asks for, or else
    ``pause`` seconds, doubled each time; never more than ``longest``.
    """

    timeout: float = 120.0
    attempts: int = 5
    pause: float = 1.0
    longest: float = 60.0


class _RetryableError(Exception):
    """A transient failure of an attempt. ``after``: seconds after which the server accepts the next one."""

    def __init__(self, words: str, *, charged: bool, after: float | None = None) -> None:
        super().__init__(words)
        self.charged = charged
        self.after = after


class Client:
    """Asks at most ``concurrency`` questions at a time, and none whose answer is logged. Use ``async with``."""

    def __init__(
        self,
        endpoint: Endpoint,
        price: Price,
        ledger: BudgetLedger,
        *,
        concurrency: int = 8,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.price = price
        self.ledger = ledger
        self.retries = 0
        self._policy = retry_policy or RetryPolicy()
        self._slots = asyncio.Semaphore(concurrency)
        self._settled = asyncio.Condition()
        self._not_before = 0.0
        self._server: AsyncOpenAI | None = None
        self._limit_name = "max_completion_tokens" if endpoint.base_url.rstrip("/") == OPENAI else "max_tokens"
        self._limit_renamed = False
        self._with_temperature = True

    async def __aenter__(self) -> Self:
        self._server = self._connection()
        _ = self._server.chat.completions  # imported now, so that no attempt is charged with the time
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            await self._server.close()
            self._server = None

    async def ask(self, question: Question) -> Answer:
        """The answer, from the log where it is there. Raises BudgetSpent, NoAnswer and RequestRejected."""
        logged = self.ledger.answer(question.key)
        if logged is not None:
            return logged
        async with self._slots:
            start = time.monotonic()
            for attempt in range(1, self._policy.attempts + 1):
                await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
                try:
                    answer = await self._attempt(question, start)
                except _RetryableError as error:
                    if attempt == self._policy.attempts:
                        tries = f"{attempt} attempts" if attempt > 1 else "1 attempt"
                        raise NoAnswer(f"{error} ({tries})") from None
                    self.retries += 1
                    if error.after is not None:  # it applies to the whole account, not only to this question
                        self._not_before = time.monotonic() + min(error.after, self._policy.longest)
                    else:
                        await asyncio.sleep(min(self._policy.pause * 2 ** (attempt - 1), self._policy.longest))
                else:
                    return answer
        raise AssertionError("no attempt was made")

    async def _attempt(self, question: Question, start: float) -> Answer:
        number = await self._reserve(question)
        charged, why, settled = True, "cut off", False
        try:
            async with asyncio.timeout(self._policy.timeout):
                body = await self._post(question)
            answer = self._read(question, body, time.monotonic() - start)
            self.ledger.settle(number, answer)
            settled = True
            return answer
        except TimeoutError:
            why = f"no answer within {self._policy.timeout:g} s"
            raise _RetryableError(why, charged=True) from None
        except _RetryableError as error:
            charged, why = error.charged, str(error)
            raise
        except RequestRejected as error:
            charged, why = False, str(error)
            raise
        finally:
            if not settled:
                self.ledger.fail(number, why, charged=charged)
            async with self._settled:
                self._settled.notify_all()

    async def _reserve(self, question: Question) -> int:
        """The number of an attempt for which money is reserved; waits for money to become free. Raises BudgetSpent."""
        at_most = self.price.dollars(question.most_input, question.max_output)
        async with self._settled:
            while True:
                number = self.ledger.reserve(question.key, at_most)
                if number is not None:
                    return number
                if not self.ledger.has_reserved():
                    raise BudgetSpent
                await self._settled.wait()

    async def _post(self, question: Question) -> bytes:
        """The body of a successful response. Raises _RetryableError or RequestRejected."""
        import openai

        parameters: dict[str, Any] = {self._limit_name: question.max_output}
        if question.temperature is not None and self._with_temperature:
            parameters["temperature"] = question.temperature
        messages: Any = list(question.messages)
        try:
            assert self._server is not None, "use the client in `async with`"
            raw = await self._server.chat.completions.with_raw_response.create(
                model=question.model, messages=messages, **parameters
            )
            return raw.http_response.content
        except openai.APIStatusError as error:
            problem = self._status(error)
        except openai.APITimeoutError:
            problem = _RetryableError(f"no answer within {self._policy.timeout:g} s", charged=True)
        except openai.APIConnectionError as error:
            cause = type(error.__cause__).__name__ if error.__cause__ is not None else "no connection"
            # Without a connection nothing is charged.
            problem = _RetryableError(
                f"connection lost: {cause}", charged=cause not in ("ConnectError", "ConnectTimeout")
            )
        except _TooLong:
            problem = _RetryableError(f"an answer of more than {BODY_BYTES // 2**20} MiB", charged=True)
        except openai.OpenAIError as error:
            problem = _RetryableError(self._words(str(error) or type(error).__name__), charged=True)
        raise problem from None

    def _status(self, error: APIStatusError) -> _RetryableError | RequestRejected:
        """The error of a response whose status is not 2xx."""
        code, message = error.status_code, self._words(str(error.message))
        problem = f"HTTP {code}: {message}"
        if code == 400 and self._adapts(message):
            return _RetryableError(problem, charged=False, after=0.0)
        if code == 429 and str(error.code) in _OUT_OF_MONEY:
            return RequestRejected(problem)
        if code in (408, 409, 429) or code >= 500:
            after = _retry_after(error.response.headers.get("retry-after"))
            return _RetryableError(problem, charged=code >= 500 and code not in _FREE, after=after)
        return RequestRejected(problem)

    def _adapts(self, message: str) -> bool:
        """Change a parameter that the server does not know, each at most once. Returns whether one was changed."""
        if "max_tokens" in message and "max_completion_tokens" in message and not self._limit_renamed:
            self._limit_renamed = True
            self._limit_name = "max_completion_tokens" if self._limit_name == "max_tokens" else "max_tokens"
            return True
        if "temperature" in message and self._with_temperature:
            self._with_temperature = False
            return True
        return False

    def _read(self, question: Question, body: bytes, seconds: float) -> Answer:
        """The answer in the body of a response. Raises _RetryableError where there is none."""
        try:
            data = json.loads(body)
            choice = data["choices"][0]
            text = choice["message"]["content"]
            finish = choice.get("finish_reason")
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            raise _RetryableError("malformed response: no choices[0].message.content in JSON", charged=True) from None
        if text is None:
            text = ""
        if not isinstance(text, str):
            raise _RetryableError("malformed response: the content is not text", charged=True)
        text = self.endpoint.hide(text.encode("utf-8", "replace").decode())
        finish = self._words(finish) if isinstance(finish, str) else ""
        usage = _usage(data.get("usage"), question, text)
        if usage is not None:
            input_tokens, output_tokens, cached = usage
            dollars = self.price.dollars(input_tokens, output_tokens, cached)
            return Answer(text, finish, input_tokens, output_tokens, dollars, seconds=round(seconds, 3))
        at_most = self.price.dollars(question.most_input, question.max_output)
        output_tokens = min(question.max_output, len(text.encode()) // TYPICAL_BYTES_OF_A_TOKEN + 1)
        return Answer(
            text, finish, question.typical_input, output_tokens, at_most, estimated=True, seconds=round(seconds, 3)
        )

    def _words(self, text: str) -> str:
        """``text`` as one line that may be shown."""
        return " ".join(self.endpoint.hide(text).split())[:SHOWN_WORDS]

    def _connection(self) -> AsyncOpenAI:
        import openai

        headers: Any = {}
        if self.endpoint.base_url.rstrip("/") != OPENAI:  # the package reads them from the environment
            headers = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        return openai.AsyncOpenAI(
            default_headers=headers,
            api_key=self.endpoint.key or "none",
            base_url=self.endpoint.base_url,
            timeout=self._policy.timeout,
            max_retries=0,
            http_client=_bounded_client(self._policy.timeout),
        )


class _TooLong(Exception):
    """The body of a response is longer than BODY_BYTES."""


def _bounded_client(timeout: float) -> httpx2.AsyncClient:
    """An HTTP client that reads at most BODY_BYTES of a response and does not follow redirections."""
    import httpx2
    import openai

    class Bounded(openai.DefaultAsyncHttpxClient):
        async def send(self, request: httpx2.Request, *, stream: bool = False, **more: Any) -> httpx2.Response:
            response = await super().send(request, stream=True, **more)
            body = bytearray()
            async with contextlib.aclosing(response):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > BODY_BYTES:
                        raise _TooLong
            headers = [(name, value) for name, value in response.headers.multi_items() if not _about_the_body(name)]
            return httpx2.Response(response.status_code, headers=headers, content=bytes(body), request=request)

    return Bounded(timeout=timeout, follow_redirects=False)


def _about_the_body(header: str) -> bool:
    return header.lower() in ("content-encoding", "content-length", "transfer-encoding")


def _retry_after(value: str | None) -> float | None:
    """Seconds, from a number or a date; None for any other value."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None


def _usage(usage: Any, question: Question, text: str) -> tuple[int, int, int] | None:
    """Tokens of input and output, and cached tokens of the input; None where the counts are missing or implausible."""
    if not isinstance(usage, dict):
        return None
    sent, received = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(sent) is not int or type(received) is not int:
        return None
    least_sent = (question.most_input // _LEAST_SHARE) + 1
    least_received = len(text.encode()) // _LEAST_SHARE
    if not (least_sent <= sent <= question.most_input and least_received <= received <= question.max_output):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    return sent, received, cached if type(cached) is int and 0 <= cached <= sent else 0
