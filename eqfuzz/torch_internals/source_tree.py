"""Modules and files of the compiler, to identify code by its location. Imports nothing of torch."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

COMPILER_MODULES = ("torch._dynamo", "torch._inductor", "torch._functorch", "torch.fx", "torch._subclasses")
"""Modules, with their submodules, whose exceptions are the compiler's."""

OPERATORS_IN_PYTHON = ("torch._refs", "torch._meta_registrations", "torch._decomp")
"""Modules that define for the compiler what operators mean."""

FUNCTIONS_IN_PYTHON = ("torch.functional", "torch.nn.functional", "torch._tensor")
"""Modules that define functions and methods for programs in Python, over operators."""

TRACED = ("_dynamo", "_inductor", "_functorch", "_higher_order_ops", "_decomp", "_refs", "fx")
"""Folders of torch with the code that compiles."""

COMPILER = ("_dynamo", "_inductor", "_functorch")
"""Folders of torch that other fuzzers give their coverage of."""

DYNAMO = "_dynamo"
CODE_CACHE = "_inductor/codecache.py"
GRAPH_PASSES = "_inductor/fx_passes"
LOWERINGS = "_inductor/lowering.py"
TEMPLATES = "_inductor/kernel"
TRACKERS = "_dynamo/variables"
MATCHER = "_inductor/pattern_matcher.py"
FUZZER = "_inductor/fuzzer.py"

PREPARES_PATTERNS = ("lazy_init", "gen_register_replacement")
"""Functions of the matcher that register patterns when the first graph comes, and trace them for that."""

TRACES_PATTERNS = ("fwd_only", "joint_fwd_bwd")
"""Functions of the matcher that trace patterns and replacements for a match."""


@cache
def torch_folder() -> Path:
    """The folder of the torch that would be imported; the paths above are relative to it."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None, "torch is a dependency"
    return Path(spec.origin).parent
