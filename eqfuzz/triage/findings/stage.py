"""Which part of the compiler a difference comes from: the stage, and what torch's bisector found within it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from eqfuzz.oracle.compare.verdict import FINDINGS
from eqfuzz.torch_internals.bisector import application

if TYPE_CHECKING:  # it needs torch, which showing findings does not
    from eqfuzz.run.messages.finding_jobs import BisectorResult

LADDER = ("eager", "aot_eager", "aot_eager_decomp_partition")
"""Backends of ``torch.compile`` before Inductor; each does what those before it do, and more."""

STAGES = {
    "eager": "Dynamo",
    "aot_eager": "AOTAutograd",
    "aot_eager_decomp_partition": "decompositions and partitioner",
    "inductor": "Inductor",
}


@dataclasses.dataclass(frozen=True)
class Ablation:
    """What each backend showed on the program and calls of a finding of ``kind``: its kind of verdict by backend.

    The first on the way to Inductor that differs from eager is to blame, whatever its difference: a graph that is wrong
    there may raise on one backend and give wrong values on the next. ``shown`` has the backends of ``LADDER`` that came
    to a verdict; ``backend`` is the finding's own.
    """

    kind: str
    backend: str
    shown: Mapping[str, str]

    @property
    def stage(self) -> str:
        """The stage to blame, in words; empty where no backend below the finding's own was judged."""
        below = LADDER[: LADDER.index(self.backend)] if self.backend in LADDER else LADDER
        differing = next((backend for backend in below if self.shown.get(backend) in FINDINGS), "")
        if differing:
            return STAGES[differing]
        judged = all(backend in self.shown for backend in below)
        return STAGES.get(self.backend, self.backend) if judged else ""

    @property
    def cheapest(self) -> str:
        """The first backend that shows the very kind of the finding: the finding's own where none before it does."""
        return next((backend for backend in LADDER if self.shown.get(backend) == self.kind), self.backend)


@dataclasses.dataclass(frozen=True)
class Blame:
    """``backend`` is the first that shows the finding, ``subsystem`` what of it must run for that (empty: unknown).

    ``number`` counts its applications, ``detail`` is the one that does it: a pass, an operator. ``change`` is what of a
    pass does it: a pattern by its replacement, else the operators that it took out.
    """

    backend: str
    subsystem: str = ""
    number: int | None = None
    detail: str = ""
    change: str = ""

    @classmethod
    def of(cls, answer: BisectorResult) -> Blame:
        """From a child's answer."""
        subsystem, detail = answer.subsystem or "", answer.debug_info or ""
        return cls(answer.backend, subsystem, answer.bisect_number, detail, answer.change)

    @property
    def is_exact(self) -> bool:
        """Whether ``detail`` is the very pass, lowering or decomposition, and not an option as a whole."""
        return bool(self.detail) and self.detail != self.subsystem

    def is_about_the_part_of(self, other: Blame) -> bool:
        """Whether both are about one part of the compiler."""
        parts = [(one.backend, one.subsystem, application(one.detail)) for one in (self, other)]
        return parts[0] == parts[1]

    def in_words(self) -> str:
        """``Inductor, lowerings: amin``, ``Inductor, joint_graph_passes: constant_fold_uniform_value (mul)``."""
        stage = STAGES.get(self.backend, self.backend)
        if not self.subsystem:
            return stage
        changed = f" ({self.change})" if self.change else ""
        return f"{stage}, {self.subsystem}" + (f": {application(self.detail)}{changed}" if self.is_exact else "")
