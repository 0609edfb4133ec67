"""The base of all events, and what handles them. ``to_json`` gives the line that ``--format json`` prints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar


@dataclasses.dataclass(frozen=True)
class Event:
    """``index`` is the seed file's place in the run (from 0), None for events about the whole run."""

    name: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        return {"event": self.name, **dataclasses.asdict(self)}


Handler = Callable[[Event], None]
