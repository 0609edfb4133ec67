"""What the text of an untrusted seed may contain."""

import textwrap
from pathlib import Path

import pytest

from eqfuzz.program.formats import read_program, recognise
from eqfuzz.program.policy import first_violation
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.shipped import folder

SEEDS = sorted((folder("seeds") / "handwritten").rglob("*.py"))

ALLOWED = """
    import torch.nn as nn; from torch.nn import functional as F; y = F.relu(nn.Linear(2, 2)(x))
    import torch; F = torch.nn.functional; y = F.relu(x)
    import torch; torch.backends.mkldnn.enabled = False
    import torch; torch._dynamo.config.assume_static_by_default = False
    import torch; y = torch.fft.fft(x); z = torch.ops.aten._softmax(x, 0, False)
    import torch; relu = torch.relu; y = list(map(torch.abs, xs))
    import torch, numpy as np; y = np.random.rand(3); z = torch.special.erf(x)
    from dataclasses import dataclass; import collections.abc, itertools, math
    signal = x; y = signal * 2
    y = model.__class__.__name__
    for i in range(2): setattr(self, f"layer{i}", None)
    y = getattr(self, f"layer{i}")(getattr(x, "T"))
    if __name__ == "__main__": pass
    def f(input): return input.sum()
    x[0] = 1; x.grad = None; self.weight.data[0] = 2
    import torch; x = torch.zeros(3); x[0] = 1; x.requires_grad = True
    import torch; torch._check(x.shape[0] > 1); y = torch._foreach_add([x], [x])
    class A(torch.Tensor): __torch_function__ = None
""".strip().splitlines()

REFUSED = """
    import os; ; imports os
    import torch, sys; ; imports sys
    from subprocess import run; ; imports subprocess
    import socket as s; ; imports socket
    import ctypes; ; imports ctypes
    import importlib; ; imports importlib
    import pickle; ; imports pickle
    import torch.utils.cpp_extension; ; imports torch.utils.cpp_extension
    from torch import load; ; imports torch.load
    from torch import *; ; `from torch import *` hides what it imports
    from . import x; ; a relative import
    open("/etc/passwd"); ; `open` is not for seeds
    o = open; ; `open` is not for seeds
    eval("1"); ; `eval` is not for seeds
    __import__("os"); ; `__import__` is not for seeds
    sys.exit(1); ; `sys` is not for seeds
    ().__class__.__bases__; ; the attribute `__bases__`
    f.__globals__; ; the attribute `__globals__`
    getattr(x, "__dict__"); ; `__dict__` in a string
    getattr(x, name); ; `getattr` with a name that is not written out
    getattr(self, f"__{x}__"); ; `getattr` with a name that is not written out
    g = getattr; ; `getattr` used as a value
    import torch; getattr(torch, "load"); the attribute `load`
    import torch; torch.load("x"); `torch.load` is not for seeds
    import torch as t; t.save(1, "x"); `torch.save` is not for seeds
    import torch; torch.equal = lambda a, b: True; changes `torch.equal`
    import torch; torch.Tensor.__eq__ = f; changes `torch.Tensor.__eq__`
    from torch import Tensor; Tensor.relu = f; changes `Tensor.relu`
    import torch; F = torch.nn.functional; F.relu = f; changes `F.relu`
    import torch; (torch.sin, x) = f, 1; changes `torch.sin`
    import torch; t = torch; the module `torch` used as a value
    import torch; f(torch.nn.functional); the module `torch.nn.functional` used as a value
    import torch; setattr(torch, "equal", f); `setattr` of something other than `self`
    setattr(x, "equal", f); ; `setattr` of something other than `self`
    type(x).relu = f; ; changes `type(x).relu`
    import torch; torch._inductor.lowering.x; `torch._inductor` is not for seeds
    import torch; torch.library.Library("aten", "IMPL"); `torch.library` is not for seeds
    import torch; torch.compiler.is_compiling(); the attribute `is_compiling`
    import torch; torch._C._set_grad_enabled(True); `torch._C` is not for seeds
    import numpy as np; np.memmap("x"); `numpy.memmap` is not for seeds
    x.numpy().tofile("x"); ; the attribute `tofile`
    x.numpy().ctypes; ; the attribute `ctypes`
    def __del__(self): pass; ; a definition of `__del__`
    "{0.__class__}".format(x); ; `__class__` in a string
    g.gi_frame.f_builtins; ; the attribute `f_builtins`
    import operator; operator.attrgetter("a"); `operator.attrgetter` is not for seeds
""".strip().splitlines()


@pytest.mark.parametrize("source", ALLOWED)
def test_ordinary_code_is_allowed(source: str) -> None:
    assert first_violation(source.strip()) is None


@pytest.mark.parametrize("line", REFUSED)
def test_other_code_is_refused_with_a_reason(line: str) -> None:
    *source, reason = line.strip().split("; ")
    violation = first_violation("; ".join(part for part in source if part))
    assert violation is not None
    assert violation.reason == reason


def test_violation_has_the_first_line() -> None:
    violation = first_violation("import torch\nx = 1\neval('1')\nimport os\n")
    assert violation is not None
    assert violation.line == 3


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_shipped_seeds_would_pass(path: Path) -> None:
    program = read_program(path)
    assert first_violation(program.source) is None


SEED = """
    # /// eqfuzz
    # source = "{source}"
    # ///
    import torch
    import os

    def program(x):
        return x + 1

    def inputs(rng):
        return (torch.ones(3),)
"""


def test_the_policy_is_for_untrusted_seeds() -> None:
    recognise(textwrap.dedent(SEED.format(source="person")).lstrip(), "seed.py")
    with pytest.raises(InvalidSeed, match=r"seed.py:5: policy: imports os"):
        recognise(textwrap.dedent(SEED.format(source="llm")).lstrip(), "seed.py")
