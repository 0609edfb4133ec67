"""What a model is asked, and what came back."""

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
    """``sample`` tells apart answers to one text; ``max_output`` is in tokens; no ``temperature``: the server's own."""

    model: str
    messages: tuple[Message, ...]
    sample: int
    max_output: int
    temperature: float | None = None

    @property
    def key(self) -> str:
        """Names the question; the same model asked the same again is not asked."""
        parts = [self.model, list(self.messages), self.sample, self.max_output, self.temperature]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def most_input(self) -> int:
        """Tokens that the messages have at most: none is less than a byte."""
        return sum(len(m["content"].encode()) + BYTES_OF_A_MESSAGE for m in self.messages) + BYTES_OF_A_MESSAGE

    @property
    def typical_input(self) -> int:
        """Tokens that the messages have typically."""
        return sum(len(m["content"].encode()) // TYPICAL_BYTES_OF_A_TOKEN + 4 for m in self.messages)


@dataclasses.dataclass(frozen=True)
class Answer:
    """``finish`` is why the model stopped (``stop``, ``length``), in the server's word. ``dollars`` is what it cost.

    ``estimated``: the server told no usable figures, so the most that it can have been was taken. ``kept``: it was on
    the disk already. ``seconds`` is how long it took, waiting included.
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
