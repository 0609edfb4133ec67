"""Parentheses around replaced expressions: as many as the meaning needs, and no more."""

import ast
import itertools

import pytest

from eqfuzz.program.formats import recognise
from eqfuzz.rewrite.source.edit import edited
from eqfuzz.triage.reduce.precedence import Precedence, precedence_of
from eqfuzz.triage.reduce.source_tree import SourceTree

EXPRESSIONS = (
    *("a", "f(a)", "a[0]", "(a, b)", "[a]", "-a", "not a", "a ** b", "a * b", "a @ b", "a + b", "a - b"),
    *("a << 1", "a & b", "a ^ b", "a | b", "a < b", "a and b", "a or b", "a if b else c", "lambda: a", "(a := b)"),
)
CONTEXTS = (
    *("return {}", "x = {}", "f({})", "f(k={})", "x[{}]", "[{}]", "({}, b)", "{{'k': {}}}", "if {}: pass"),
    *(
        "return {} + b",
        "return b - {}",
        "return {} * b",
        "return -{}",
        "return {}.t()",
        "return {}[0]",
        "return {} ** b",
    ),
    *("return b ** {}", "return not {}", "return {} or b", "return b and {}", "return {} < b", "return b if {} else c"),
)


def with_text(context: str, text: str) -> str:
    return f"def program(a, b, c):\n    {context.format(text)}\n\n\ndef inputs(rng):\n    yield 1, 2, 3\n"


@pytest.mark.parametrize("context", CONTEXTS)
def test_replaced_expression_keeps_its_meaning(context):
    for old, new in itertools.permutations(EXPRESSIONS, 2):
        program = recognise(with_text(context, f"({old})"), "example")
        parsed = SourceTree(program)
        wanted = ast.dump(ast.parse(old, mode="eval").body)
        node = next(n for n in ast.walk(parsed.tree) if isinstance(n, ast.expr) and ast.dump(n) == wanted)
        text = edited(program.source, [parsed.put(node, new)])
        assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(with_text(context, f"({new})"))), (old, new)


@pytest.mark.parametrize(
    ("source", "old", "new", "expected"),
    [
        ("return (a + b) * c", "a + b", "a", "return a * c"),
        ("return (a + b) * c", "a + b", "a - b", "return (a - b) * c"),
        ("return a * c", "a", "a + b", "return (a + b) * c"),
        ("return a * c", "a * c", "a + b", "return a + b"),
        ("return f(a)", "a", "a if b else c", "return f(a if b else c)"),
        ("return f((a + b))", "a + b", "a - b", "return f(a - b)"),
        ("return sum(x for x in a)", "x for x in a", "a", "return sum(a)"),
    ],
)
def test_parentheses_stand_only_where_they_are_needed(source, old, new, expected):
    parsed = SourceTree(recognise(with_text("{}", source), "example"))
    node = next(n for n in ast.walk(parsed.tree) if isinstance(n, ast.expr) and parsed.text_of(n).strip("()") == old)
    assert edited(parsed.text, [parsed.put(node, new)]) == with_text("{}", expected)


def test_operators_are_ordered_as_in_the_language_reference():
    texts = ("a, b", "a if b else c", "a or b", "a and b", "not a", "a < b", "a | b", "a ^ b", "a & b", "a << b")
    texts += ("a + b", "a * b", "-a", "a ** b", "a")
    precedences = [precedence_of(ast.parse(text, mode="eval").body) for text in texts]
    assert precedences == sorted(set(precedences))
    assert precedences[-1] is Precedence.ATOM
    assert precedence_of(ast.parse("(a, b)", mode="eval").body) is Precedence.ATOM
