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
    """Translate the file ``model``, called ``name`` in the text.

    ``external`` are names in the model and paths of the files that its weights lie in. ``drawn`` weights are drawn in
    the text, with ``gradients`` they are parameters. ``sizes`` are values of symbolic sizes.
    """

    event: Literal["translate"] = "translate"
    model: str
    name: str
    external: tuple[tuple[str, str], ...] = ()
    drawn: bool = False
    gradients: bool = False
    sizes: tuple[tuple[str, int], ...] = ()


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
    """The ``text`` of a seed, or the ``problem`` with the model, or the names of the ``external`` files it needs.

    ``weights`` are the tensors that the text reads, ``operators`` the model's operators with their counts.
    """

    event: Literal["translation"] = "translation"
    text: Text = ""
    problem: Text = ""
    external: tuple[Name, ...] = ()
    weights: tuple[StoredWeight, ...] = ()
    opset: Count = 0
    producer: Name = ""
    operators: tuple[tuple[Name, Count], ...] = ()
