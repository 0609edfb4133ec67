"""Children that read PyTorch's catalogue of operators: its samples as source, tried in eager. Imports the catalogue."""

from __future__ import annotations

import dataclasses
import pkgutil
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch

from eqfuzz.generate.catalogues.eager import (
    NOT_ALIKE,
    UNINITIALISED,
    EagerRun,
    Unfit,
    WrittenSample,
    reason_of,
    run_once,
)
from eqfuzz.generate.catalogues.expression import Unwritable, WrittenCall
from eqfuzz.generate.catalogues.messages import (
    REFUSED,
    SAMPLE,
    Catalogue,
    CatalogueListed,
    ListJob,
    OperatorListed,
    SamplesWritten,
    WriteJob,
    WriteRefusedJob,
    WrittenResult,
)
from eqfuzz.generate.catalogues.operators import operators
from eqfuzz.generate.catalogues.programs import MOST_SHARING
from eqfuzz.generate.catalogues.refused import RefusedWriter
from eqfuzz.generate.catalogues.sample import CatalogueEntry, Sample
from eqfuzz.generate.catalogues.sample_tensor import SampleTensor, drawn_values
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.run.jobs.stage_timer import StageTimer
from eqfuzz.run.messages.job import Emit, JobTarget

STAGE = "samples"
FATAL = "it ends the process in eager, or takes too long"

_NumberedSample = tuple[int, Sample]

_GRADIENT = ".requires_grad_()"
_DIGITS = (3, 8)
"""Significant digits of floats that are written out: few first, more where the sample needs them."""

_COUPLED = frozenset({"_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"})
"""Operators whose operands must fit each other: the mask is true only where the indices are in range."""
_TOO_LARGE = "its operands depend on each other and are too large to be written out"


def list_operators(job: ListJob, emit: Emit) -> None:
    """Report all operators."""
    StageTimer(emit).enter(STAGE, 60)
    listed = [
        OperatorListed(name=entry.name, dtypes=tuple(d for d in job.dtypes if d == REFUSED or _supports(entry, d)))
        for entry in _entries(job.catalogue)
    ]
    emit(CatalogueListed(operators=tuple(listed)))


_READERS: Mapping[Catalogue, str] = {
    "opinfo": "operators:operators",
    "refused": "operators:operators",
    "modules": "modules:modules",
    "optimizers": "optimizers:optimizers",
    "numpy": "numpy_functions:functions_of_numpy",
    "python": "python.entries:entries_of_python",
}
"""Functions that read the entries: torch's own catalogues are imported only where they are read."""


def _entries(catalogue: Catalogue) -> Sequence[CatalogueEntry]:
    """All entries."""
    return pkgutil.resolve_name(f"{__package__}.{_READERS[catalogue]}")()


def _supports(entry: CatalogueEntry, dtype: str) -> bool:
    return entry.supports(getattr(torch, dtype))


def write_samples(job: WriteJob, emit: Emit) -> None:
    """Report the samples of one operator and dtype as source."""
    clock = StageTimer(emit)
    clock.enter(STAGE, job.sample_s)
    entry = next(entry for entry in _entries(job.catalogue) if entry.name == job.operator)
    writer = _SampleWriter(entry, getattr(torch, job.dtype), job.seed)
    samples: Iterable[_NumberedSample] = enumerate(writer.samples(), 1)
    if job.most:
        samples = _some(list(samples), job)
    emit(_written(job, clock, writer, samples))


def _some(samples: list[_NumberedSample], job: WriteJob) -> list[_NumberedSample]:
    """So many samples as the job asks for, and as many guesses, in their order."""
    rng = random.Random(f"eqfuzz opinfo {job.operator} {job.dtype} {job.seed} choice")
    chosen: list[_NumberedSample] = []
    for is_guess in (False, True):
        of_kind = [pair for pair in samples if pair[1].is_guess is is_guess]
        chosen += rng.sample(of_kind, min(job.most, len(of_kind)))
    return sorted(chosen, key=lambda pair: pair[0])


def write_refused(job: WriteRefusedJob, emit: Emit) -> None:
    """Report the calls of one operator that eager refuses as source."""
    clock = StageTimer(emit)
    clock.enter(STAGE, job.sample_s)
    writer = RefusedWriter(next(entry for entry in operators() if entry.name == job.operator))
    emit(_written(job, clock, writer, enumerate(writer.calls(), 1)))


def _written(
    job: WriteJob | WriteRefusedJob,
    clock: StageTimer,
    writer: _SampleWriter | RefusedWriter,
    samples: Iterable[_NumberedSample],
) -> SamplesWritten:
    count = 0
    for number, sample in samples:
        clock.enter(f"{SAMPLE} {number}", job.sample_s)
        if number in job.skip:
            writer.left_out[FATAL] += 1
            count += 1
        else:
            count += writer.add(number, sample)
    clock.enter(STAGE, job.sample_s)
    return SamplesWritten(
        operator=job.operator,
        dtype=job.dtype,
        samples=count,
        repeats=writer.repeats,
        results=tuple(writer.results),
        left_out=dict(writer.left_out),
        without_gradient=writer.without_gradient,
    )


TARGET = JobTarget({ListJob: list_operators, WriteJob: write_samples, WriteRefusedJob: write_refused})


