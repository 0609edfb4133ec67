"""The catalogue of NumPy's functions that Dynamo reads: each called in the ways that NumPy accepts of many."""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Callable, Iterator

import numpy as np
import torch

from eqfuzz.generate.catalogues.expression import WrittenCall
from eqfuzz.generate.catalogues.sample import Sample
from eqfuzz.torch_internals.dynamo import numpy_functions

_DTYPES = (torch.float64, torch.float32, torch.int64, torch.uint8, torch.bool, torch.complex64)

_SIZES = {"x": (3, 4), "y": (3, 4), "z": (4,), "u": (5,), "v": (5,), "w": (3, 3), "a": (3, 3), "b": (), "c": (2, 3, 4)}
_INDICES = {"i": (2,), "k": (3, 4)}
_LETTERS = dict(zip((*_SIZES, *_INDICES), "xyzuvwabcde", strict=True))
"""The letters of operands in a program, by those below."""

_ARGUMENTS = """
$x; $u; $w; $b; $c; 3; 3, 4; (3, 4); 2, 9, 3; 0.5, 2.5, 7
$x, axis=0; $x, axis=1; $x, axis=-1, keepdims=True; $c, axis=(0, 2); $x, axis=None; $c, axis=1; $c, axis=(1,)
$x, $y; $x, $z; $x, 2; 2, $x; $x, 0.5; $u, $v; $w, $a; $c, $x; $b, $x; $x, $b
($x, $y); [$x, $y]; ($x, $y), axis=1; [$u, $v], axis=0; ($u, $v); $x, $y, axis=0; $x, $y, axis=1
$x, 1; $x, -1; $x, 1, axis=1; $x, 2, axis=0; $x, 0, 1; $c, 0, -1; $c, (2, 0, 1); $x, (4, 3); $x, (2, -1); $x, [1, 2]
$x, [0, 2], axis=0; $x, ((1, 0), (0, 2)); $x, (1, 2), mode="edge"; $x, 1, (0, 1); $x, -2, (1, 0); $u, [1, 3]; $u, 2
$x, $i; $x, $i, axis=0; $x, $i, axis=1; $x, $k, axis=0; $x, $k, 0; $u, $i; $i, $u; $i, 4; $i; $i, minlength=7
$x, 0, 1, 2; $x > 0, $x, $y; $x > $y, $x, 1.5; $k, ($x, $y, $x, $y); $x, 0.25; $x, [0.25, 0.75], axis=1
$x, -0.5, 0.5; $x, None, 1; $x, 1, None; $u, 0.3, method="linear"; $x, decimals=1; $x, -1, decimals=2
$x, dtype=np.float32; $x, dtype=np.int64; $x, axis=1, dtype=np.float64; (2, 3), dtype=np.float32; (2, 3), 1.5
$x, ddof=1; $x, ddof=1, axis=0; $x, k=1; $x, k=-1; $w, k=1; $x, offset=1; 3, 4, 1; 3, k=1; $x, axis=1, n=2
"ij,jk->ik", $w, $a; "ii->i", $w; "ij->j", $x; "i,i", $u, $v; $x, $w, axes=(0, 0); $x, $y, 2; $x, $y, axes=1
$w, 2; $w, -1; $u, 3; $x, ord=1; $x, ord=np.inf, axis=1; $w, "fro"; $w, ord=2; $x, return_counts=True
$u, bins=4; $u, 4, (0, 2); $u, increasing=True; $u, $v, mode="same"; $u, $v, "valid"; $x, nan=1.5; $x, equal_nan=True
$x, side="right"; $u, $v, side="right"; $x, weights=$y; $x, axis=1, weights=$z; $x, reps=2; $x, 3; $c, -1, 0
$x, axes=(1, 0); $x, k=2, axes=(0, 1); $x, initial=2; $x, n=6; $x, s=(2, 3); $x, norm="ortho"
"""
"""Arguments of calls, between semicolons."""


@dataclasses.dataclass(frozen=True)
class NumpyCall:
    """A call of a function of NumPy; ``text`` is an expression over ``$x``, …."""

    text: str
    operands: dict[str, torch.Tensor]

    @property
    def is_guess(self) -> bool:
        return True

    @property
    def tensors(self) -> list[torch.Tensor]:
        return list(self.operands.values())

    def ready(self) -> Callable[[], object]:
        arrays = {letter: tensor.numpy() for letter, tensor in self.operands.items()}
        text = string.Template(self.text).substitute({letter: letter for letter in arrays})
        return lambda: eval(text, {"np": np, **arrays})

    def written(self) -> WrittenCall:
        letters = {letter: f"${{{_LETTERS[letter]}}}.numpy()" for letter in self.operands}
        tensors = {_LETTERS[letter]: tensor for letter, tensor in self.operands.items()}
        return WrittenCall(string.Template(self.text).substitute(letters), tensors)


@dataclasses.dataclass(frozen=True)
class NumpyFunction:
    """A function of NumPy, by its name below ``numpy``."""

    path: str

    @property
    def name(self) -> str:
        return f"np_{self.path.replace('.', '_')}"

    def supports(self, dtype: torch.dtype) -> bool:
        return dtype in _DTYPES

    def samples(self, dtype: torch.dtype) -> Iterator[Sample]:
        """All calls; NumPy refuses most of them."""
        operands = _operands(dtype)
        for arguments in filter(None, (text.strip() for line in _ARGUMENTS.splitlines() for text in line.split(";"))):
            text = f"np.{self.path}({arguments})"
            used = {name for _, name, _, _ in string.Template.pattern.findall(text)}
            yield NumpyCall(text, {letter: operands[letter] for letter in operands if letter in used})


def _operands(dtype: torch.dtype) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    floats = dtype.is_floating_point or dtype.is_complex
    operands: dict[str, torch.Tensor] = {}
    for letter, size in _SIZES.items():
        if floats:
            operands[letter] = torch.randn(size, dtype=dtype, generator=generator)
        else:
            high = 2 if dtype is torch.bool else 9
            operands[letter] = torch.randint(0 if dtype is torch.bool else 1, high, size, generator=generator).to(dtype)
    for letter, size in _INDICES.items():
        operands[letter] = torch.randint(0, 3, size, generator=generator)
    return operands


def functions_of_numpy() -> list[NumpyFunction]:
    """In the order of their names."""
    return list(map(NumpyFunction, numpy_functions()))
