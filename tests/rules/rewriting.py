"""What the tests of generators share: the sites of a program, why there are none, and every variant run in eager."""

from __future__ import annotations

import textwrap
from typing import Any

import torch

from eqfuzz.oracle.compare.eager_judge import judge_rewrite
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.derivation import apply, original
from eqfuzz.rewrite.site import NearMiss, Site
from tests.rules.matching import X, Y, places_in

HEADER = "import torch\nimport torch.nn.functional as F\n\n\n"


def program_of(source: str) -> Program:
    """``source`` with the usual imports; its entry is the module ``Model`` when it has one, else ``program``."""
    text = HEADER + textwrap.dedent(source).strip() + "\n"
    entry = "Model" if "class Model" in text else "program"
    return Program("test", text, SeedFormat.EQFUZZ, entry, "Model()" if entry == "Model" else entry, "None")


def program_with(body: str) -> str:
    """A function of ``x`` and ``y`` with the statements ``body``, which returns both."""
    return f"def program(x, y):\n{textwrap.indent(body, '    ')}\n    return x, y\n"


def mixed_operands() -> tuple[torch.Tensor, torch.Tensor]:
    """Two operands of shape (2, 3), whose elements have both signs."""
    x = torch.tensor([[1.5, -2.0, 0.25], [3.0, 0.5, -1.0]])
    return x, x * 2 + 1


def found_in(source: str, rules: str, *args: Any) -> list[Site | NearMiss]:
    return places_in(program_of(source), rules, *(args or (X, Y)))


def reasons_in(source: str, rules: str, *args: Any) -> str:
    """All reasons for which ``rules`` make nothing of the program; fails where they make something."""
    places = found_in(source, rules, *args)
    assert places, f"{rules} see nothing in the program"
    rewritten = [site.text for site in places if isinstance(site, Site)]
    assert not rewritten, f"{rules} rewrites to {rewritten}"
    return "; ".join(f.reason for f in places if isinstance(f, NearMiss))


def misses_in(source: str, rules: str, *args: Any) -> str:
    """The reasons of the places where ``rules`` make nothing; every variant that they make elsewhere agrees."""
    variants_of(source, rules, *args)
    return "; ".join(f.reason for f in found_in(source, rules, *args) if isinstance(f, NearMiss))


def variants_of(source: str, rules: str, *args: Any) -> list[str]:
    """The text of every single rewrite, each of which ran and agreed with the original bit for bit."""
    program, calls = program_of(source), [Call(args or (X, Y), {})]
    wanted = observe(Loaded(program).instance, calls)
    texts = []
    for site in found_in(source, rules, *args):
        if isinstance(site, NearMiss):
            continue
        variant = apply(original(program), [site])
        actual = observe(Loaded(variant.program).instance, calls)
        verdict = judge_rewrite(wanted, actual, None, None, str(variant.exactness))
        assert verdict.kind is VerdictKind.AGREE, f"{verdict.message}\n{variant.program.source}"
        texts.append(variant.program.source.removeprefix(HEADER))
    return texts
