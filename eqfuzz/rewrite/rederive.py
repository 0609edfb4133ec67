"""A derivation made again from its record, whole or in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eqfuzz.rewrite.derivation import CannotRewrite, RewriteStep, Variant, apply
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.strategy import Study, sites_of


def rederive(start: Variant, study: Study, rules: Mapping[str, Rule], steps: Sequence[RewriteStep]) -> Variant:
    """``start`` with ``steps`` taken one after the other, each at the nearest place that reads as it did.

    What was rewritten at once may come out differently, or not at all, one by one. Raises CannotRewrite where a step
    finds no place, as where one before it made that place and is left out.
    """
    variant = start
    for step in steps:
        rule = rules.get(step.rule)
        if rule is None:
            raise CannotRewrite(f"{step.rule}: there is no such rule")
        syntax, facts = study(variant)
        fitting = [site for site in sites_of(syntax, facts, [rule]) if site.before == step.before]
        if not fitting:
            raise CannotRewrite(f"{step.rule}: no {step.before!r} left to rewrite")
        variant = apply(
            variant, [min(fitting, key=lambda site: (site.text != step.after, abs(site.span[0] - step.start)))]
        )
    return variant
