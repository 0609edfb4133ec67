"""Questions to a model, and its answers."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from decimal import Decimal
from typing import Any

BYTES_OF_A_MESSAGE = 16
"""Tokens that a server may add around one message."""

TYPICAL_BYTES_OF_A_TOKEN = 4

Message = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Question:
    """``sample`` distinguishes questions with the same messages; ``max_output`` is in tokens; ``temperature`` None: the
    server's default.
    """

    model: str
    messages: tuple[Message, ...]
    sample: int
    max_output: int
    temperature: float | None = None

    @property
    def key(self) -> str:
        """The identity of the question: the answer to an equal one is reused."""
        parts = [self.model, list(self.messages), self.sample, self.max_output, self.temperature]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def most_input(self) -> int:
        """An upper bound of the tokens of the messages: each is at least one byte."""
        return sum(len(m["content"].encode()) + BYTES_OF_A_MESSAGE for m in self.messages) + BYTES_OF_A_MESSAGE

    @property
    def typical_input(self) -> int:
        """The typical number of tokens of the messages."""
        return sum(len(m["content"].encode()) // TYPICAL_BYTES_OF_A_TOKEN + 4 for m in self.messages)


@dataclasses.dataclass(frozen=True)
class Answer:
    """An answer.

    Attributes:
        text: What the model wrote.
        finish: The server's reason why the model stopped (``stop``, ``length``).
        input_tokens: Tokens of the question, by the server.
        output_tokens: Tokens of the answer, by the server.
        dollars: Its cost.
        estimated: Whether the server sent no usable token counts, so that the maximal cost is assumed.
        kept: Whether it was read from the response log.
        seconds: Wall time that it took, waiting included.
    """

    text: str
    finish: str
    input_tokens: int
    output_tokens: int
    dollars: Decimal
    estimated: bool = False
    kept: bool = False
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "dollars": str(self.dollars)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Answer:
        return cls(**{**data, "dollars": Decimal(data["dollars"])})
