"""Derivations: rewrites applied to a program, the variants that they give, and derivations replayed from a record."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from eqfuzz.program.parsing import parse
from eqfuzz.program.program import Program
from eqfuzz.rewrite.facts.probe import Facts
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.former_names import present_name
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.site import Site, sites_of
from eqfuzz.rewrite.source.edit import edited
from eqfuzz.rewrite.source.syntax import Syntax


@dataclasses.dataclass(frozen=True)
class Variant:
    """A program equal to its seed by construction, how it came about, and how equal it is."""

    program: Program
    derivation: tuple[RewriteStep, ...]
    exactness: Exactness
    gradients_equal: bool = True

    @cached_property
    def text_digest(self) -> str:
        """Names the program whatever its layout: parentheses, line breaks and comments do not count."""
        return hashlib.sha256(ast.dump(parse(self.program.source)).encode()).hexdigest()

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.rule.split("/")[0] for step in self.derivation))


Study = Callable[[Variant], tuple[Syntax, Facts]]
"""Parses a variant and takes its facts again."""


class CannotRewrite(Exception):
    """A rewrite is not possible: it gives invalid Python, or a recorded step fits no place."""


def original(program: Program) -> Variant:
    """The seed itself: the empty derivation."""
    return Variant(program, (), Exactness.BITWISE)


def apply(variant: Variant, sites: Sequence[Site]) -> Variant:
    """``variant`` with all ``sites`` rewritten at once; they must not clash. Raises CannotRewrite."""
    text = edited(variant.program.source, [edit for site in sites for edit in site.edits])
    imports = list(dict.fromkeys(line for site in sites for line in site.imports))
    try:
        if imports:
            text = _with_imports(text, imports)
        compile(text, "<variant>", "exec")
    except SyntaxError as error:
        raise CannotRewrite(f"{sites[0].rule.name}: {error.msg}") from error
    exactness, gradients = variant.exactness, variant.gradients_equal
    for site in sites:
        exactness = exactness.compose(site.effect)
        gradients = gradients and site.rule.gradients
    steps = tuple(RewriteStep.at(site) for site in sites)
    return Variant(variant.program.with_source(text), variant.derivation + steps, exactness, gradients)


def rederive(start: Variant, study: Study, rules: Mapping[str, Rule], steps: Sequence[RewriteStep]) -> Variant:
    """``start`` with ``steps`` applied one after the other, each at the nearest place with the recorded text.

    Steps that were applied at once may give another program one by one. A step may name its rule by a former name.
    Raises CannotRewrite where a step fits no place, for example because an earlier step that made the place is left
    out.
    """
    variant = start
    for step in steps:
        rule = rules.get(step.rule) or rules.get(present_name(step.rule))
        if rule is None:
            raise CannotRewrite(f"{step.rule}: there is no such rule")
        syntax, facts = study(variant)
        fitting = [site for site in sites_of(syntax, facts, [rule]) if site.before == step.before]
        if not fitting:
            raise CannotRewrite(f"{step.rule}: no {step.before!r} left to rewrite")
        nearest = min(fitting, key=lambda site: (site.text != step.after, abs(site.span[0] - step.start)))
        variant = apply(variant, [nearest])
    return variant


def _with_imports(text: str, imports: Sequence[str]) -> str:
    """``text`` with import lines put behind its docstring and ``__future__`` imports."""
    line = 0
    for statement in parse(text).body:
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (is_docstring or is_future):
            break
        line = statement.end_lineno or line
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:line], *(f"{i}\n" for i in imports), *lines[line:]])
