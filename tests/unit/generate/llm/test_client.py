"""The client against real sockets: retries, limits, token counts, and money."""

import asyncio
import contextlib
import datetime
import email.utils
import json
import socket
import threading
import time
from decimal import Decimal

import pytest
from werkzeug import Response

from eqfuzz.generate.llm.model.budget import BudgetLedger
from eqfuzz.generate.llm.model.client import BudgetSpent, Client, NoAnswer, RequestRejected, RetryPolicy, _retry_after
from eqfuzz.generate.llm.model.endpoint import Endpoint
from eqfuzz.generate.llm.model.price import OwnPrice
from eqfuzz.generate.llm.model.question import Question
from eqfuzz.generate.llm.model.response_log import ResponseLog
from tests.scripted_model import serving

KEY = "sk-proj-0123456789abcdefghij"
PRICE = OwnPrice(Decimal(1), Decimal(4))
QUESTION = Question("model", ({"role": "user", "content": "x" * 400},), 0, 500)
PATH = "/v1/chat/completions"


def reply(content="code", usage=(100, 50), finish="stop"):
    tokens = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if usage else None
    message = {"role": "assistant", "content": content}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], "usage": tokens})


class Questioner:
    """Asks questions through one client with one response log."""

    def __init__(self, folder, url, budget=None, timeout=5.0, attempts=3):
        self.log = ResponseLog(folder / "j")
        self.ledger = BudgetLedger(self.log, budget)
        self.endpoint = Endpoint("model", url, KEY)
        self.policy = RetryPolicy(timeout, attempts, 0.01, 2.0)

    def __call__(self, *questions, concurrency=4):
        async def ask_all():
            async with Client(
                self.endpoint, PRICE, self.ledger, concurrency=concurrency, retry_policy=self.policy
            ) as client:
                answers = await asyncio.gather(
                    *(client.ask(q) for q in questions or (QUESTION,)), return_exceptions=True
                )
                self.retries = client.retries
                return answers

        answers = asyncio.run(ask_all())
        return answers if len(answers) > 1 else answers[0]


@pytest.fixture
def ask(tmp_path, httpserver):
    questioner = Questioner(tmp_path, httpserver.url_for("/v1"))
    yield questioner
    questioner.log.close()


def test_answer_is_paid_once(ask, httpserver):
    httpserver.expect_ordered_request(
        PATH, method="POST", headers={"Authorization": f"Bearer {KEY}"}
    ).respond_with_data(reply())
    answer = ask()
    assert (answer.text, answer.input_tokens, answer.output_tokens, answer.finish) == ("code", 100, 50, "stop")
    assert answer.dollars == Decimal("0.0003")
    assert not answer.kept
    again = ask()
    assert again.kept
    assert again.dollars == answer.dollars
    assert ask.ledger.account().dollars == answer.dollars
    sent = httpserver.log[0][0].get_json()
    assert sent["max_tokens"] == 500
    assert sent["model"] == "model"
    assert "temperature" not in sent


def test_429_waits_for_retry_after(ask, httpserver):
    httpserver.expect_ordered_request(PATH).respond_with_response(Response("{}", 429, {"Retry-After": "0.4"}))
    httpserver.expect_ordered_request(PATH).respond_with_data(reply())
    start = time.monotonic()
    assert ask().text == "code"
    assert time.monotonic() - start >= 0.4
    assert ask.retries == 1
    assert ask.ledger.account().forfeited == 0


def test_500_is_retried_and_forfeits_its_money(ask, httpserver):
    httpserver.expect_ordered_request(PATH).respond_with_data("no", status=500)
    httpserver.expect_ordered_request(PATH).respond_with_data("no", status=503)
    httpserver.expect_ordered_request(PATH).respond_with_data(reply())
    assert ask().text == "code"
    assert ask.ledger.account().forfeited == PRICE.dollars(QUESTION.most_input, 500)


@pytest.mark.parametrize(
    "body", ["no json", "[]", "{}", '{"choices": []}', '{"choices": [{"message": {"content": 3}}]}', "[" * 50000]
)
def test_malformed_responses_are_retried(ask, httpserver, body):
    httpserver.expect_request(PATH).respond_with_data(body)
    error = ask()
    assert isinstance(error, NoAnswer)
    assert "malformed" in str(error)
    assert "3 attempts" in str(error)


@pytest.mark.parametrize("usage", [None, (0, 0), (-5, 10), (10**9, 10), (100, 10**9), ("100", 50), (1.5, 2), (100, 0)])
def test_implausible_token_counts_cost_the_maximum(ask, httpserver, usage):
    httpserver.expect_request(PATH).respond_with_data(reply("y" * 200, usage))
    answer = ask()
    assert answer.estimated
    assert answer.dollars == PRICE.dollars(QUESTION.most_input, 500)
    assert ask.ledger.account().estimated == 1


def test_empty_content_is_an_answer(ask, httpserver):
    httpserver.expect_request(PATH).respond_with_data(reply(None, (100, 0)))
    assert ask().text == ""


