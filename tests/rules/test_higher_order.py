"""Branches and loops that torch.cond and while_loop do not take."""

from __future__ import annotations

import pytest

from tests.rules.rewriting import mixed_operands, program_with, reasons_in, variants_of

REFUSED = [
    ("conditions/choice_to_cond", "x = x + y if x.dim() > 1 else x - y", "not a tensor"),
    ("conditions/choice_to_cond", "x = x + y if x.sum() > 0 else y", "variable itself"),
    ("conditions/choice_to_cond", "x = x + y if x.sum() > 0 else x.add_(1)", "more than sums"),
    ("conditions/choice_to_cond", "x = x + y if (z := x.sum()) > 0 else x - y", "a walrus"),
    ("conditions/choice_to_cond", "x = x + y if x.sum() > 0 and 3 else x - y", "not a tensor"),
    ("conditions/choice_to_cond", "if x.sum() > 0:\n  x = x + y\n  y = x\nelse:\n  x = x - y", "assign one variable"),
    ("loops/loop_to_while_loop", "for j in range(3):\n  x = x + j", "the counter is read"),
    ("loops/loop_to_while_loop", "for j in range(3):\n  x = x + 1\ny = y * j", "j is used elsewhere"),
    ("loops/loop_to_while_loop", "n = 0\nfor j in range(3):\n  n = n + 1", "numbers alone"),
    ("loops/loop_to_while_loop", "z = x[0]\nfor j in range(3):\n  z = z + x", "not the same kind"),
    ("loops/loop_to_while_loop", "for j in range(3):\n  x = x.sum(0, keepdim=True) + y", "more than sums"),
    ("loops/loop_to_while_loop", "w = x.clone().requires_grad_()\nfor j in range(3):\n  w = w + 1", "needs a gradient"),
    ("loops/loop_to_while_loop", "for j in range(3):\n  x = x + 1\n  y = y + 1", "more than update one"),
]


@pytest.mark.parametrize(("rule", "body", "reason"), REFUSED, ids=[f"{r[0]}-{i}" for i, r in enumerate(REFUSED)])
def test_refused_rewrite_has_its_reason(rule: str, body: str, reason: str) -> None:
    assert reason in reasons_in(program_with(body), rule, *mixed_operands())


def test_variants_with_operands_that_share_memory_equal_the_original() -> None:
    """Two names of one tensor, a transposed view, and rows of one matrix as operands."""
    text = """
        def program(x, y):
            z = x
            t = x.t()
            r = x + z if x.sum() > 0 else z - x
            s = t * 2 if t.sum() > 99 else t + 1
            a, b = y[0], y[:1]
            for j in range(4):
                a = a * 2 + y[0]
            for j in range(2):
                b = torch.sin(b) + b
            return r, s, a, b
    """
    assert len(variants_of(text, "choice_to_cond,loop_to_while_loop", *mixed_operands())) >= 3
