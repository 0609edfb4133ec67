"""The faulty stage of the compiler, and the faulty component that torch's bisector found in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from eqfuzz.oracle.compare.verdict import FINDINGS, VerdictKind
from eqfuzz.torch_internals.bisector import application
from eqfuzz.torch_internals.embedded.foreign_environments import FOREIGN

if TYPE_CHECKING:  # it needs torch, which showing findings does not
    from eqfuzz.run.messages.finding_jobs import BisectorResult

LADDER = ("eager", "aot_eager", "aot_eager_decomp_partition")
"""Backends of ``torch.compile`` below Inductor; each adds stages to the one before."""

STAGES = {
    "eager": "Dynamo",
    "aot_eager": "AOTAutograd",
    "aot_eager_decomp_partition": "decompositions and partitioner",
    "inductor": "Inductor",
    "export": "torch.export",
    "aot_inductor": "AOTInductor",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "tvm_relax": "TVM",
}

ONNX_EXPORT = "export to ONNX"
"""The stage that all of ``FOREIGN`` share."""

_BESIDE = {"aot_inductor": ("export", "inductor"), **dict.fromkeys(FOREIGN, ("export",))}
"""Backends that share stages with another one, besides those of ``LADDER``."""


def backends_below(backend: str) -> tuple[str, ...]:
    """Those with fewer stages than a backend, in order."""
    if backend in LADDER:
        return LADDER[: LADDER.index(backend)]
    return (*LADDER, *_BESIDE.get(backend, ()))


def third_opinions(backend: str) -> tuple[str, ...]:
    """Those that take the same ONNX graph as a backend, whether or not they are installed."""
    return tuple(other for other in FOREIGN if other != backend) if backend in FOREIGN else ()


@dataclasses.dataclass(frozen=True)
class Ablation:
    """The kind of verdict of each backend on the program and calls of a finding of ``kind``.

    The first backend that differs from eager is at fault, whatever its difference: a wrong graph may raise on one
    backend and give wrong values on the next. ``shown`` has the backends below it with a verdict, and third opinions;
    ``backend`` is the finding's own.
    """

    kind: str
    backend: str
    shown: Mapping[str, str]

    @property
    def stage(self) -> str:
        """The faulty stage, in words; empty where a backend below the finding's own has no verdict."""
        below = backends_below(self.backend)
        differing = next((backend for backend in below if self.shown.get(backend) in FINDINGS), "")
        if differing:
            return STAGES[differing]
        judged = all(backend in self.shown for backend in below)
        return self._own_stage() if judged else ""

    def _own_stage(self) -> str:
        own = STAGES.get(self.backend, self.backend)
        others = [self.shown[other] for other in third_opinions(self.backend) if other in self.shown]
        if self.backend not in FOREIGN or VerdictKind.AGREE in others:
            return own
        return ONNX_EXPORT if self.kind in others else f"{own}, or the {ONNX_EXPORT}"

    @property
    def cheapest(self) -> str:
        """The first backend with the kind of verdict of the finding, at last the finding's own."""
        return next((backend for backend in LADDER if self.shown.get(backend) == self.kind), self.backend)


@dataclasses.dataclass(frozen=True)
class Blame:
    """The result of torch's bisector: the first ``backend`` with the finding, and its faulty ``subsystem`` (or empty).

    ``detail`` is the faulty application of the subsystem, a pass or an operator, and ``number`` its number. ``change``
    is the faulty part of a pass: a pattern, named by its replacement, or the operators that it removed.
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

    def is_about_component_of(self, other: Blame) -> bool:
        """Whether both name the same component."""
        parts = [(one.backend, one.subsystem, application(one.detail)) for one in (self, other)]
        return parts[0] == parts[1]

    def in_words(self) -> str:
        """``Inductor, lowerings: amin``, ``Inductor, joint_graph_passes: constant_fold_uniform_value (mul)``."""
        stage = STAGES.get(self.backend, self.backend)
        if not self.subsystem:
            return stage
        changed = f" ({self.change})" if self.change else ""
        return f"{stage}, {self.subsystem}" + (f": {application(self.detail)}{changed}" if self.is_exact else "")
