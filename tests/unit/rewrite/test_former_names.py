"""Former names of rules keep working in selections, in look-ups by name and in recorded derivations."""

import dataclasses

import pytest

from eqfuzz.program.call import Call
from eqfuzz.rewrite.derivation import original, rederive
from eqfuzz.rewrite.facts.probe import take_facts
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.rewrite.rules import selection
from eqfuzz.rewrite.rules.former_names import FORMER_NAMES, former_names, present_name
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.rules.selection import one, select
from eqfuzz.rewrite.site import sites_of
from eqfuzz.rewrite.source.syntax import Syntax
from tests.rules.rewriting import X, Y, program_of

RULES = {rule.name: rule for rule in shipped_rules()}
RUN = "def program(x, y):\n    a = x + y\n    b = a * y\n    return b\n"


@pytest.mark.parametrize("former", FORMER_NAMES)
def test_former_name_leads_to_one_present_rule(former):
    assert former not in RULES
    assert present_name(former) in RULES
    assert former in former_names(present_name(former))
    assert one(shipped_rules(), former).name == present_name(former)


def test_names_are_renamed_once():
    assert not FORMER_NAMES.keys() & FORMER_NAMES.values()


def test_selection_takes_former_names_and_globs_over_them():
    names = [rule.name for rule in select(shipped_rules(), "outlining/outlined_rest,pairs/*")]
    assert names == ["comprehensions/pairs_by_number", "statements/outlined_rest"]
    assert "statements/outlined_rest" not in {r.name for r in select(shipped_rules(), "-outlining/outlined_rest")}


def test_selection_takes_a_former_family():
    assert {rule.name for rule in select(shipped_rules(), "outlining")} == {
        "statements/outlined_rest",
        "statements/outlined_statements",
    }


def test_present_family_does_not_select_rules_that_left_it(monkeypatch):
    moved = {"statements/outlined_rest": ("packing/outlined_rest",)}
    monkeypatch.setattr(selection, "former_names", lambda name: moved.get(name, ()))
    assert "statements/outlined_rest" not in {rule.name for rule in select(shipped_rules(), "packing")}
    assert "statements/outlined_rest" in {rule.name for rule in select(shipped_rules(), "packing/outlined_rest")}


def test_reverse_rule_is_renamed_with_its_rule(monkeypatch):
    monkeypatch.setitem(FORMER_NAMES, "old/law", "algebra/distribution")
    assert present_name("old/law_back") == "algebra/distribution_back"


def test_derivation_with_a_former_name_is_replayed():
    def study(variant):
        syntax = Syntax(variant.program.source)
        return syntax, take_facts(variant.program, syntax, [Call((X, Y), {})])

    start = original(program_of(RUN))
    site = sites_of(*study(start), [RULES["statements/outlined_statements"]])[0]
    recorded = dataclasses.replace(RewriteStep.at(site), rule="outlining/outlined_statements")
    assert rederive(start, study, RULES, [recorded]).derivation == (RewriteStep.at(site),)
