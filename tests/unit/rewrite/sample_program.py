"""A program with many sites, its facts and its runs."""

import textwrap

from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite.derivation import original
from eqfuzz.rewrite.facts.probe import take_facts
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.site import sites_of
from eqfuzz.rewrite.source.syntax import Syntax

SOURCE = textwrap.dedent(
    """
    import torch
    def program(x, y):
        z = torch.relu(x * y) + x ** 2
        return (z @ y.t()).sum(1) > z.mean(dim=1)
    def inputs(rng): yield rng.normal(6, 5), rng.normal(6, 5)
    """
)
PROGRAM = recognise(SOURCE, "seed.py")
CALLS = Loaded(PROGRAM).calls(0)


def study(variant):
    syntax = Syntax(variant.program.source)
    return syntax, take_facts(variant.program, syntax, CALLS)


SITES = sites_of(*study(original(PROGRAM)), shipped_rules())


def run(variant):
    loaded = Loaded(variant.program)
    return loaded.instance()(*CALLS[0].copy().args)