class _SampleWriter:
    """Writes the samples of an entry for a dtype."""

    def __init__(self, entry: CatalogueEntry, dtype: torch.dtype, seed: int) -> None:
        self._entry = entry
        self._dtype = dtype
        self._seed = seed
        self._calls: set[str] = set()
        self._alike: Counter[str] = Counter()
        self.results: list[WrittenResult] = []
        self.repeats = 0
        self.left_out: Counter[str] = Counter()
        self.without_gradient = 0

    def samples(self) -> Iterator[Sample]:
        """The catalogue's samples, the same each time."""
        torch.manual_seed(0)
        random.seed(0)
        yield from self._entry.samples(self._dtype)

    def add(self, number: int, sample: Sample) -> bool:
        """Write one sample, or count the reason why it is left out; False for a guess that eager refuses."""
        try:
            own = run_once(sample.ready, {"args": sample.tensors})
        except Exception as error:  # what a sample raises in eager is the reason why it is left out
            if sample.is_guess:
                return False
            self.left_out[f"in eager it {reason_of(error)}"] += 1
            return True
        try:
            call = sample.written()
            operands = {letter: SampleTensor(tensor, self._dtype) for letter, tensor in call.tensors.items()}
        except Unwritable as error:
            self.left_out[str(error)] += 1
            return True
        identity = _identity(call, operands)
        if identity in self._calls:
            self.repeats += 1
            return True
        self._calls.add(identity)
        self._write(number, call, operands, own)
        return True

    def _write(self, number: int, call: WrittenCall, operands: Mapping[str, SampleTensor], own: EagerRun) -> None:
        """The first form that does in eager what the sample does."""
        reason = ""
        forms = _own_values(operands) if self._entry.name in _COUPLED else _forms(self._draw(operands), operands)
        for form in forms:
            expression = form.viewed(call.expression)
            try:
                run = WrittenSample(expression, form.codes, call.module).checked(
                    own, finite=own.is_finite and not form.is_special
                )
            except Unfit as error:
                reason = reason or str(error)
                if str(error) in (UNINITIALISED, NOT_ALIKE):
                    reason = str(error)
                    break
            except Exception as error:  # this form is not for this sample
                reason = reason or f"with values of its own it {reason_of(error)}"
            else:
                written = WrittenResult(
                    sample=number,
                    expression=expression,
                    inputs=tuple(form.codes.items()),
                    draws=run.draws,
                    shares=run.shares and not call.module,
                    module=call.module,
                )
                self.results.append(written)
                self.without_gradient += bool(own.gradients) and not run.gradients
                return
        self.left_out[reason or _TOO_LARGE] += 1

    def _draw(self, operands: Mapping[str, SampleTensor]) -> Draw:
        """The same for a few samples of equal operands, so that their results can share tensors."""
        plain = " ".join(operand.plain() for operand in operands.values())
        group = self._alike[plain] // MOST_SHARING
        self._alike[plain] += 1
        return Draw(random.Random(f"eqfuzz opinfo {self._entry.name} {self._dtype} {self._seed} {plain} {group}"))


@dataclasses.dataclass(frozen=True)
class _Form:
    """A way to write operands: code of inputs by letter, and what the program calls on each to make the operand.

    ``is_special``: NaN and infinity are among the values.
    """

    codes: dict[str, str]
    views: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    is_special: bool = False

    def viewed(self, expression: str) -> str:
        """The expression over the inputs."""
        for letter, view in self.views.items():
            expression = expression.replace(f"${{{letter}}}", f"${{{letter}}}{view}")
        return expression

    def without_gradients(self) -> _Form:
        codes = {letter: code.replace(_GRADIENT, "") for letter, code in self.codes.items()}
        return dataclasses.replace(self, codes=codes)


def _forms(draw: Draw, operands: Mapping[str, SampleTensor]) -> Iterator[_Form]:
    """Ways to write the operands, the freest first."""
    values = drawn_values(draw, list(operands.values()))
    drawn = {letter: operand.drawn(draw, values) for letter, operand in operands.items()}
    plain = {letter: operand.plain() for letter, operand in operands.items()}
    first = _Form(
        {letter: code for letter, (code, _) in drawn.items()},
        {letter: view for letter, (_, view) in drawn.items() if view},
        values == "special",
    )
    forms = [first, _Form(plain)]
    for digits in _DIGITS:
        codes = {letter: operand.with_its_values(digits) or plain[letter] for letter, operand in operands.items()}
        forms.append(_Form(codes))
    yield from forms
    if any(_GRADIENT in code for code in plain.values()):
        yield from (form.without_gradients() for form in forms)


def _own_values(operands: Mapping[str, SampleTensor]) -> Iterator[_Form]:
    """The operands with the values of the sample, where these are short enough to be written out."""
    codes = {letter: operand.with_its_values(_DIGITS[-1]) for letter, operand in operands.items()}
    if not all(codes.values()):
        return
    yield _Form(codes)
    yield _Form(codes).without_gradients()


def _identity(call: WrittenCall, operands: Mapping[str, SampleTensor]) -> str:
    """Equal for samples that differ in values only."""
    plain = " ".join(operand.plain() for operand in operands.values())
    return f"{call.expression} {re.sub(r'(low|high)=[^,)]*', lambda m: m[1] + ('-' if '-' in m[0] else '+'), plain)}"
