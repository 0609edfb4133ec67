"""Mitigations: settings that PyTorch's maintainers try on a report, and the parts that its bisector switches off."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from eqfuzz.triage.findings.stage import LADDER
from eqfuzz.triage.upstream.boolean_function import ReportedScript, with_setting, with_static_shapes
from eqfuzz.triage.upstream.script_parts import BACKEND_VARIABLE

PASSES, FAILS = "passes", "still fails"

DYNAMIC = "dynamic=False"
PRECISION_CASTS = "inductor_emulate_precision_casts"
FALLBACK_RANDOM = "inductor_fallback_random"
DECOMPOSITIONS = "decomposition"


@dataclasses.dataclass(frozen=True)
class Mitigation:
    """One change to a run of the reproducer."""

    name: str
    """In words, or the subsystem as torch's bisector calls it."""
    stage: str
    """First backend that it makes a difference to."""
    setting: str = ""
    """Statement that it puts before the program."""
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Variables of the process."""
    is_subsystem: bool = False
    """Whether it is one of the parts of the compiler that torch's bisector tries."""
    device: str = ""
    """The only device that has it; empty: all."""

    @property
    def in_words(self) -> str:
        """The setting or the variables; what has neither is its own name."""
        variables = " ".join(f"{name}={value}" for name, value in self.environment.items())
        return self.setting or variables or self.name

    def applied_to(self, script: ReportedScript) -> str:
        """The text of a script with the change."""
        if self.name == DYNAMIC:
            return with_static_shapes(script.text)
        return with_setting(script.text, self.setting) if self.setting else script.text


def _config(module: str, option: str, value: object, *, name: str = "", device: str = "") -> Mitigation:
    stage = "inductor" if module == "inductor" else "aot_eager_decomp_partition"
    setting = f"torch._{module}.config.{option} = {value!r}"
    return Mitigation(name or f"{option}={value!r}", stage, setting, is_subsystem=bool(name), device=device)


def _off(subsystem: str, device: str = "", backend: str = "inductor") -> Mitigation:
    """Bisector's ``TORCH_BISECT_MAX=-1``: no application of the subsystem is allowed.

    The variable for the subsystem's backend also replaces the backend of ``torch.compile``.
    """
    variables = {
        "TORCH_BISECT_BACKEND": backend,
        "TORCH_BISECT_SUBSYSTEM": subsystem,
        "TORCH_BISECT_MAX": "-1",
    }
    return Mitigation(subsystem, backend, environment=variables, is_subsystem=True, device=device)


MITIGATIONS = (
    Mitigation(DYNAMIC, "eager"),
    _config("functorch", "cse", False, name="aot_eager_decomp_partition_cse"),
    _off(DECOMPOSITIONS, backend="aot_eager_decomp_partition"),
    _config("inductor", "pattern_matcher", False),
    _config("inductor", "cpp.simdlen", 1, device="cpu"),
    _config("inductor", "eager_numerics.division_rounding", True, device="cuda"),
    _config("inductor", "eager_numerics.use_pytorch_libdevice", True, device="cuda"),
    _off("pre_grad_passes"),
    _off("joint_graph_passes"),
    _off("post_grad_passes"),
    _config("inductor", "fallback_random", True, name=FALLBACK_RANDOM),
    _config("inductor", "emulate_precision_casts", True, name=PRECISION_CASTS),
    _config("inductor", "layout_optimization", False, name="inductor_layout_optimization"),
    _config("inductor", "comprehensive_padding", False, name="inductor_comprehensive_padding"),
    _off("cudagraphs", device="cuda"),
    _off("lowerings"),
)
"""In the order in which torch's bisector tries its subsystems."""


def tried_on(script: ReportedScript, first: str, device: str) -> list[Mitigation]:
    """What to try on a defect whose ``first`` backend is this one: what makes a difference to that backend.

    A setting that the script has itself is left out.
    """
    ladder = (*LADDER, "inductor")
    if first not in ladder:
        return []
    return [
        one
        for one in MITIGATIONS
        if ladder.index(one.stage) <= ladder.index(first)
        and one.device in ("", device)
        and not (one.setting and one.setting in script.text)
        and not (one.name == DECOMPOSITIONS and first == "inductor")  # with it, Inductor is not run
    ]


def on_backend(backend: str) -> Mitigation:
    """Another backend instead of the script's own."""
    return Mitigation(backend, backend, environment={BACKEND_VARIABLE: backend})
