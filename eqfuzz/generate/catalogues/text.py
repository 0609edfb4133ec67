"""Names in the text of programs: letters of tensors, helper functions. Imports no torch."""

from __future__ import annotations

import string

from eqfuzz.generate.catalogues.python.helpers import HELPERS as PYTHON_HELPERS

LETTERS = ("x", "y", "z", "u", "v", "w", "a", "b", "c", "d", "e", "f", "g", "h", "p", "q", "r", "s", "t")
"""Names of a sample's tensors, in the order in which they occur."""

LIBRARIES = "collections contextlib copy dataclasses enum functools itertools math operator".split()
"""Modules of Python that a program may import."""

STEPPING = "Stepping"
"""The helper class of optimizers."""

HELPERS = {
    STEPPING: """\
class Stepping(nn.Module):
    def __init__(self, optimizer, **options):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, 12).reshape(3, 4))
        self.optimizer = optimizer([self.weight], **options)

    def forward(self, gradient):
        for factor in (1.0, 0.5):
            self.weight.grad = gradient * factor
            self.optimizer.step()
        return self.weight.detach().clone()""",
    "positive_definite": """\
def positive_definite(matrix):
    return matrix @ matrix.mH + torch.eye(matrix.shape[-1], dtype=matrix.dtype)""",
    "symmetric": """\
def symmetric(matrix):
    return matrix + matrix.mH""",
    **PYTHON_HELPERS,
}
"""Functions and classes that a program may call."""


def numbered(text: str, number: int) -> str:
    """``text`` with the number of its result at each of its tensors: ``${x}`` becomes ``x7``."""
    return string.Template(text).substitute({letter: f"{letter}{number}" for letter in LETTERS})


def unnumbered(text: str) -> str:
    """``text`` with plain letters: ``${x}`` becomes ``x``."""
    return string.Template(text).substitute({letter: letter for letter in LETTERS})
