"""A scripted model: an OpenAI-compatible server on a real socket whose answers are given in advance."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

PATH = "/v1/chat/completions"
MOST_OUTPUT = 400
STALL_SECONDS = 60.0

GOOD = """import torch


def program(x, y):
    a = x * {number} + y
    for i in range(3):
        a = a / (i + 2) - y
    return torch.relu(a).sum(dim=0), a @ y.t()


def inputs(rng):
    yield rng.normal(4, 6), rng.normal(4, 6)
"""

PAPER = """import torch
import torch.nn as nn


class PMbodule(nn.Module):
    def __init__(self):
        super(PMbodule, self).__init__()
        self.scale = nn.Parameter(torch.tensor([0.5, {number}.5]))

    def forward(self, x):
        y = x * self.scale + 1.0
        y = (y * y + 0.25) ** 0.5 - x / 2.0
        return -(y @ y.transpose(-2, -1)) + {number}


input_tensors = [
    torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]),
    torch.tensor([[[0.5, -1.0], [1.5, 2.5]]]),
    torch.tensor([[[-2.0, 2.0], [4.0, -4.5]]]),
    torch.tensor([[[5.0, 1.0], [0.25, 4.0]]]),
    torch.tensor([[[[0.1, 0.2], [0.3, 0.4]]]]),
]

if __name__ == "__main__":
    model = PMbodule()
    for tensor in input_tensors:
        print(model(tensor))
