"""The catalogue of equations, row by row: each is a rule that fires, or is left out with a reason.

``catalogue.jsonl`` has one row for each equation of the reference catalogue, ``before`` = ``after``, with ``rule``:
the names of the rules that cover it; or ``left_out``, the reason why none does. Coverage is executed: ``before`` (or
``after``, where ``on`` says so) becomes a small program, a named rule must find a site in it, the rewritten program
must run, and its value must be the original's within the rule's own class.

What must come out is the row's other side, compared as syntax. Where a rule has the same idea in other words (a slice
written as ``narrow``, a dimension that is a parameter, no temporary), the row says in ``as`` what comes out instead,
and that text must come out: a changed rule fails here until the row is updated.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
import textwrap
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils._pytree as pytree

from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded, reseed
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.derivation import Variant, apply, original
from eqfuzz.rewrite.facts.probe import take_facts
from eqfuzz.rewrite.proof.equivalence import same_bits
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.rules.selection import select
from eqfuzz.rewrite.site import NearMiss, Site, find_sites
from eqfuzz.rewrite.source.syntax import Syntax

HERE = Path(__file__).parent
ROWS = [json.loads(line) for line in (HERE / "catalogue.jsonl").read_text(encoding="utf-8").splitlines()]
COVERED = [row for row in ROWS if row.get("rule")]
LEFT_OUT = Path(__file__).parents[2] / "docs" / "reference" / "rules-left-out.md"

HEADER = """import collections
import contextlib
import functools
import itertools
import math
import operator
import types

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""
MODULES = frozenset("collections contextlib functools itertools math operator types np torch nn F".split())
SUBMODULES = {
    "LIN": "nn.Linear(6, 5)",
    "SEQ": "nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))",
    "CONV": "nn.Conv2d(3, 4, 3)",
    "BN": "nn.BatchNorm2d(3).eval()",
}
"""The modules of the catalogue; a row that names one is the ``forward`` of a module that has it."""

FLOATS = {
    "x y z": (4, 6),
    "v v2": (6,),
    "A": (4, 6),
    "B B2": (6, 5),
    "C": (5, 3),
    "D": (4, 5),
    "S": (6, 6),
    "bt": (2, 4, 6),
    "bu": (2, 6, 5),
    "bd": (2, 4, 5),
    "img": (2, 3, 8, 8),
    "img12": (2, 12, 8, 8),
    "w": (4, 3, 3, 3),
    "w1": (4, 3, 1, 1),
    "wd": (3, 1, 3, 3),
    "wt": (3, 4, 3, 3),
    "bw rm4": (4,),
    "Wl": (5, 6),
    "Wl2": (3, 6),
    "bl": (5,),
    "Wb": (3, 6, 6),
    "g6 b6": (6,),
    "rm g3 b3": (3,),
}
POSITIVE = {"p p2": (4, 6), "rv": (3,), "rv4": (4,)}


def operand(name: str) -> Any:
    """The operand that a variable of the catalogue stands for; the same in every run."""
    rng = np.random.default_rng(list(name.encode()))

    def tensor(values: Any, dtype: torch.dtype) -> torch.Tensor:
        return torch.from_numpy(np.asarray(values)).to(dtype)

    for names, shape in FLOATS.items():
        if name in names.split():
            return tensor(rng.standard_normal(shape), torch.float32)
    for names, shape in POSITIVE.items():
        if name in names.split():
            return tensor(rng.uniform(0.2, 3.0, shape), torch.float32)
    match name:
        case "k":
            return 1.5
        case "u":
            return tensor(rng.uniform(0.05, 0.95, (4, 6)), torch.float32)
        case "q" | "q2":
            return tensor(rng.integers(-5, 9, (4, 6)), torch.int64)
        case "q3":
            return tensor(rng.integers(1, 9, (4, 6)), torch.int64)
        case "q8":
            return tensor(rng.integers(0, 256, (4, 6)), torch.uint8)
        case "m" | "m2":
            return tensor(rng.random((4, 6)) < 0.5, torch.bool)
        case "i4":
            return tensor(rng.integers(0, 4, 4), torch.int64)
        case "perm4":
            return tensor(rng.permutation(4), torch.int64)
        case "idx":
            return tensor(rng.integers(0, 6, (4, 6)), torch.int64)
        case "idxp":
            return tensor([rng.permutation(6) for _ in range(4)], torch.int64)
        case "srt":
            return tensor(np.sort(rng.standard_normal(5)), torch.float32)
        case "c" | "c2":
            return tensor(rng.standard_normal((4, 6)) + 1j * rng.standard_normal((4, 6)), torch.complex64)
    raise KeyError(f"the catalogue has no variable {name}")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.set_num_threads(threads)


def body_of(side: str) -> list[str]:
    """The lines of a function for one side of a row: an expression, or statements that end in ``return``."""
    lines = side.splitlines()
    return lines if any(line.lstrip().startswith("return ") for line in lines) else [f"return {side}"]


def free_variables(side: str) -> list[str]:
    """The catalogue's variables in one side, in order of appearance."""
    tree = ast.parse(side if is_whole(side) else "def program():\n" + "".join(f"    {i}\n" for i in body_of(side)))
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    stored |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    stored |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    loaded = [n.id for n in names if isinstance(n.ctx, ast.Load)]
    return [n for n in dict.fromkeys(loaded) if n not in stored | MODULES and not hasattr(builtins, n)]


def is_whole(side: str) -> bool:
    """Whether a side is a whole program without its imports: a rule has written definitions beside the function."""
    return "def program(" in side or "class Model(" in side


