"""Why a rule applies where it does in a program, and why not elsewhere."""

from __future__ import annotations

import libcst as cst

from eqfuzz.program.program import Program
from eqfuzz.rewrite.derivation import CannotRewrite, apply, original
from eqfuzz.rewrite.facts.probe import Facts
from eqfuzz.rewrite.rule_match import Explanation, Miss, RuleMatch
from eqfuzz.rewrite.rules.library import equation_of
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.site import NearMiss, find_sites
from eqfuzz.rewrite.source.syntax import Syntax


def explain(rule: Rule, program: Program, syntax: Syntax, facts: Facts) -> Explanation:
    """Where ``rule`` applies in ``program``, whose syntax and facts are given."""
    matches: list[RuleMatch] = []
    misses: list[Miss] = []
    bindings = {} if rule.is_generator else _bindings(rule, syntax)
    for place in find_sites(syntax, facts, [rule]):
        if isinstance(place, NearMiss):
            bound = bindings.get((place.line, place.before), {})
            misses.append(Miss(place.line, place.before, bound, place.reason))
            continue
        try:
            variant = apply(original(program), [place])
        except CannotRewrite as error:
            reason = f"the rewritten program is not valid Python: {error}"
            misses.append(Miss(place.line, place.before, bindings.get((place.line, place.before), {}), reason))
            continue
        matches.append(RuleMatch(variant.derivation[0], variant.program.source))
    matches.sort(key=lambda m: m.step.line)
    misses.sort(key=lambda m: m.line)
    return Explanation(tuple(matches), tuple(misses), _looked_at(rule, syntax))


def _bindings(rule: Rule, syntax: Syntax) -> dict[tuple[int, str], dict[str, str]]:
    """What the parameters of an equation stand for, by line and text of the place where its left side fits."""
    equation = equation_of(rule)
    bindings: dict[tuple[int, str], dict[str, str]] = {}
    for expression in syntax.expressions:
        match = equation.match(expression.node, syntax, expression.locals)
        if match is not None:
            start, end = expression.span
            texts = {name: syntax.text_of(node) for name, node in match.bindings.items()}
            bindings[syntax.line(start), syntax.text[start:end]] = texts
    return bindings


def _looked_at(rule: Rule, syntax: Syntax) -> int:
    nodes = [here.node for here in (*syntax.expressions, *syntax.statements)]
    if rule.is_generator:
        return sum(type(node) in rule.nodes for node in nodes)
    root = equation_of(rule).root
    return sum(root is cst.CSTNode or type(node) is root for node in nodes)
