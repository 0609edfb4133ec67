"""Events of ``eqfuzz config``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from eqfuzz.events.event import Event


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConfigsSampled(Event):
    """Configurations were sampled."""

    name: ClassVar[str] = "configs"

    configs: list[str]
    options: int
    """Number of options that were sampled from."""
    left_out: dict[str, int]
    """Number of other options by reason."""
    cells: int
    """Number of cells that will run: one configuration on one seed each."""
    judged: int
    """Number of cells that an earlier run in this folder has judged."""
    known: list[str]
    """Ids of the findings among these."""
