"""Examples: small programs on which a rule is proved, with the sorts of their parameters."""

from __future__ import annotations

import ast
import builtins
import dataclasses
from functools import cache, cached_property
from typing import Any

import torch

from eqfuzz.program.load import Loaded
from eqfuzz.program.parsing import parse
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.facts.preconditions import Precondition
from eqfuzz.rewrite.proof.equivalence import Run, Values
from eqfuzz.rewrite.rules.library import equation_of
from eqfuzz.rewrite.rules.rule import Rule, RuleError
from eqfuzz.rewrite.rules.sorts import SORTS
from eqfuzz.rewrite.source.syntax import Syntax
from eqfuzz.rewrite.source.template import code_of

_MODULES = "collections contextlib dataclasses functools itertools math operator types torch".split()
_HEADER = {
    **{name: f"import {name}" for name in _MODULES},
    "np": "import numpy as np",
    "nn": "import torch.nn as nn",
    "F": "import torch.nn.functional as F",
}
"""Modules that an example may use without importing them, with their imports."""


@dataclasses.dataclass(frozen=True, eq=False)
class Example:
    """A program whose parameters are described by sorts (see ``sorts.SORTS``) and preconditions.

    ``run`` computes its result on operands by parameter name; ``keeps_operands`` says that it cannot change them.
    """

    program: Program
    sorts: dict[str, str]
    preconditions: tuple[Precondition, ...]
    run: Run
    keeps_operands: bool

    @cached_property
    def syntax(self) -> Syntax:
        """The program, parsed once."""
        return Syntax(self.program.source)


@cache
def examples_of(rule: Rule) -> tuple[Example, ...]:
    """The programs of a generator, or the one that returns an equation's left side."""
    if rule.is_generator:
        return tuple(_parsed(rule, text) for text in rule.examples)
    left = code_of(equation_of(rule).left).strip()
    text = f"def program({', '.join(rule.sorts)}):\n    return ({left})\n"
    return (Example(_program(rule, text, "program"), rule.sorts, rule.where, side(rule, left), True),)


def right_of(rule: Rule) -> Run:
    """An equation's right side (in the rule's direction) as a function of its operands."""
    return side(rule, code_of(equation_of(rule).right).strip())


def side(rule: Rule, text: str) -> Run:
    """An expression over the rule's parameters as a function of its operands."""
    code = compile(f"({text})", rule.name, "eval")
    # One namespace, not globals and locals: comprehensions see only globals.
    return lambda values: eval(code, {"__builtins__": builtins, **rule.function.__globals__, **values})


def running(program: Program) -> Run:
    """The program as a function of its operands; the text is executed once, a module is made for every run."""
    loaded = Loaded(program)

    def run(values: Values) -> Any:
        with torch.random.fork_rng(devices=[]):
            instance = loaded.instance()  # seeds the generators for its parameters; what it draws later is the caller's
        return instance(**values)

    return run


def _parsed(rule: Rule, text: str) -> Example:
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name in ("program", "forward"):
            sorts = {a.arg: _sort(rule, a.annotation) for a in node.args.args if a.arg != "self"}
            entry = "program" if node.name == "program" else "Model"
            program = _program(rule, _without_annotations(text), entry)
            return Example(program, sorts, rule.where, running(program), False)
    raise RuleError(f"{rule.name}: the example defines neither `program` nor a module with `forward`")


def _without_annotations(text: str) -> str:
    """``text`` without the sorts of its parameters, which mean nothing to Python."""
    for sort in SORTS:
        text = text.replace(f": {sort},", ",").replace(f": {sort})", ")")
    return text


def _sort(rule: Rule, annotation: ast.expr | None) -> str:
    sort = "Tensor" if annotation is None else ast.unparse(annotation)
    if sort not in SORTS:
        raise RuleError(f"{rule.name}: unknown sort {sort!r} in the example; one of {', '.join(SORTS)}")
    return sort


def _program(rule: Rule, text: str, entry: str) -> Program:
    construct = entry if entry == "program" else f"{entry}()"
    used = {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)} | {"torch"}
    imports = "".join(f"{line}\n" for name, line in _HEADER.items() if name in used)
    return Program(f"example of {rule.name}", f"{imports}\n\n{text}", SeedFormat.EQFUZZ, entry, construct, "None")
