"""Messages between processes: frozen dataclasses that travel as JSON, one line or packet each.

Never pickle: the other side may run untrusted programs. Decoding is strict: no value is converted, no field is missing
or unknown, whichever process the message comes from.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Generic, TypeVar, Union, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from eqfuzz.errors import one_line
from eqfuzz.run.protocol import BadMessage

MAX_LINE = 64 * 2**20

M = TypeVar("M", bound="Message")


class Message:
    """Base of all messages. A subclass is a frozen dataclass whose field ``TAG`` is a ``Literal``, its name."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    TAG: ClassVar[str] = "event"

    @property
    def message_name(self) -> str:
        """The value of the field ``TAG``."""
        return cast("str", getattr(self, self.TAG))


def encode(message: Message) -> bytes:
    """One line of JSON. What has no form in UTF-8 is replaced. Raises ``TypeError`` for what JSON cannot express."""
    return json.dumps(message, default=_fields, ensure_ascii=False).encode(errors="replace") + b"\n"


def _fields(value: object) -> dict[str, Any]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, BaseModel):
        return value.model_dump()
    raise TypeError(f"a {type(value).__name__} cannot travel between processes")


class Decoder(Generic[M]):
    """Bytes in, messages of the given ``kinds`` out, distinguished by their field ``TAG``."""

    def __init__(self, *kinds: type[M]) -> None:
        if len(kinds) == 1:
            self._adapter = cast("TypeAdapter[M]", TypeAdapter(kinds[0]))
        else:
            union: Any = Annotated[Union[kinds], Field(discriminator=kinds[0].TAG)]  # noqa: UP007 - at run time
            self._adapter = cast("TypeAdapter[M]", TypeAdapter(union))
        self._names = [_name(kind) for kind in kinds]

    def decode(self, line: bytes) -> M:
        """The message in ``line``. Raises ``BadMessage``."""
        try:
            return self._adapter.validate_json(line, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
        raise BadMessage(self._problem(first, line))

    def _problem(self, error: ErrorDetails, line: bytes) -> str:
        if error["type"] == "union_tag_invalid":
            return f"no event of this job: {one_line(repr(error.get('ctx', {}).get('tag')), 80)}"
        place = [str(part) for part in error["loc"]]
        if not place:
            return f"not an event: {one_line(repr(line[:80]))}"
        name = self._names[0] if len(self._names) == 1 else place.pop(0)
        return f"a malformed {name} event: {one_line('.'.join(place), 100)}: {one_line(error['msg'], 100)}"


def _name(kind: type[Message]) -> str:
    for field in dataclasses.fields(cast("Any", kind)):
        if field.name == kind.TAG:
            return str(field.default)
    raise TypeError(f"{kind.__name__} has no field {kind.TAG!r}")


def decoder_of(*kinds: type[M]) -> Decoder[M]:
    """The decoder of these kinds; it is made once in a process."""
    return cast("Decoder[M]", _decoder_of(*kinds))


@functools.cache
def _decoder_of(*kinds: type[Message]) -> Decoder[Message]:
    return Decoder(*kinds)


class MessageLines(Generic[M]):
    """Bytes in, messages out: what arrives on a pipe, in pieces of any size."""

    def __init__(self, decoder: Decoder[M], limit: int = MAX_LINE) -> None:
        self._decoder = decoder
        self._pieces: list[bytes] = []
        self._size = 0
        self._limit = limit

    def feed(self, data: bytes) -> Iterator[M]:
        """The messages that ``data`` completes, in order. Raises ``BadMessage`` at the first line that is none."""
        *complete, rest = data.split(b"\n")
        for line in complete:
            whole = b"".join([*self._pieces, line])
            self._pieces, self._size = [], 0
            yield self._decoder.decode(whole)
        if rest:
            self._pieces.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                raise BadMessage(f"an event of more than {self._limit} bytes")
