"""Observations of one cell: everything in which two runs of equal programs must agree."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch


@dataclasses.dataclass(frozen=True)
class Raised:
    """An exception that the program raised.

    Attributes:
        type: The name of its class.
        message: Its first line, and its cause where it only wraps another exception.
        origin: ``program`` (the seed's own Python or an eager operator), ``compiler`` (an internal error of Dynamo,
            AOTAutograd, Inductor or the C++ compiler) or ``unsupported`` (the compiler states that it does not support
            this).
        out_of_memory: An allocation failed.
        traceback: The end of the traceback's text.
        by_statement: A ``raise`` or ``assert`` of the seed's own Python raised it; only then are classes compared.
        frames: The innermost functions of torch in the traceback, as ``module.function``, the innermost first.
    """

    type: str
    message: str
    origin: str
    out_of_memory: bool = False
    traceback: str = ""
    by_statement: bool = False
    frames: tuple[str, ...] = ()


Leaves = list[tuple[str, Any]]
"""``(path, value)`` pairs in a fixed order; paths are Python expressions, tensors are detached copies."""


VALUES = ("outputs", "inputs_after", "state_after", "globals_after", "gradients")
"""The fields of a call whose leaves are values, gravest first."""


@dataclasses.dataclass
class CallObservation:
    """The effects of one call. Leaves are as they are after the call.

    Attributes:
        label: How the call differs from the seed's first one; empty for the seed's own calls.
        outputs: The leaves of the returned value.
        structure: The types of its containers.
        structures: The types of other containers that a call may change, by path: arguments, attributes, globals.
        traits: Properties of outputs that a detached copy does not have (``output.is_leaf``).
        shared: Which outputs share memory with what.
        inputs_after: The leaves of the arguments.
        state_after: Parameters, buffers and plain attributes.
        globals_after: The plain globals of the program's module.
        printed: Printed lines.
        warned: The program's own warnings.
        generators: Digests of the states of random generators.
        gradients: Gradients of arguments and parameters.
        raised: The exception that ended the call.
        unread: The error because of which the results could not be read; empty otherwise.
    """

    label: str = ""
    outputs: Leaves = dataclasses.field(default_factory=list)
    structure: str = ""
    structures: Leaves = dataclasses.field(default_factory=list)
    traits: Leaves = dataclasses.field(default_factory=list)
    shared: Leaves = dataclasses.field(default_factory=list)
    inputs_after: Leaves = dataclasses.field(default_factory=list)
    state_after: Leaves = dataclasses.field(default_factory=list)
    globals_after: Leaves = dataclasses.field(default_factory=list)
    printed: list[str] = dataclasses.field(default_factory=list)
    warned: list[str] = dataclasses.field(default_factory=list)
    generators: Leaves = dataclasses.field(default_factory=list)
    gradients: Leaves = dataclasses.field(default_factory=list)
    raised: Raised | None = None
    unread: str = ""


@dataclasses.dataclass
class Observation:
    """Observations of one callable's calls, in order. ``seconds`` is the wall time of all calls."""

    calls: list[CallObservation]
    seconds: float = 0.0

    def first(self, count: int) -> Observation:
        """The first ``count`` calls only."""
        return Observation(self.calls[:count], self.seconds)


def numbers_in(call: CallObservation) -> int:
    """How many numbers the tensors among its values hold."""
    leaves = [leaf for group in VALUES for _, leaf in getattr(call, group)]
    return sum(leaf.numel() for leaf in leaves if isinstance(leaf, torch.Tensor))
