"""Writes the calls of an operator that eager refuses, each for another reason."""

from __future__ import annotations

import dataclasses
import itertools
import random
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping

import torch

from eqfuzz.generate.catalogues.broken_contracts import broken_calls
from eqfuzz.generate.catalogues.eager import WrittenSample
from eqfuzz.generate.catalogues.expression import Unwritable, WrittenCall
from eqfuzz.generate.catalogues.messages import DTYPES, WrittenResult
from eqfuzz.generate.catalogues.operator_sample import OperatorSample
from eqfuzz.generate.catalogues.operators import OperatorEntry
from eqfuzz.generate.catalogues.sample import Sample
from eqfuzz.generate.catalogues.sample_tensor import LITERAL_ELEMENTS, SampleTensor
from eqfuzz.oracle.observe.normalised_messages import normalised

ACCEPTED = "eager does not refuse it"
NO_CONTRACT = "eager has no kernel for it, or Python refuses the arguments"
OTHER_WORDS = "as source it raises something else"

_MOST_SAMPLES = 24
_MOST_CALLS = 500
_DIGITS = (3, 8)
_SHAPE = re.compile(r"\[(?:N(?:, )?)*\]")
_DTYPES = re.compile(
    r"\b(?:torch\.)?(?:[Ff]loat|[Dd]ouble|[Hh]alf|[Ll]ong|[Ii]nt|[Bb]ool|[Ss]hort|[Bb]yte|[Cc]har)N?\b"
)
_NO_KERNEL = re.compile(
    r"not implemented|[Nn]ot (?:yet |currently )?support|does not (?:yet |currently )?support|[Uu]nsupported"
)


class RefusedWriter:
    """Writes one call for each exception of an operator: from its error inputs, and samples with a broken contract."""

    def __init__(self, entry: OperatorEntry) -> None:
        self._entry = entry
        supported = (getattr(torch, name) for name in DTYPES)
        self._dtype = next((dtype for dtype in supported if entry.supports(dtype)), torch.float32)
        self._reasons: set[str] = set()
        self.results: list[WrittenResult] = []
        self.repeats = 0
        self.without_gradient = 0
        self.left_out: Counter[str] = Counter()

    def calls(self) -> Iterator[OperatorSample]:
        """Calls that eager may refuse, the same each time."""
        torch.manual_seed(0)
        random.seed(0)
        try:
            yield from self._entry.refused()
        except Exception as error:  # the catalogue's own code fails on some machines
            self.left_out[f"listing the error inputs raises {type(error).__name__}"] += 1
        samples = sorted(self._entry.without_gradients(self._dtype), key=lambda sample: -_size(sample))
        step = max(1, len(samples) // _MOST_SAMPLES)
        broken = (
            dataclasses.replace(sample, args=one.args, kwargs=one.kwargs)
            for sample in samples[::step]
            for one in broken_calls(sample.args, sample.kwargs)
        )
        yield from itertools.islice(broken, _MOST_CALLS)

    def add(self, number: int, sample: Sample) -> bool:
        """Write the call, if eager refuses it for a new reason, or count why it is left out; True, each is counted."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sample.ready()()
        except (TypeError, NotImplementedError):
            self.left_out[NO_CONTRACT] += 1
            return True
        except Exception as error:  # whatever eager raises is the contract
            reason = _reason(error)
        else:
            self.left_out[ACCEPTED] += 1
            return True
        if _NO_KERNEL.search(reason):
            self.left_out[NO_CONTRACT] += 1
        elif reason in self._reasons:
            self.repeats += 1
        else:
            self._write(number, sample, reason)
        return True

    def _write(self, number: int, sample: Sample, reason: str) -> None:
        try:
            call = sample.written()
        except Unwritable as error:
            self.left_out[str(error)] += 1
            return
        except Exception:  # the catalogue's own function raises it, not an operator of torch
            self.left_out["the catalogue's function refuses it"] += 1
            return
        for codes in self._forms(call):
            if _refusal(call, codes) == reason:
                self._reasons.add(reason)
                inputs = tuple(codes.items())
                written = WrittenResult(sample=number, expression=call.expression, inputs=inputs, refused=reason)
                self.results.append(written)
                return
        self.left_out[OTHER_WORDS] += 1

    def _forms(self, call: WrittenCall) -> Iterator[dict[str, str]]:
        operands = {letter: SampleTensor(tensor, self._dtype) for letter, tensor in call.tensors.items()}
        for digits in _DIGITS:
            yield {letter: operand.with_its_values(digits) or operand.plain() for letter, operand in operands.items()}
        yield {letter: operand.plain() for letter, operand in operands.items()}


def _refusal(call: WrittenCall, codes: Mapping[str, str]) -> str:
    """The reason why eager refuses the written call; empty where it does not."""
    try:
        WrittenSample(call.expression, codes).run()
    except Exception as error:  # as above
        return _reason(error)
    return ""


def _reason(error: Exception) -> str:
    """Equal for exceptions that differ in numbers, shapes and dtypes."""
    return f"{type(error).__name__}: {_DTYPES.sub('T', _SHAPE.sub('[N]', normalised(str(error))))}"


def _size(sample: OperatorSample) -> int:
    """Elements of the operands; many are as good as ``LITERAL_ELEMENTS``."""
    return min(sum(tensor.numel() for tensor in sample.tensors), LITERAL_ELEMENTS)
