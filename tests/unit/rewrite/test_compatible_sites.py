"""Which sites of one program go together."""

import textwrap

import pytest

from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite.compatible_sites import SiteSet
from eqfuzz.rewrite.facts.probe import take_facts
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.site import sites_of
from eqfuzz.rewrite.source.syntax import Syntax

SOURCE = textwrap.dedent(
    """
    import torch
    def program(x, y):
        a = torch.relu(x * y)
        b = a.t() + y.t()
        c = b.sum(dim=0) - x.amax(dim=1)
        return b, c
    def inputs(rng): yield rng.normal(6, 6), rng.normal(6, 6)
    """
)
PROGRAM = recognise(SOURCE, "seed.py")
SYNTAX = Syntax(SOURCE)
SITES = sites_of(SYNTAX, take_facts(PROGRAM, SYNTAX, Loaded(PROGRAM).calls(0)), shipped_rules())


def of(rule, holds=lambda site: True):
    return next(site for site in SITES if site.rule.name == rule and holds(site))


def inserting(name):
    """A site that puts a statement about the variable ``name`` before another."""
    return of("dead-branches/branch_on_impossible_rank", lambda site: f"{name}.dim()" in site.text)


@pytest.mark.parametrize("first", [0, 1])
def test_site_that_mentions_a_renamed_variable_is_rejected(first):
    renamed = of("variables/renamed_variable", lambda site: SOURCE[slice(*site.edits[0].span)] == "a")
    pair = [renamed, inserting("a")]
    admitted = SiteSet(SOURCE)
    assert [admitted.admit(pair[first]), admitted.admit(pair[1 - first])] == [True, False]
    other = SiteSet(SOURCE)
    assert other.admit(renamed)
    assert other.admit(inserting("b"))


def test_site_that_mentions_a_deleted_variable_is_rejected():
    deleted = of("temporaries/deleted_after_last_use", lambda site: "del a" in site.text)
    admitted = SiteSet(SOURCE)
    assert admitted.admit(deleted)
    assert not admitted.admit(inserting("a"))


def test_names_bound_inside_expressions_are_bound_once():
    binding = [site for site in SITES if "t1 :=" in site.text]
    assert len({site.span for site in binding}) > 1
    assert all("t1" in site.names for site in binding)
    admitted = SiteSet(SOURCE)
    assert [admitted.admit(site) for site in binding].count(True) == 1


def test_site_that_changes_strides_is_rejected_beside_one_that_reads_them():
    changing = next(site for site in SITES if site.rule.layout and "y.t()" in site.before)
    reading = next(s for s in SITES if ".view(" in s.text and not s.rule.layout and not s.clashes(changing))
    admitted = SiteSet(SOURCE)
    assert admitted.admit(changing)
    assert not admitted.admit(reading)


def test_one_insertion_per_rule_is_admitted():
    admitted = SiteSet(SOURCE)
    assert admitted.admit(inserting("b"))
    assert not admitted.admit(inserting("a"))
