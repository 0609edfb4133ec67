"""Seeds written by a model that plays a part, as a user has them written: what is kept, what it costs, what leaks."""

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from werkzeug import Response

from eqfuzz.campaign.sources.files import DrawHistory
from eqfuzz.campaign.sources.llm import LlmSeeds
from eqfuzz.events.event import Event
from eqfuzz.generate.llm.model.endpoint import Endpoint
from eqfuzz.generate.llm.model.price import OwnPrice
from eqfuzz.generate.llm.prompt import shipped_prompts
from eqfuzz.generate.llm.repair import RequestSettings
from eqfuzz.generate.llm.request import GenerationRequest
from eqfuzz.program.formats import recognise
from eqfuzz.program.provenance import provenance_of
from tests.scripted_model import (
    GOOD,
    MOST_OUTPUT,
    PATH,
    REASONS,
    TRANSIENT,
    VALID,
    Act,
    ScriptedModel,
    serving,
    shuffled,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

KEY = "sk-proj-Vq3xTz81secretLm0pWd/77+"
COMMON = ("--model", "played", "--price", "1,4", "--max-tokens", MOST_OUTPUT, "--key-env", "PLAYED_KEY")


def command(model, out, *more):
    return [
        *(sys.executable, "-m", "eqfuzz", "generate", "llm", *COMMON, "--base-url", model.url),
        *("--out", out, "--format", "json", "--attempts", 8, *more),
    ]


def environment():
    return {**os.environ, "PLAYED_KEY": KEY, "OPENAI_LOG": "debug", "OPENAI_API_KEY": "sk-another-key-0123456789"}


def write(model, out, *more, timeout=500):
    done = subprocess.run(
        [str(part) for part in command(model, out, *more)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    return done, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def wanted(acts):
    return sum(act.kind not in TRANSIENT for act in acts)


def expected_first(acts):
    kinds = Counter(act.kind for act in acts if act.kind not in (*VALID, *TRANSIENT))
    return dict(sorted(sum((Counter({REASONS.get(kind, kind): n}) for kind, n in kinds.items()), Counter()).items()))


def play(tmp_path, acts, *more):
    with serving() as server:
        model = ScriptedModel(server, acts)
        done, events = write(model, tmp_path / "out", "--count", wanted(acts), *more)
        model.over.set()
    assert done.returncode == 0, done.stderr
    return model, events


def check(tmp_path, model, events, acts, *, stubborn, estimated):
    """Counts by reason, repairs, money, and files that run without any model."""
    last = events[-1]
    requested = wanted(acts)
    first = expected_first(acts)
    assert last["event"] == "summary"
    assert last["asked"] == requested
    assert last["first"] == first
    wrong = sum(first.values())
    assert last["first_valid"] == requested - wrong
    assert last["repaired"] == wrong - stubborn >= 0.9 * (wrong - stubborn)
    assert last["failed"] == ({"syntax": stubborn} if stubborn else {})
    assert last["accepted"] == requested - stubborn
    assert last["valid_share"] == pytest.approx((requested - stubborn) / requested, abs=1e-4)
    assert last["queries"] == model.answers == requested + wrong + stubborn
    assert last["estimated"] == estimated
    assert last["spent"] == last["paid"] == pytest.approx(last["dollars"] + last["lost"])
    assert last["paid"] >= model.dollars_charged - 1e-9
    assert last["retries"] == sum(model.played[kind] for kind in TRANSIENT) == sum(a.kind in TRANSIENT for a in acts)
    files = sorted((tmp_path / "out" / "programs").iterdir())
    assert len(files) == last["accepted"]
    assert {str(file) for file in files} == {
        event["file"] for event in events if event["event"] == "sample" and event["file"]
    }
    for file in files:
        text = file.read_text()
        provenance = provenance_of(text)
        assert provenance.source == "llm"
        assert provenance.details["model"] == "played"
        assert provenance.details["dollars"] > 0
        assert recognise(text, file.name).untrusted
    assert [event["number"] for event in events if event["event"] == "sample"] == list(range(requested))


FEW = {"fence": 6, "prose": 2, "bare prose": 1, "two blocks": 1, "two versions": 1, "plain": 1}
FEW_WRONG = {"syntax": 2, "load": 1, "empty": 1, "raises": 1, "format": 1, "no-code": 1}


def test_run_of_twenty_answers_repairs_and_counts_them(tmp_path):
    acts = shuffled({**FEW, **FEW_WRONG}, {"429": 1, "500": 1, "cut": 1, "malformed": 1}, stubborn=1)
    model, events = play(tmp_path, acts, "--budget", "0.20")
    check(tmp_path, model, events, acts, stubborn=1, estimated=0)
    assert events[-1]["spent"] <= 0.20


@pytest.mark.long
@pytest.mark.timeout(2000)
def test_run_of_two_hundred_answers_with_every_fault_repairs_and_counts_them(tmp_path):
    """Every fault at once; the second answers are good but for five."""
    good = {"fence": 40, "plain": 10, "prose": 15, "bare prose": 10, "two blocks": 10, "two versions": 5}
    wrong = {
        "syntax": 30,
        "load": 10,
        "module": 8,
        "missing": 10,
        "empty": 10,
        "no-code": 7,
        "raises": 8,
        "environment": 2,
        "undetermined": 4,
        "no-sites": 3,
        "format": 7,
        "hang": 3,
    }
    acts = shuffled({**good, **wrong}, {"429": 6, "500": 5, "stall": 2, "cut": 3, "malformed": 4}, stubborn=3)
    figures = [None, {}, {"prompt_tokens": -1, "completion_tokens": 5}, {"prompt_tokens": 10**12}, "free", 7]
    figures += [{"prompt_tokens": 10**9, "completion_tokens": 1}, {"prompt_tokens": 1, "completion_tokens": 10**9}]
    for usage in figures:
        acts[next(place for place, act in enumerate(acts) if act.kind == "fence" and act.usage == "")] = Act(
            "fence", usage=usage
        )
    assert wanted(acts) == 200 - 5
    acts += [Act("plain", number=900)] * 5
    more = "--budget", "1.50", "--timeout", 15, "--program-timeout", 6
    with serving() as server:
        model = ScriptedModel(server, acts)
        done, events = write(model, tmp_path / "out", "--count", 200, *more, timeout=1900)
        model.over.set()
    assert done.returncode == 0, done.stderr
    last = events[-1]
    assert last["failed"] == {"duplicate": 4, "syntax": 3}
    assert last["asked"] == 200
    assert last["accepted"] == 193
    assert last["estimated"] == len(figures)
    assert last["first"] == {
        "empty": 10,
        "format": 15,
        "hang": 3,
        "load": 10,
        "no-code": 7,
        "no-sites": 3,
        "policy": 12,
        "raises": 8,
        "syntax": 33,
        "undetermined": 4,
    }
    assert last["repaired"] == 102 >= 0.9 * 102
    assert model.dollars_charged <= last["spent"] + 1e-9 <= 1.50
    assert last["retries"] == 20 == sum(model.played[kind] for kind in TRANSIENT)


def test_the_budget_ends_a_run_before_it_is_spent(tmp_path):
    acts = [Act("fence")] * 30
    with serving() as server:
        model = ScriptedModel(server, acts)
        done, events = write(model, tmp_path, "--count", 30, "--budget", "0.009")
    last = events[-1]
    assert done.returncode == 0
    assert last["why"] == "budget"
    assert 3 <= last["accepted"] == last["asked"] < 30
    assert last["failed"] == {"budget": 30 - last["asked"]}
    assert model.dollars_charged <= last["spent"] + 1e-9 <= 0.009
    assert model.answers == last["asked"]


@pytest.mark.long
def test_killed_run_resumes(tmp_path):
    """kill -9 in the middle: what was answered is not asked again, and what was under way counts as spent."""
    acts = [Act("fence"), Act("syntax"), Act("prose"), Act("load")] * 10
    out = tmp_path / "out"
    more = "--count", 40, "--budget", "1.00", "--concurrency", 4
    with serving() as server:
        model = ScriptedModel(server, acts)
        parts = [str(part) for part in command(model, out, *more)]
        process = subprocess.Popen(parts, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        began = time.monotonic()
        while model.answers < 12 and time.monotonic() - began < 300:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.5)
        killed_at, charged = model.answers, model.dollars_charged
        journal = [json.loads(line) for line in (out / "llm-journal.jsonl").read_text().splitlines()]
        responses = sum("answer" in entry for entry in journal)
        assert 0 < responses <= killed_at < 60
        assert killed_at - responses <= 4

        done, events = write(model, out, *more)
        assert done.returncode == 0, done.stderr
        last = events[-1]
        assert last["accepted"] == last["asked"] == 40
        assert last["kept"] == responses
        assert model.answers - killed_at == last["queries"] - responses
        assert last["spent"] >= model.dollars_charged - 1e-9
        assert events[0]["spent"] >= charged - 1e-9

        before = model.answers
        files = {file: file.read_bytes() for file in (out / "programs").iterdir()}
        assert len(files) == 40
        done, again = write(model, out, *more)
        assert model.answers == before
        assert again[-1]["paid"] == 0
        assert again[-1]["kept"] == last["queries"]
        assert {file: file.read_bytes() for file in (out / "programs").iterdir()} == files
        plain = [{**e, "rounds": [{**r, "kept": True} for r in e["rounds"]]} for e in events if e["event"] == "sample"]
        assert [event for event in again if event["event"] == "sample"] == plain


def everything(folder: Path):
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_api_key_is_written_nowhere(tmp_path):
    """Neither where a server echoes it, nor where a program shows its environment, nor in logs and tracebacks."""
    acts = [Act(kind) for kind in ("fence", "environment", "syntax", "malformed", "load", "429", "500", "prose")]
    with serving() as server:
        model = ScriptedModel(server, acts, echo=True)
        done, events = write(model, tmp_path / "out", "--count", 5, "--log-level", "DEBUG")
        text = done.stdout + done.stderr
        written = everything(tmp_path)
        assert done.returncode == 0
        assert events[-1]["accepted"] == 5
        server.clear()
        body = {"error": {"message": f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}"}}
        server.expect_request("/v1/chat/completions").respond_with_json(body, status=401)
        for more in (("--format", "text"), ("--format", "json")):
            done, _ = write(model, tmp_path / "other", "--log-level", "DEBUG", *more)
            assert done.returncode == 2
            assert "HTTP 401" in done.stderr
            assert len([line for line in done.stderr.splitlines() if line.startswith("eqfuzz:")]) == 1
            text += done.stdout + done.stderr
        written += everything(tmp_path)
    for secret in (KEY, KEY[8:24], "Bearer", "sk-another-key"):
        assert secret not in text
        assert secret.encode() not in written
    assert "authorization" not in text.lower()
    assert b"authorization" not in written.lower()


@pytest.mark.long
def test_paper_experiment_in_one_command(tmp_path):
    """Its prompt, its ten transforms, four cells for each seed, and what it cost."""
    with serving() as server:
        model = ScriptedModel(server, [Act("paper")] * 2)
        more = "--prompt", "paper", "--run", "--strategy", "all", "--rules", "paper", "--jobs", 1
        done, events = write(model, tmp_path / "out", "--count", 2, *more)
    assert done.returncode in (0, 1), done.stderr
    system = model.requests[0]["messages"][0]["content"]
    assert "PMbodule" in system
    assert "provide 5 inputs" in system
    written = next(event for event in events if event["event"] == "generation")
    assert written["accepted"] == 2
    assert "paper" in written["prompts"]
    rewritten = [event for event in events if event["event"] == "rewritten"]
    assert len(rewritten) == 2
    assert all(1 + e["variants"] == e["cells"] >= 2 for e in rewritten)
    cells = [event for event in events if event["event"] == "cell"]
    assert {(cell["variant"], bool(cell["config"])) for cell in cells} >= {(0, True), (1, False), (1, True)}
    applied = {rule for cell in cells for rule in cell["rules"]}
    assert {"add_function", "matmul_function", "pow_half_is_sqrt", "neg_function"} <= {
        r.split("/")[-1] for r in applied
    }
    cost, last = events[-2:]
    assert cost["event"] == "cost"
    assert last["event"] == "summary"
    assert last["seeds"] == 2
    assert not last["invalid"]
    assert cost["queries"] == 2
    assert cost["dollars"] == written["dollars"] > 0
    assert cost["valid_share"] == 1.0
    assert cost["findings"] == last["findings"]


@pytest.mark.long
def test_white_box_prompt_shows_example_that_reached_part(tmp_path):
    """One part is reached and its example shown; the other is not, and nothing is."""
    cumsum, cat = "pass:post_grad.pointless_cumsum_replacement", "lowering:lowering.cat"
    numbers = iter(range(100))

    def answer(request):
        requested = request.get_json()["messages"][1]["content"]
        body = "torch.cumsum(torch.ones(4, 6), 1)" if "pointless_cumsum_replacement" in requested else "x"
        text = GOOD.replace("{number}", f"{next(numbers)} + {body}")
        message = {"choices": [{"message": {"content": f"```python\n{text}```"}, "finish_reason": "stop"}]}
        seen.append(requested)
        return Response(
            json.dumps({**message, "usage": {"prompt_tokens": len(requested) // 4, "completion_tokens": 90}})
        )

    seen = []
    with serving() as server:
        server.expect_request(PATH).respond_with_handler(answer)
        model = SimpleNamespace(url=server.url_for("/v1"))
        more = "--prompt", "white-box", "--target", cumsum, "--target", cat, "--count", 4, "--jobs", 1
        done, events = write(model, tmp_path / "out", *more)
    assert done.returncode == 0, done.stderr
    samples = [event for event in events if event["event"] == "sample"]
    assert [sample["part"] for sample in samples] == [cumsum, cat] * 2
    assert [sample["reached"] for sample in samples] == [True, False] * 2, samples
    assert events[-1]["reached"] == [cumsum]
    assert events[-1]["parts"] == 2
    examples = [text for text in seen if "reached it" in text]
    assert len(seen) == 4
    assert len(examples) == 1
    assert "def pointless_cumsum_replacement" in examples[0]
    assert examples[0].count("torch.cumsum(torch.ones(4, 6), 1)") == 1
    header = provenance_of(Path(samples[0]["file"]).read_text()).details
    assert header["part"] == cumsum
    assert header["reached"] is True


@pytest.mark.long
def test_campaign_draws_seeds_from_model(tmp_path):
    """The same draws again cost nothing, and give the same seeds; a spent budget gives none."""
    order = GenerationRequest(
        endpoint=Endpoint("played", "http://127.0.0.1:1/v1"),
        price=OwnPrice(Decimal(1), Decimal(4)),
        prompts=(shipped_prompts()["loops"],),
        count=0,
        out=tmp_path,
        budget=Decimal("0.02"),
        settings=RequestSettings(max_output=MOST_OUTPUT),
    )
    nothing = DrawHistory({}, frozenset())
    events: list[Event] = []
    spending: list[Mapping[str, Any]] = []
    with serving() as server:
        model = ScriptedModel(server, [Act("fence"), Act("syntax", repairable=False), Act("prose"), Act("load")])
        order = dataclasses.replace(order, endpoint=Endpoint("played", model.url))
        with LlmSeeds(order, events.append, spending.append) as source:
            assert source.name == "llm:loops"
            drawn = [source.draw(random.Random(0), number, nothing) for number in range(3)]
            paid = source.figures()
            while source.draw(random.Random(0), 50 + model.first, nothing) is not None:
                pass
            assert source.trouble == "the budget is spent"
            assert source.figures()["dollars"] <= 0.02
            assert spending[-1] == source.figures()
        requested = model.answers
        with LlmSeeds(order, events.append, spending.append) as source:
            assert [source.draw(random.Random(0), number, nothing) for number in range(3)] == drawn
    assert model.answers == requested
    assert paid["queries"] >= 5
    assert all(seed is not None for seed in drawn)
    assert all(recognise(seed.text, seed.name).untrusted for seed in drawn)
