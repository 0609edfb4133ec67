"""The source diff: marked expressions, named rules, line numbers, at any width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from eqfuzz.report.source import EXCERPT_LINES, Excerpt, SourceDiff, place_marks
from eqfuzz.rewrite.rewrite_step import RewriteStep

from .sample_events import CLAMP, POW, SOURCE, program, rewritten


def text_of(renderable: object, width: int = 100) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def diff(*steps: RewriteStep, source: str = SOURCE, width: int = 100) -> str:
    return text_of(SourceDiff(source, rewritten(*steps, source=source), steps), width)


def test_changed_line_is_shown_twice_with_its_number():
    lines = diff(POW).splitlines()
    old = next(line for line in lines if "shaded ** 0.5" in line)
    new = next(line for line in lines if "torch.sqrt(shaded)" in line)
    assert old.split()[:2] == ["13", "-"]
    assert new.split()[:2] == ["13", "+"]


def test_carets_underline_rewritten_expression():
    lines = diff(POW).splitlines()
    at = next(i for i, line in enumerate(lines) if "torch.sqrt(shaded)" in line)
    start = lines[at].index("torch.sqrt(shaded)")
    assert lines[at + 1].rstrip() == " " * start + "^" * len("torch.sqrt(shaded)") + f" {POW.rule}"


@pytest.mark.parametrize("width", [50, 80, 140])
def test_two_rewrites_are_both_named_at_every_width(width):
    text = diff(POW, CLAMP, width=width)
    assert POW.rule in text
    assert CLAMP.rule in text
    assert all(len(line) <= width for line in text.splitlines())


def test_wrapped_line_names_rule_without_carets():
    text = diff(CLAMP, width=60)
    assert f"↳ {CLAMP.rule}" in text
    assert "^" not in text


def test_diff_shows_only_context():
    text = diff(POW)
    assert "def inputs" not in text
    assert "import torch" not in text


def test_correct_one_of_equal_expressions_is_marked():
    source = "def program(x):\n    y = x + x\n    return y * (x + x)\n"
    step = RewriteStep("operators/add_function", 3, "x + x", "torch.add(x, x)")
    transformed = "def program(x):\n    y = x + x\n    return y * (torch.add(x, x))\n"
    old, new = place_marks(source, transformed, [step])
    assert [source[m.start : m.end] for m in old] == ["x + x"]
    assert old[0].start == source.rindex("x + x")
    assert [transformed[m.start : m.end] for m in new] == ["torch.add(x, x)"]


def test_two_equal_rewrites_in_one_line_get_a_mark_each():
    source = "def program(x):\n    return (x + 1) * (x + 1)\n"
    step = RewriteStep("operators/add_function", 2, "x + 1", "torch.add(x, 1)")
    transformed = source.replace("x + 1", "torch.add(x, 1)")
    old, new = place_marks(source, transformed, [step, step])
    assert len({m.start for m in old}) == 2
    assert len({m.start for m in new}) == 2


def test_added_import_is_marked_without_rule():
    source = "import torch\n\n\ndef program(x):\n    return x + 1\n"
    step = RewriteStep("operators/add_operator_module", 5, "x + 1", "operator.add(x, 1)")
    transformed = "import operator\n" + source.replace("x + 1", "operator.add(x, 1)")
    _, new = place_marks(source, transformed, [step])
    assert [(transformed[m.start : m.end].strip(), m.rule) for m in new] == [
        ("import operator", ""),
        ("operator.add(x, 1)", step.rule),
    ]


def test_overwritten_step_has_no_mark():
    first = RewriteStep("a/first", 13, "shaded ** 0.5", "torch.pow(shaded, 0.5)")
    second = RewriteStep("a/second", 13, "torch.pow(shaded, 0.5)", "shaded.pow(0.5)")
    _, new = place_marks(SOURCE, SOURCE.replace(first.before, second.after), [first, second])
    assert [m.rule for m in new] == ["a/second"]


def test_rewrite_of_several_lines_is_named_once():
    source = "def program(x):\n    for i in range(2):\n        x = x + i\n    return x\n"
    before, after = "for i in range(2):\n        x = x + i", "x = x + 0\n    x = x + 1"
    step = RewriteStep("loops/unroll", 2, before, after)
    text = text_of(SourceDiff(source, source.replace(before, after), [step]))
    assert text.count("loops/unroll") == 1


def test_control_characters_of_seed_are_replaced():
    source = "def program(x):\n    return x + 1  # \x1b[2J\a\n"
    step = RewriteStep("operators/add_function", 2, "x + 1", "torch.add(x, 1)")
    text = diff(step, source=source)
    assert "\x1b" not in text
    assert "\a" not in text


def test_the_excerpt_begins_at_the_entry():
    lines = text_of(Excerpt(program())).splitlines()
    assert lines[0].split()[:3] == ["11", "def", "program(image,"]
    assert "return curve.sum" in lines[-1]


def test_long_excerpt_is_truncated_with_count_of_omitted_lines():
    body = "".join(f"    x = x + {i}\n" for i in range(60))
    lines = text_of(Excerpt(program(f"def program(x):\n{body}    return x\n"))).splitlines()
    assert len(lines) == EXCERPT_LINES + 1
    assert lines[-1].strip() == "… 22 more lines"


def test_import_of_torch_that_a_rule_adds_is_no_change():
    before, after = "def f(x):\n    return x + x\n", "import torch\n\ndef f(x):\n    return torch.add(x, x)\n"
    console = Console(file=io.StringIO(), width=80)
    console.print(SourceDiff(before, after, [RewriteStep("a/b", 2, "x + x", "torch.add(x, x)")]))
    text = console.file.getvalue()
    assert "import torch" not in text
    assert "return torch.add(x, x)" in text
