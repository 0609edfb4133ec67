"""Events of ``eqfuzz config``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True)
class ConfigsSampled(Event):
    """``options`` counts those that were sampled from, ``left_out`` the others by reason.

    ``cells`` counts configurations of seeds that will run, ``judged`` those that an earlier run in this folder has
    judged, ``known`` the ids of the findings among these.
    """

    name: ClassVar[str] = "configs"
    configs: list[str]
    options: int
    left_out: dict[str, int]
    cells: int
    judged: int
    known: list[str]
