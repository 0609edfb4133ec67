"""Sites: the places of a program where a rule applies, and near misses with their reasons."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from eqfuzz.rewrite.context.context import constant
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.preconditions import Visit
from eqfuzz.rewrite.facts.probe import Facts
from eqfuzz.rewrite.rules.equation import Equation, EquationMatch
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.generator import GeneratorRule
from eqfuzz.rewrite.rules.library import equation_of
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.source.edit import Edit, overlap
from eqfuzz.rewrite.source.syntax import Expression, Span, Statement, Syntax
from eqfuzz.rewrite.source.template import Replacement

STRIDE_READERS = frozenset(
    """view view_as as_strided stride is_contiguous storage storage_offset view_as_complex data_ptr numpy resize_
    kron set_rng_state set_state""".split()
)
"""Attributes that read strides: in a program with one of them, a rule that changes strides is no equation.

``torch.kron`` raises on some strides in eager, and a generator takes no state that is not contiguous."""

GRADIENT_READERS = frozenset("backward grad vjp jvp jacrev jacfwd hessian grad_and_value".split())
"""Names that compute gradients: in a program with one of them, a rule that changes gradients is no equation."""

DRAWN_IN_PLACE = frozenset(
    """dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout rrelu gumbel_softmax rand_like
    randn_like randint_like bernoulli bernoulli_ normal_ uniform_ exponential_ geometric_ log_normal_ cauchy_ random_
    poisson Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout RReLU MultiheadAttention
    Transformer TransformerEncoderLayer TransformerDecoderLayer LSTM GRU RNN""".split()
)
"""Names that draw random numbers in the order of memory: other strides give them to other elements."""


_WALRUS = re.compile(r"(\w+) :=")


@dataclasses.dataclass(frozen=True)
class Site:
    """One place where a rule applies.

    Attributes:
        rule: The rule.
        line: Line of the place, from 1.
        before: Text of the place.
        text: What replaces it.
        edits: All changes, that of the place itself first.
        imports: Modules that the program must import.
        names: Names that are new in the program.
        realigns: Whether the place gave a view off the 64-byte boundary, where the rewrite may give a fresh tensor:
            matrix products (MKL's) round by how their operands are aligned.
    """

    rule: Rule
    line: int
    before: str
    text: str
    edits: tuple[Edit, ...]
    imports: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    realigns: bool = False

    @property
    def effect(self) -> Exactness:
        """What applying it does to a derivation's exactness."""
        return Exactness.ULP.compose(self.rule.effect) if self.realigns else self.rule.effect

    @property
    def span(self) -> Span:
        return self.edits[0].span

    def clashes(self, other: Site) -> bool:
        """Whether both cannot be applied at once: they change the same text or introduce the same name."""
        if self.names & other.names:
            return True
        return any(overlap(a.span, b.span) for a in self.edits for b in other.edits)


@dataclasses.dataclass(frozen=True)
class NearMiss:
    """A place where the left side fits and the rule still does not apply, with the reason."""

    rule: Rule
    line: int
    before: str
    reason: str


def find_sites(syntax: Syntax, facts: Facts, rules: Sequence[Rule]) -> Iterator[Site | NearMiss]:
    """Every site and near miss: first of expressions, then of statements, each in source order, then rules by name."""
    equations: dict[type[cst.CSTNode], list[Equation]] = {}
    generators: dict[type[cst.CSTNode], list[GeneratorRule]] = {}
    for rule in rules:
        if rule.is_generator:
            for node in rule.nodes:
                generators.setdefault(node, []).append(GeneratorRule(rule))
        else:
            equation = equation_of(rule)
            equations.setdefault(equation.root, []).append(equation)
    anywhere = equations.get(cst.CSTNode, [])
    for expression in syntax.expressions:
        for equation in (*equations.get(type(expression.node), ()), *anywhere):
            match = equation.match(expression.node, syntax, expression.locals)
            if match is not None:
                yield _consider(equation, match, expression, syntax, facts)
        for generator in generators.get(type(expression.node), ()):
            yield from _generate(generator, expression, syntax, facts)
    for statement in syntax.statements:
        for generator in generators.get(type(statement.node), ()):
            yield from _generate(generator, statement, syntax, facts)


def sites_of(syntax: Syntax, facts: Facts, rules: Sequence[Rule]) -> list[Site]:
    """The places where a rule applies, in source order."""
    return [s for s in find_sites(syntax, facts, rules) if isinstance(s, Site)]


def _generate(
    generator: GeneratorRule, here: Expression | Statement, syntax: Syntax, facts: Facts
) -> Iterator[Site | NearMiss]:
    rule, (start, end) = generator.rule, here.span
    line, before = syntax.line(start), syntax.text[start:end]
    if reason := _why_excluded(rule, syntax):
        yield NearMiss(rule, line, before, reason)
        return
    for change in generator.changes(here, syntax, facts):
        if isinstance(change, str):
            yield NearMiss(rule, line, before, change)
            continue
        edits, place = change
        imports, names = tuple(dict.fromkeys(place.imports)), frozenset(place.fresh)
        yield Site(rule, line, before, edits[0].text, edits, imports, names, _is_off_boundary(facts.at(here.span)))


def _why_excluded(rule: Rule, syntax: Syntax) -> str | None:
    """Why a rule that changes strides or gradients does not apply to a program that reads them, or None."""
    if not rule.gradients and (reads := sorted(GRADIENT_READERS & (syntax.attributes | syntax.names))):
        return f"the rule changes gradients and the program computes some ({reads[0]})"
    if not rule.layout:
        return None
    if reads := sorted(STRIDE_READERS & syntax.attributes):
        return f"the rule changes strides and the program reads them ({reads[0]})"
    if draws := sorted(DRAWN_IN_PLACE & (syntax.attributes | syntax.names)):
        return f"the rule changes strides and the program draws random numbers in their order ({draws[0]})"
    return None


def _consider(
    equation: Equation, match: EquationMatch, expression: Expression, syntax: Syntax, facts: Facts
) -> Site | NearMiss:
    rule, (start, end) = equation.rule, expression.span
    line, before = syntax.line(start), syntax.text[start:end]

    def miss(reason: str) -> NearMiss:
        return NearMiss(rule, line, before, reason)

    if expression.identity and equation.matches_anything:
        return miss("the object itself matters here, not only its value")
    if reason := _why_excluded(rule, syntax):
        return miss(reason)

    visits = _visits(equation, match, expression, syntax, facts)
    if isinstance(visits, str):
        return miss(visits)
    for visit in visits:
        for name, sort in rule.sorts.items():
            if not fits_sort(visit[name], sort):
                return miss(f"{name} is {visit[name].describe()}, not a {sort}")
        for precondition in rule.where:
            reason = precondition.check(visit)
            if reason is not None:
                return miss(reason)
    written = equation.write(match, syntax, expression.locals)
    if isinstance(written, str):
        return miss(written)
    text = _parenthesised(written, expression)
    if text.strip("()") == before.strip("()"):
        return miss("the right side is the same text")
    realigns = _is_off_boundary([visit["result"] for visit in visits])
    names = frozenset(_WALRUS.findall(text)) - frozenset(_WALRUS.findall(before))
    return Site(rule, line, before, text, (Edit(expression.span, text),), written.imports, names, realigns)


def _is_off_boundary(seen: Sequence[Fact]) -> bool:
    """Whether one of the values is a tensor of inexact numbers that is not aligned."""
    dtypes = [f.dtype for f in seen if not f.aligned and f.dtype is not None]
    return any(dtype.is_floating_point or dtype.is_complex for dtype in dtypes)


def fits_sort(fact: Fact, sort: str) -> bool:
    """Whether a value with this fact may be bound to a parameter of that sort."""
    match sort:
        case "Tensor":
            return fact.is_tensor
        case "Number":
            return fact.is_number
        case "Operand":
            return fact.is_tensor or fact.is_number
        case "Int" | "Float" | "Bool" | "Ints" | "Dtype":
            return fact.kind == sort.lower()
        case _:
            return True


def _visits(
    equation: Equation, match: EquationMatch, expression: Expression, syntax: Syntax, facts: Facts
) -> Sequence[Visit] | str:
    """The facts of all parameters for each visit, or why there are none."""
    whole = facts.at(expression.span)
    if not whole:
        return "it did not run, or ran too often to be recorded"
    columns: dict[str, Sequence[Fact]] = {"result": whole}
    for name in equation.rule.sorts:
        node = match.bindings[name]
        fact = constant(node)
        columns[name] = [fact] * len(whole) if fact is not None else facts.at(syntax.span(node))
        if len(columns[name]) != len(whole):
            return f"{name} was not evaluated once for each evaluation of the whole"
    return [{name: column[i] for name, column in columns.items()} for i in range(len(whole))]


def _parenthesised(written: Replacement, expression: Expression) -> str:
    if "\n" in written.text:
        return f"({written.text})"  # the parentheses that allowed an operand's line break may be missing
    if written.atom or expression.enclosed:
        # ``f(x)(y)`` needs none either; a walrus always has its own parentheses.
        return written.text
    return f"({written.text})"
