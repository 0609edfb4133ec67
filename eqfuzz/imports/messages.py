"""Messages between the process that imports a model and the one in the sandbox that reads it."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from pydantic import Field

from eqfuzz.run.messages.codec import Message
from eqfuzz.run.messages.job import Count, Identifier, Name, Text

Size = Annotated[int, Field(ge=0, le=2**40)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TranslationRequest(Message):
    """Translate a model.

    Attributes:
        model: Absolute path of its file.
        name: What the text calls it.
        external: Names in the model and paths of the files that its weights lie in.
        drawn: Whether large weights are drawn in the text.
        gradients: Whether weights are parameters.
        sizes: Values of symbolic sizes.
        inputs: Expressions of input sets, for a module that is exported while it is read.
        private: Whether the text has no weight as it is.
    """

    event: Literal["translate"] = "translate"
    model: str
    name: str
    external: tuple[tuple[str, str], ...] = ()
    drawn: bool = False
    gradients: bool = False
    sizes: tuple[tuple[str, int], ...] = ()
    inputs: tuple[str, ...] = ()
    private: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class StoredWeight(Message):
    """A tensor as base64 of its little-endian bytes; ``dtype`` is torch's name."""

    event: Literal["weight"] = "weight"
    name: Identifier
    dtype: Name
    shape: tuple[Size, ...]
    data: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class TranslationAnswer(Message):
    """A translated model, or why there is none.

    Attributes:
        text: Text of the seed; empty where there is none.
        problem: Why the model cannot be translated, in one line; empty where it can.
        external: Names of files with weights that are needed and were not in the request.
        weights: Tensors that the text reads.
        opset: Version of the model's operators.
        producer: Program that wrote the model, with its version.
        operators: Operators of the model with their counts.
    """

    event: Literal["translation"] = "translation"
    text: Text = ""
    problem: Text = ""
    external: tuple[Name, ...] = ()
    weights: tuple[StoredWeight, ...] = ()
    opset: Count = 0
    producer: Name = ""
    operators: tuple[tuple[Name, Count], ...] = ()
