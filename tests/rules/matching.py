"""Sites and variants of a program that is written as text, for the tests of rules."""

from __future__ import annotations

from typing import Any

import torch
import torch.utils._pytree as pytree

from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.derivation import apply, original
from eqfuzz.rewrite.facts.probe import take_facts
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.rules.selection import select
from eqfuzz.rewrite.site import NearMiss, Site, find_sites
from eqfuzz.rewrite.source.syntax import Syntax

X = torch.arange(6.0).reshape(2, 3) - 2.5
Y = torch.arange(6.0).reshape(2, 3) + 0.25
HEADER = "import torch\nimport torch.nn.functional as F\n"


def places_in(program: Program, rules: str, *args: Any) -> list[Site | NearMiss]:
    """The sites and near misses of ``rules`` in a program that is called with ``args``."""
    syntax = Syntax(program.source)
    facts = take_facts(program, syntax, [Call(args, {})])
    return list(find_sites(syntax, facts, select(shipped_rules(), rules)))


def found_in(source: str, rules: str, *args: Any) -> list[Site | NearMiss]:
    return places_in(Program("test", source, SeedFormat.EQFUZZ, "program", "program", "None"), rules, *args)


def sites_in(source: str, rules: str, *args: Any) -> list[Site]:
    return [f for f in found_in(source, rules, *args) if isinstance(f, Site)]


def reasons_in(source: str, rules: str, *args: Any) -> list[str]:
    return [f.reason for f in found_in(source, rules, *args) if isinstance(f, NearMiss)]


def texts(expression: str, rules: str, *args: Any, header: str = HEADER) -> list[str]:
    """What stands in the place of ``expression`` (and of what is inside it) after each rewrite."""
    names = ", ".join("xyzuvw"[: len(args)])
    return [s.text for s in sites_in(f"{header}def program({names}):\n    return {expression}\n", rules, *args)]


def variants(source: str, rules: str, *args: Any) -> list[str]:
    """The text of every one-site variant; each is run and must give what the source gives."""
    program = Program("test", source, SeedFormat.EQFUZZ, "program", "program", "None")
    wanted = Loaded(program).instance()(*Call(args, {}).copy().args)
    sources = []
    for site in sites_in(source, rules, *args):
        variant = apply(original(program), [site])
        actual = Loaded(variant.program).instance()(*Call(args, {}).copy().args)
        assert_same(actual, wanted)
        sources.append(variant.program.source)
    return sources


def assert_same(actual: Any, wanted: Any) -> None:
    left, right = pytree.tree_leaves(actual), pytree.tree_leaves(wanted)
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        if isinstance(b, torch.Tensor):
            torch.testing.assert_close(a, b, equal_nan=True)
        else:
            assert a == b