def source_of(side: str, parameters: list[str]) -> str:
    """A program for one side: a function, or a module where it names one of SUBMODULES."""
    if is_whole(side):
        return HEADER + side
    named = [p for p in parameters if p in SUBMODULES]
    lines = "".join(f"    {line}\n" for line in body_of(side))
    if not named:
        return f"{HEADER}\ndef program({', '.join(parameters)}):\n{lines}"
    assignments = "".join(f"        self.{name} = {SUBMODULES[name]}\n" for name in named)
    for name in named:
        lines = re.sub(rf"\b{name}\b", f"self.{name}", lines)
    names = ", ".join(["self", *(p for p in parameters if p not in SUBMODULES)])
    head = f"class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n{assignments}"
    return f"{HEADER}\n{head}\n    def forward({names}):\n{textwrap.indent(lines, '    ')}"


def program_of(side: str, parameters: list[str]) -> Program:
    source = source_of(side, parameters)
    entry = "Model" if "class Model(" in source else "program"
    construct = "Model()" if entry == "Model" else "program"
    return Program("row", source, SeedFormat.EQFUZZ, entry, construct, "None")


def normal(source: str) -> str:
    """The program as syntax, without its imports: spaces, parentheses and quotes do not count."""
    tree = ast.parse(source)
    tree.body = [n for n in tree.body if not isinstance(n, (ast.Import, ast.ImportFrom))]
    return ast.unparse(tree)


@cache
def variants(side: str, parameters: tuple[str, ...], rules: str) -> list[tuple[Rule, Variant]]:
    """Every one-site variant of one side by the rules named; raises with the near misses where there is none."""
    program = program_of(side, list(parameters))
    syntax = Syntax(program.source)
    facts = take_facts(program, syntax, [call_of(parameters)])
    places = list(find_sites(syntax, facts, select(shipped_rules(), rules)))
    rewritten = [(f.rule, apply(original(program), [f])) for f in places if isinstance(f, Site)]
    reasons = [f"{f.before}: {f.reason}" for f in places if isinstance(f, NearMiss)]
    assert rewritten, f"{rules} does not fire on {side}: {reasons or 'no left side fits'}"
    return rewritten


def call_of(parameters: tuple[str, ...]) -> Call:
    return Call(tuple(operand(name) for name in parameters if name not in SUBMODULES), {})


def result_of(program: Program, parameters: tuple[str, ...]) -> Any:
    """What the program computes; random numbers and parameters are the same in every run."""
    reseed()
    return Loaded(program).instance()(*call_of(parameters).args)


def parameters_of(row: dict[str, Any], side: str) -> tuple[str, ...]:
    """The variables of the side that is run; what the other side has beside them is its own affair."""
    return tuple(free_variables(row[side]))


@pytest.mark.parametrize("row", COVERED, ids=[row["name"] for row in COVERED])
def test_a_named_rule_covers_the_row(row: dict[str, Any]) -> None:
    on = row.get("on", "before")
    parameters = parameters_of(row, on)
    other = row.get("as", row["after" if on == "before" else "before"])
    wanted = normal(source_of(other, list(parameters)))
    for name in row["rule"]:
        rewritten = variants(row[on], parameters, name)
        fitting = [(rule, v) for rule, v in rewritten if normal(v.program.source) == wanted]
        assert fitting, f"{name} writes\n" + "\n".join(normal(v.program.source) for _, v in rewritten)
        rule, variant = fitting[0]
        left = result_of(program_of(row[on], list(parameters)), parameters)
        assert_equal(rule, left, result_of(variant.program, parameters))


def assert_equal(rule: Rule, left: Any, right: Any) -> None:
    """Both are what the rule's class says; ``ulp`` and ``real`` within what float32 loses on operands this small."""
    lefts, rights = pytree.tree_leaves(left), pytree.tree_leaves(right)
    assert len(lefts) == len(rights)
    for a, b in zip(lefts, rights, strict=True):
        if not isinstance(a, torch.Tensor):
            assert a == b
            continue
        assert a.dtype is b.dtype
        assert a.shape == b.shape
        if rule.exact is Exactness.BITWISE or not (a.is_floating_point() or a.is_complex()):
            assert same_bits(a, b)
        else:
            eps = torch.finfo(a.dtype).eps
            factor = 32 if rule.exact is Exactness.ULP else 1024
            torch.testing.assert_close(b, a, rtol=factor * eps, atol=factor * eps, equal_nan=True)


def test_every_row_is_a_rule_or_has_a_reason() -> None:
    names = [row["name"] for row in ROWS]
    assert len(names) == len(set(names)) == 536
    for row in ROWS:
        assert bool(row.get("rule")) + bool(row.get("left_out")) == 1, row["name"]


def test_reasons_for_omissions_are_documented() -> None:
    text = LEFT_OUT.read_text(encoding="utf-8")
    for row in ROWS:
        if row.get("left_out"):
            assert f"`{row['name']}`" in text, f"{row['name']} is left out without a word in {LEFT_OUT.name}"


def test_most_rows_are_covered_and_most_of_those_verbatim() -> None:
    """536 rows, all but those in rules-left-out.md."""
    assert len(COVERED) >= 533
    verbatim = [row for row in COVERED if "as" not in row]
    assert len(verbatim) >= len(COVERED) / 2


def test_rows_that_no_rule_covers_are_documented() -> None:
    with pytest.raises(AssertionError, match="no left side fits"):
        variants("torch.sin(x)", ("x",), "operators/add_function")
    with pytest.raises(AssertionError, match="not a real number type"):
        variants("c * c2", ("c", "c2"), "algebra/mul_commutes")