@pytest.mark.parametrize("status", [301, 401, 403, 404, 400])
def test_rejections_are_not_retried_and_hide_the_key(ask, httpserver, status):
    body = json.dumps({"error": {"message": f"Incorrect API key: {KEY}; got Authorization: Bearer {KEY}"}})
    httpserver.expect_request(PATH).respond_with_response(Response(body, status, {"Location": "/elsewhere"}))
    error = ask()
    assert isinstance(error, RequestRejected)
    assert KEY not in str(error)
    assert str(status) in str(error)
    assert len(httpserver.log) == 1
    assert ask.ledger.account().dollars == 0


def test_insufficient_quota_is_a_rejection(ask, httpserver):
    body = json.dumps({"error": {"message": "quota", "code": "insufficient_quota"}})
    httpserver.expect_request(PATH).respond_with_data(body, status=429)
    assert isinstance(ask(), RequestRejected)


def test_unsupported_parameter_is_renamed(ask, httpserver):
    body = {"error": {"message": "Unsupported parameter: 'max_tokens', use 'max_completion_tokens'"}}
    httpserver.expect_ordered_request(PATH).respond_with_json(body, status=400)
    httpserver.expect_ordered_request(PATH).respond_with_data(reply())
    assert ask().text == "code"
    assert "max_completion_tokens" in httpserver.log[1][0].get_json()


def test_key_in_an_answer_is_hidden(ask, httpserver, tmp_path):
    httpserver.expect_request(PATH).respond_with_data(reply(f"key = '{KEY}'"))
    assert KEY not in ask().text
    assert KEY not in (tmp_path / "j").read_text()


def test_endless_body_is_limited(ask, httpserver):
    httpserver.expect_request(PATH).respond_with_handler(lambda _: Response(b" " * 2**20 for _ in range(20)))
    error = ask()
    assert isinstance(error, NoAnswer)
    assert "MiB" in str(error)


def test_stalled_and_closed_connections_are_retried(tmp_path):
    """A socket that stalls, one that sends single bytes forever, one that closes in the middle."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def stall(connection):
        over.wait()

    def drip(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not over.wait(0.05):
            connection.sendall(b"x")

    def cut(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")

    def answer(connection, behaviour):
        with contextlib.suppress(OSError), connection:
            connection.recv(65536)
            behaviour(connection)

    def serve():
        for behaviour in (stall, drip, cut):
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection, behaviour), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    ask = Questioner(tmp_path, f"http://127.0.0.1:{listener.getsockname()[1]}/v1", timeout=2.0)
    error = ask()
    over.set()
    listener.close()
    assert isinstance(error, NoAnswer)
    assert "connection lost" in str(error)
    account = ask.ledger.account()
    assert account.forfeited == 3 * PRICE.dollars(QUESTION.most_input, 500)
    assert account.reserved == 0
    whys = [json.loads(line).get("why", "") for line in (tmp_path / "j").read_text().splitlines()]
    assert sum("within 2 s" in why for why in whys) == 2


def test_refused_connection_costs_nothing(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    ask = Questioner(tmp_path, f"http://127.0.0.1:{port}/v1")
    assert isinstance(ask(), NoAnswer)
    assert ask.ledger.account().dollars == 0


def test_budget_holds_with_concurrency(tmp_path, httpserver):
    """Each question may cost 0.00243 and costs 0.0003: they wait for each other instead of failing."""
    httpserver.expect_request(PATH).respond_with_data(reply())
    ask = Questioner(tmp_path, httpserver.url_for("/v1"), budget=Decimal("0.0050"))
    questions = [Question("model", QUESTION.messages, n, 500) for n in range(20)]
    answers = ask(*questions, concurrency=8)
    good = [a for a in answers if not isinstance(a, Exception)]
    assert len(good) >= 8
    assert all(isinstance(a, BudgetSpent) for a in answers if isinstance(a, Exception))
    assert len(good) == len(httpserver.log) < 20
    assert ask.ledger.account().dollars == len(good) * Decimal("0.0003") <= Decimal("0.0050")


def test_concurrency_is_limited(tmp_path):
    running, most, lock = 0, 0, threading.Lock()

    def handler(request):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.03)
        with lock:
            running -= 1
        return Response(reply())

    with serving() as server:
        server.expect_request(PATH).respond_with_handler(handler)
        ask = Questioner(tmp_path, server.url_for("/v1"))
        ask(*(Question("model", QUESTION.messages, n, 500) for n in range(12)), concurrency=3)
    assert 2 <= most <= 3


def test_openai_variables_are_not_sent_elsewhere(ask, httpserver, monkeypatch):
    for variable in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(variable, f"private-{variable}")
    httpserver.expect_request(PATH).respond_with_data(reply())
    assert ask().text == "code"
    headers = httpserver.log[0][0].headers
    assert "private-" not in str(headers)
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_retry_after_is_parsed():
    soon = email.utils.format_datetime(datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=30))
    assert 25 < _retry_after(soon) <= 30
    seconds = {"2": 2.0, "0.5": 0.5, "-3": 0.0, "soon": None, "nan": None, "": None, None: None}
    assert {value: _retry_after(value) for value in seconds} == seconds