"""


def _broken(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


ANSWERS: dict[str, str] = {
    "fence": f"```python\n{GOOD}```",
    "plain": GOOD,
    "prose": f"Certainly! Here is the program.\n\n```python\n{GOOD}```\n\nIt tests arithmetic; enjoy (or not).",
    "bare prose": f"Certainly! Here is the program:\n\n{GOOD}\nIt tests arithmetic.",
    "two blocks": "First the program.\n```python\n{}\n```\nThen its inputs.\n```python\ndef inputs{}```\n".format(
        *GOOD.split("\n\n\ndef inputs")
    ),
    "two versions": f"A first one:\n```python\nx = 1\n```\nNo, rather\n```python\n{GOOD}```",
    "syntax": f"```python\n{_broken('y.t()', 'y.t(]')}```",
    "hang": f"```python\n{GOOD}```".replace("    a = x", "    while True:\n        pass\n    a = x"),
    "load": f"```python\n{_broken('import torch', 'import torch.nnn')}```",
    "missing": f"```python\n{_broken('import torch', 'import torch' + chr(10) + 'import no_such_module')}```",
    "module": "```python\nimport torch\n\n\nclass PtModule(torch.nn.Modul):  # {number}\n    def forward(self, x):\n"
    "        return x + {number}\n\n\ninput_tensors = [torch.ones(2)]\n```",
    "empty": "",
    "no-code": "I am sorry, but I cannot write program {number} for you today.",
    "raises": f"```python\n{_broken('a @ y.t()', 'a @ y')}```",
    "undetermined": f"```python\nimport time\n\n{GOOD}```".replace("y.t()", "y.t() * time.perf_counter()"),
    "no-sites": "```python\nimport torch\n\n\ndef program(x):\n    pass\n\n\ndef inputs(rng):\n"
    "    yield rng.normal({number})\n```",
    "format": f"```python\n{_broken('def inputs', 'def data')}```",
    "environment": f"```python\nimport os\n\n{GOOD}```".replace(
        "    a = x", "    raise ValueError(str(dict(os.environ)))\n    a = x"
    ),
    "paper": PAPER,
}
REASONS = {"missing": "policy", "module": "format", "environment": "policy"}
"""The reason that eqfuzz reports for a kind of answer, where the names differ."""

VALID = ("fence", "plain", "prose", "bare prose", "two blocks", "two versions", "paper")
TRANSIENT = ("429", "500", "stall", "cut", "malformed")


@dataclasses.dataclass(frozen=True)
class Act:
    """A first answer: its kind, and whether a repair of it is ever valid. ``usage`` replaces the token counts."""

    kind: str
    repairable: bool = True
    usage: Any = ""
    number: int = -1


class ScriptedModel:
    """Answers each new conversation with the next of ``acts``; a request for a repair gets a valid program.

    Acts in TRANSIENT are failures: the attempt after one gets the next act. After the last act every answer is valid.
    With ``echo`` every answer contains the Authorization header of its question.
    """

    def __init__(self, server: HTTPServer, acts: list[Act], *, echo: bool = False) -> None:
        self.url = server.url_for("/v1")
        self.acts = acts
        self.echo = echo
        self.first = 0
        self.repairs = 0
        self.answers = 0
        self.played: Counter[str] = Counter()
        self.dollars_charged = 0.0
        self.requests: list[dict[str, Any]] = []
        self.over = threading.Event()
        self._numbers = iter(range(10_000))
        self._lock = threading.Lock()
        server.expect_request(PATH, method="POST").respond_with_handler(self._handle)

    def _handle(self, request: Request) -> Response:
        question = request.get_json()
        with self._lock:
            self.requests.append(question)
            number = next(self._numbers)
            repair = len(question["messages"]) > 2
            if repair:
                self.repairs += 1
                wrong = re.search(r"stays (\S+)", question["messages"][2]["content"])
                act = Act(wrong[1], False) if wrong else Act("fence")
            else:
                act = self.acts[self.first] if self.first < len(self.acts) else Act("fence")
                self.first += 1
                self.played[act.kind] += 1
        if act.kind in TRANSIENT:
            return self._fail(act.kind)
        text = ANSWERS[act.kind].replace("{number}", str(number if act.number < 0 else act.number))
        if not act.repairable:
            text = text.replace("import torch\n", f"import torch  # stays {act.kind}\n", 1)
        if self.echo:
            header = request.headers.get("Authorization", "")
            text = text.replace("import torch\n", f"import torch  # Authorization: {header} {header[7:]}\n", 1)
        sent = sum(len(m["content"]) for m in question["messages"]) // 4
        usage: Any = {"prompt_tokens": sent, "completion_tokens": min(len(text) // 4, MOST_OUTPUT)}
        reported = usage if act.usage == "" else act.usage
        with self._lock:
            self.answers += 1
            self.dollars_charged += (usage["prompt_tokens"] + 4 * usage["completion_tokens"]) / 1e6
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return Response(json.dumps({"id": "x", "choices": choices, "usage": reported}), content_type="application/json")

    def _fail(self, kind: str) -> Response:
        if kind == "429":
            return Response('{"error": {"message": "slow down"}}', 429, {"Retry-After": "0.2"})
        if kind == "500":
            return Response("<html>oops</html>", 500)
        if kind == "stall":
            self.over.wait(STALL_SECONDS)
            return Response("", 504)
        if kind == "cut":
            return Response('{"choices": [', 200, {"Content-Length": "5000"})
        return Response('{"choices": [{"message": ', 200)


def shuffled(counts: dict[str, int], transient: dict[str, int], seed: int = 0, stubborn: int = 0) -> list[Act]:
    """Acts by ``counts`` in random order, with failures in between; ``stubborn`` syntax errors are never repaired."""
    acts = [Act(kind) for kind, count in counts.items() for _ in range(count)]
    acts += [Act("syntax", repairable=False)] * stubborn
    rng = random.Random(seed)
    rng.shuffle(acts)
    failures = [Act(kind) for kind, count in transient.items() for _ in range(count)]
    rng.shuffle(failures)
    step = max(2, len(acts) // (len(failures) + 1))
    for position, act in enumerate(failures, 1):
        acts.insert(position * step, act)
    return acts


@contextmanager
def serving() -> Iterator[HTTPServer]:
    """A server that answers questions concurrently."""
    server = HTTPServer(threaded=True)
    server.start()
    try:
        yield server
    finally:
        server.clear()
        if server.is_running():
            server.stop()
