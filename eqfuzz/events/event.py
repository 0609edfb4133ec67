"""Base class of events, and the type of their handlers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar


@dataclasses.dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happens during a run. In events about one seed, ``index`` is its position in the run, from 0."""

    name: ClassVar[str]
    """Name of the event in JSON, part of the public format like the names of the fields."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--format json`` prints on one line."""
        return {"event": self.name, **dataclasses.asdict(self)}


Handler = Callable[[Event], None]


def to_all(*handlers: Handler) -> Handler:
    """A handler that hands each event to all ``handlers`` in turn."""

    def handle(event: Event) -> None:
        for handler in handlers:
            handler(event)

    return handle


def ignore(event: Event) -> None:
    """The handler of what is not reported."""
