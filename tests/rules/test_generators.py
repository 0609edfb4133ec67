"""The place that generators write in: what may be moved, where definitions and statements land, what clashes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import pytest
import torch

from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.derivation import apply, original
from eqfuzz.rewrite.facts.probe import take_facts
from eqfuzz.rewrite.rules.generator import Written
from eqfuzz.rewrite.rules.rule import Rule, rule
from eqfuzz.rewrite.site import NearMiss, Site, find_sites
from eqfuzz.rewrite.source.edit import indented
from eqfuzz.rewrite.source.syntax import Syntax

X = torch.arange(6.0).reshape(2, 3)
EXAMPLE = "def program(x):\n    return x\n"


@rule(exact="bitwise", example=EXAMPLE)
def moved_out(call: cst.Call, ctx: RewriteContext) -> Iterator[Written]:
    """Every call into a variable before its statement."""
    name = ctx.new_name("t")
    yield name, ctx.hoisted(call, name)


@rule(exact="bitwise", example=EXAMPLE)
def outlined(total: cst.BinaryOperation, ctx: RewriteContext) -> Iterator[Written]:
    """Every operation into a function at module level."""
    ctx.require_pure(total)
    name = ctx.new_name("helper")
    parameters = ", ".join(ctx.variables(total))
    yield f"{name}({parameters})", ctx.define(f"def {name}({parameters}):\n    return {ctx.text(total)}")


@rule(exact="bitwise", example=EXAMPLE)
def turned_once(statement: cst.Assign | cst.Return | cst.For, ctx: RewriteContext) -> Iterator[Written]:
    """Every statement in a loop of one turn."""
    if not isinstance(statement, cst.Return):
        yield f"for {ctx.new_name('once')} in range(1):\n{indented(ctx.lines(statement))}"


MOVED, OUTLINED, TURNED = (function.rules[0] for function in (moved_out, outlined, turned_once))


def found_in(source: str, rule_under_test: Rule) -> list[Site | NearMiss]:
    syntax = Syntax(source)
    return list(find_sites(syntax, take_facts(program(source), syntax, [Call((X,), {})]), [rule_under_test]))


def program(source: str) -> Program:
    entry = "Model()" if "class Model" in source else "program"
    return Program("test", source, SeedFormat.EQFUZZ, entry.removesuffix("()"), entry, "None")


def written(source: str, rule_under_test: Rule) -> list[str]:
    """Every variant's text; each runs and gives what the source gives."""
    texts: list[str] = []
    expected = Loaded(program(source)).instance()(X.clone())
    for site in found_in(source, rule_under_test):
        if isinstance(site, Site):
            variant = apply(original(program(source)), [site]).program
            assert torch.equal(Loaded(variant).instance()(X.clone()), expected), variant.source
            texts.append(variant.source)
    return texts


def reasons(source: str, rule_under_test: Rule) -> set[str]:
    return {miss.reason for miss in found_in(source, rule_under_test) if isinstance(miss, NearMiss)}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return x if x.sum() < 0 else x.exp()", "it is evaluated on a condition"),
        ("return (x.sum() > 99 and x.exp()) or x", "it is evaluated on a condition"),
        ("return [x.exp() for _ in range(2)][0]", "it is evaluated later, or more than once"),
        ("return (lambda: x.exp())()", "it is evaluated later, or more than once"),
        ("while x.sum() < 0:\n        pass\n    return x", "it is evaluated on a condition, or more than once"),
        ("x = x.clone()\n    return x.add_(1) * x.exp()", "something with side effects is evaluated before it"),
        ("x = x.clone()\n    return x.exp() * x.add_(1)", "something with side effects is evaluated before it"),
    ],
)
def test_expression_that_cannot_be_evaluated_first_is_not_moved(body: str, reason: str) -> None:
    source = f"import torch\n\n\ndef program(x):\n    {body}\n"
    assert reason in reasons(source, MOVED)
    written(source, MOVED)


def test_a_call_moves_before_its_statement() -> None:
    source = (
        "import torch\n\n\ndef program(x):\n    for row in torch.sin(x):\n        y = row.exp() + 1\n    return y\n"
    )
    texts = written(source, MOVED)
    assert any("    t1 = torch.sin(x)\n    for row in t1:\n" in text for text in texts)
    assert any("        t1 = row.exp()\n        y = t1 + 1\n" in text for text in texts)


def test_an_impure_call_moves_only_past_names() -> None:
    source = "import torch\n\n\ndef bump(t):\n    return t.add_(1)\n\n\ndef program(x):\n    y = x.clone()\n"
    moved = written(source + "    return x * bump(y)\n", MOVED)
    assert any("t1 = bump(y)\n    return x * t1" in text for text in moved)
    assert "something with side effects is evaluated before it" in reasons(
        source + "    return y.exp() * bump(y)\n", MOVED
    )


def test_definitions_stand_before_the_decorated_class() -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\ndef mark(c):\n    return c\n\n\n@mark\nclass Model(nn.Module):\n"
        "    def forward(self, x):\n        def inner(y):\n            return y * 2 + x\n\n"
        "        return inner(x) - 1\n"
    )
    texts = written(source, OUTLINED)
    assert len(texts) == 2  # the call of a function of the seed may have side effects
    for text in texts:
        assert text.index("def helper1(") < text.index("@mark")
    assert any("def helper1(x, y):\n    return y * 2 + x" in text for text in texts)


def test_strings_over_several_lines_are_not_indented() -> None:
    source = 'import torch\n\n\ndef program(x):\n    n = len("""a\nb""")\n    y = x * n\n    return y\n'
    assert reasons(source, TURNED) == {"a string of several lines cannot be indented differently"}
    assert len(written(source, TURNED)) == 1


def test_comments_and_deeper_blocks_keep_their_shape() -> None:
    source = (
        "import torch\n\n\ndef program(x):\n    # before\n    for i in range(2):  # turns\n"
        "        # first\n        x = x + i\n\n        if i:\n            x = x * 2\n    return x\n"
    )
    texts = written(source, TURNED)
    assert any(
        "    for once1 in range(1):\n        for i in range(2):  # turns\n            # first" in t for t in texts
    )


def test_sites_with_the_same_new_name_clash() -> None:
    source = "import torch\n\n\ndef program(x):\n    y = x * 2\n    return y + 1\n"
    first, second = (s for s in found_in(source, OUTLINED) if isinstance(s, Site))
    assert first.clashes(second)


def test_class_attributes_are_no_statements_of_a_function() -> None:
    source = "import torch\n\n\ndef program(x):\n    class K:\n        a = 2\n    return x * K.a\n"
    assert written(source, TURNED) == []
