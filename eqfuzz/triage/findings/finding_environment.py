"""The circumstances of a finding: versions and parameters of the run that made it."""

from __future__ import annotations

from typing import Any

import pydantic

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.program.release import Release
from eqfuzz.run.limits import Limits


class FindingEnvironment(pydantic.BaseModel):
    """``environment.json`` of a finding, and the table of that name in ``finding.json``.

    Versions that were not recorded are empty; parameters that were not recorded have the values that a run had by
    default. ``build`` and ``git`` are those of torch, see ``Release``.
    """

    model_config = pydantic.ConfigDict(frozen=True)

    eqfuzz: str = ""
    """Its version."""
    torch: str = ""
    """Its release."""
    build: str = ""
    git: str = ""
    libcst: str = ""
    """Its version."""
    python: str = ""
    """Its version."""
    platform: str = ""
    """Operating system and processor."""
    seed: int = 0
    """The random seed, which decides the inputs."""
    compile_seconds: float = Limits().compile_s
    """Wall time that a compiled cell may take."""
    input_sets: int = 0
    """How many input sets of the program are used, from the first; 0 stands for all."""
    steps: int = 1
    """How many changes that a guard must notice are drawn."""
    checks: tuple[str, ...] = DEFAULT_CHECKS
    """Names of the checks."""
    rules_from: tuple[str, ...] = ()
    """Files of the user's rules."""

    @property
    def release(self) -> Release:
        """Of torch; empty where it was not recorded."""
        return Release(self.torch, self.build, self.git)

    def to_json(self) -> dict[str, Any]:
        """Versions that were not recorded are left out."""
        return {name: value for name, value in self.model_dump(mode="json").items() if value != ""}
