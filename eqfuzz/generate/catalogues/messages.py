"""Jobs that read PyTorch's catalogue of operators, and their answers."""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

from eqfuzz.run.messages.job import ChildEvent, Count, Job, Name, Text

TARGET = "eqfuzz.generate.catalogues.jobs:TARGET"
"""The target of a pool for these jobs: a process that has imported the catalogue."""

SAMPLE = "sample"
"""The first word of the stage that a child is in while it runs a sample; its number is the second."""

ALL_FATAL = "eager ends the process, outside of a call or in many: the operator is left out"
"""The reason why no sample of an operator is written."""

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int8", "uint8", "bool", "complex64")
"""Dtypes of operands, in the order in which programs are written."""

REFUSED = "refused"
"""The catalogue of calls that eager refuses, and what stands in place of their dtype, the first that eager supports."""

Catalogue = Literal["opinfo", "refused", "modules", "optimizers", "numpy", "python"]
"""What is read: PyTorch's OpInfo, what eager refuses of it, ModuleInfo, OptimizerInfo, NumPy's functions that Dynamo
reads, what Python itself does.
"""

CATALOGUES: tuple[Catalogue, ...] = get_args(Catalogue)
"""All catalogues, the usual one first."""


def dtypes_of(catalogue: Catalogue) -> tuple[str, ...]:
    """The dtypes that a catalogue is read for where none are chosen."""
    return (REFUSED,) if catalogue == REFUSED else DTYPES


@dataclasses.dataclass(frozen=True, kw_only=True)
class WrittenResult:
    """One sample as source: an ``expression`` over ``$x``, ``$y`` …, and ``inputs``, code that draws each of these.

    ``sample`` is its number among those of the operator and dtype. ``draws``: it uses random numbers. ``shares``: other
    results may take its tensors too. ``refused`` is the exception of eager, for a call that eager refuses. ``module``
    is the beginning of the expression that builds what is called, which a program does once.
    """

    sample: Count
    expression: Text
    inputs: tuple[tuple[Name, Text], ...]
    draws: bool = False
    shares: bool = False
    refused: Text = ""
    module: Text = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class OperatorListed:
    """The name of an operator, and the dtypes that eager supports."""

    name: Name
    dtypes: tuple[Name, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class CatalogueListed(ChildEvent):
    """All operators of the catalogue, in its order."""

    event: Literal["catalogue"] = "catalogue"
    operators: tuple[OperatorListed, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ListJob(Job[CatalogueListed]):
    """List a catalogue for these dtypes."""

    TARGET = TARGET
    EVENTS = (CatalogueListed,)
    ANSWER = CatalogueListed

    job: Literal["list-operators"] = "list-operators"
    catalogue: Catalogue = CATALOGUES[0]
    dtypes: tuple[str, ...] = DTYPES


@dataclasses.dataclass(frozen=True, kw_only=True)
class SamplesWritten(ChildEvent):
    """What came of the samples of one operator and dtype.

    Attributes:
        operator: Its name.
        dtype: Dtype of the operands.
        samples: Number of all samples.
        repeats: Number of those that are the same call as an earlier one, but for values.
        results: The samples that are written.
        left_out: Number of the others by reason: what cannot be written, what eager does not do or not twice alike.
        without_gradient: Number of results without the gradients that eager has.
    """

    event: Literal["samples"] = "samples"
    operator: Name
    dtype: Name
    samples: Count
    repeats: Count
    results: tuple[WrittenResult, ...]
    left_out: dict[Name, Count]
    without_gradient: Count = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class WriteJob(Job[SamplesWritten]):
    """Write samples of one entry of a catalogue for a dtype. The child is in the stage ``sample N`` with that sample.

    Attributes:
        catalogue: One of ``CATALOGUES``.
        operator: Name of the entry.
        dtype: Dtype of the operands.
        seed: Decides layouts and values.
        skip: Numbers of the samples that ended an earlier child.
        sample_s: Seconds for one sample.
        most: How many samples are written, which ``seed`` chooses; 0: all.
    """

    TARGET = TARGET
    EVENTS = (SamplesWritten,)
    ANSWER = SamplesWritten

    job: Literal["write-samples"] = "write-samples"
    catalogue: Catalogue = CATALOGUES[0]
    operator: str
    dtype: str
    seed: int = 0
    skip: tuple[int, ...] = ()
    sample_s: float = 20.0
    most: Count = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class WriteRefusedJob(Job[SamplesWritten]):
    """Write the calls of one operator that eager refuses, one for each of its exceptions.

    The child is in the stage ``sample N`` with the call of that number. Those in ``skip`` ended an earlier child.
    """

    TARGET = TARGET
    EVENTS = (SamplesWritten,)
    ANSWER = SamplesWritten

    job: Literal["write-refused"] = "write-refused"
    operator: str
    dtype: Literal["refused"] = REFUSED
    skip: tuple[int, ...] = ()
    sample_s: float = 20.0
