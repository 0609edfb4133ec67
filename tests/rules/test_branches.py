"""Branches that must stay as they are, and programs on which every rule about branches must keep the result."""

from __future__ import annotations

import pytest
import torch

from tests.rules.rewriting import misses_in, reasons_in, variants_of

REFUSED = [
    ("branches/nested_to_elif", "if k: x = x + 1\nelse:\n  if k > 1: x = y\n  y = y + 1", "more than a condition"),
    ("branches/rest_into_else", "if k:\n  x = x + 1\ny = y + 1", "does not end in return"),
    ("branches/else_to_rest", "if k:\n  x = x + 1\nelse:\n  y = y + 1", "does not end in return"),
    ("branches/else_to_rest", "if k:\n  if x.dim(): return x\nelse:\n  y = y + 1", "does not end in return"),
    ("branches/if_to_while", "for j in range(2):\n  if k: break", "a break"),
    ("branches/if_to_counted_loop", "for j in range(2):\n  if k: continue\n  x = x + 1", "a continue"),
    ("branches/next_into_branches", "if k:\n  x = y\nwith torch.no_grad():\n  x = x + 1", "compound"),
    ("branches/next_into_branches", "if k:\n  x = y\nimport math\nx = x * math.pi", "declares a name"),
    ("branches/last_out_of_branches", "if k:\n  x = x + 1\nelse:\n  x = x + 2", "different statements"),
    ("branches/last_out_of_branches", "if k: x = x + 1\nelse: x = x + 1", "one line"),
    ("branches/nested_to_and", "if k:\n  if x.dim(): x = y\nelse:\n  y = x", "an else"),
    ("branches/nested_to_and", "if k:\n  if x.dim(): x = y\n  else: y = x", "an else"),
    ("branches/if_to_conditional_expression", "if k:\n  x = y\nelse:\n  y = x", "assign one variable"),
    ("branches/if_to_conditional_expression", "if k:\n  x = y\n  y = x\nelse:\n  x = y", "assign one variable"),
    ("branches/if_to_conditional_expression", "if k:\n  x += y\nelse:\n  x += 1", "assign one variable"),
    ("conditions/connective_to_conditional", "x = x.add_(1).dim() and y", "evaluated twice"),
    ("conditions/connective_to_conditional", "f = lambda: k\nk = k and f()", "may see k"),
    ("conditions/chain_of_comparisons", "if 0 < int(x.add_(1).sum()) < 3: y = x", "evaluated twice"),
    ("conditions/chain_of_comparisons", "if 0 < (k) < 3: y = x", "evaluated twice"),
    ("conditions/chain_of_comparisons", "if 0 < k < (n := 3): y = x * n", "binds a name"),
    ("conditions/chosen_from_a_table", "x = x if k else y", "not True or False"),
    ("conditions/chosen_from_a_table", "x = x if x.sum() > 0 else y", "not True or False"),
    ("conditions/chosen_from_a_table", "x = (z := x + 1) if k > 0 else y", "a walrus"),
    ("conditions/dictionary_dispatch", "if k == 1: x = y\nelif k == 2: x = x + 1", "no else"),
    ("conditions/dictionary_dispatch", "if k == 1: x = y\nelse: y = x", "the same variable"),
    ("conditions/dictionary_dispatch", "if k == 1: x = y; y = x\nelse: x = x + 1", "more than compute a value"),
    ("conditions/dictionary_dispatch", "if k == 1: x = y\nelif k == 0x1: x = x + 1\nelse: x = x + 2", "twice"),
    ("conditions/dictionary_dispatch", "k = 1.0\nif k == 1: x = y\nelse: x = x + 2", "no int or string"),
    ("conditions/dictionary_dispatch", "k = k > 0\nif k == 1: x = y\nelse: x = x + 2", "no int or string"),
    ("conditions/chain_to_match", "if k == 1: x = y\nelif x.dim() == 2: x = x + 1", "comparison of a variable"),
    ("conditions/chain_to_match", "if k == 1: x = y\nelif k > 2: x = x + 1", "compare one variable for equality"),
    ("conditions/chain_to_match", "n = 1\nif k == n: x = y", "literal"),
    ("conditions/match_to_chain", "match k:\n  case 1 if x.dim(): x = y", "guard"),
    ("conditions/match_to_chain", "match k:\n  case n: x = x + n", "no literal"),
    ("conditions/match_to_chain", "match (k, 1):\n  case (1, 1): x = y", "no literal"),
    ("conditions/choice_to_where", "x = x + y if k else x * y", "infinite gradient"),
    ("conditions/choice_to_where", "x = x + y if k else x", "variable itself"),
    ("conditions/choice_to_where", "x = x + y if k > 0 else x[:1] + y[:1]", "more than sums"),
    ("conditions/choice_to_where", "x = x + y if k > 0 else x + 1j", "more than sums"),
    ("conditions/choice_to_where", "z = x.double()\nx = z + y if z.sum() > 99 else x + y\nx = x + z", "float32"),
    ("conditions/choice_to_where", "z = y * 1\nif k > 99:\n  r = z + 1\nelse:\n  r = y + 1", "did not run"),
    ("conditions/choice_to_where", "x = x + y if k > 0 and [x] else x - y", "the condition is list"),
    ("conditions/choice_to_where", "with torch.no_grad():\n  x = x + y if k > 0 else x - y", "disabled"),
    ("conditions/choice_to_where", "if k > 0: x = x + y\nelse: y = x + y", "assign one variable"),
    ("conditions/choice_to_where", "x = x.t() + 1 if k > 0 else x + 1", "more than sums"),
    ("dead-branches/branch_on_impossible_rank", "n = 3", "reads no such variable"),
    ("dead-branches/branch_on_known_rank", "f = [t.dim() for t in (x, y)]", "reads no such variable"),
    ("dead-branches/loop_without_iterations", "locals()", "own variables"),
    (
        "dead-branches/case_of_known_rank",
        "def f():\n  nonlocal x\n  x = x[0]\nf()\nf = x.sum()",
        "reads no such variable",
    ),
]


def _program(body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"def program(x, y, k):\n{lines}\n"


def _operands() -> tuple[torch.Tensor, torch.Tensor, int]:
    x = torch.tensor([[1.5, -2.0, 0.25], [3.0, 0.5, -1.0]])
    return x.clone().requires_grad_(), x * 2 + 1, 1


@pytest.mark.parametrize(("rule", "body", "reason"), REFUSED, ids=[f"{r[0]}-{i}" for i, r in enumerate(REFUSED)])
def test_refused_rewrite_has_its_reason(rule: str, body: str, reason: str) -> None:
    operands = list(_operands())
    if ".add_(1)" in body or "+=" in body:
        operands[0] = operands[0].detach()
    assert reason in reasons_in(_program(body), rule, *operands)


def test_rank_that_changes_between_iterations_is_not_assumed() -> None:
    text = "def program(x, y):\n    z = x\n    for j in range(2):\n        z = z.sum(0)\n    return y\n"
    assert "not the same every time" in misses_in(text, "dead-branches/branch_on_known_rank")


NASTY = {
    "chains with every kind of end": """
        def program(x, y, k):
            for j in range(4):
                if j == 0: x = x + 1; y = y + 1
                elif j == 1:
                    continue
                elif (n := j) == 2 and k or x.dim() > 5:
                    y = y * n
                    if k: y = y + 1
                else:
                    break
                x = x * 2
            else:
                return x
            if k > 3:
                raise ValueError("k")
            # what follows
            if k < 0: return y
            elif k == 0: return x, "none"
            text = "a" if k else "b"
            return x, y, n, text
    """,
    "branches in generators, nested functions and with handlers": """
        def rows(x, k):
            if k:
                yield x[0]
            else:
                yield x[1]
            got = (yield x[0] * 2) if k else (yield x[1] * 3)
            if got is None:
                return
            yield got

        def program(x, y, k):
            def inner(t):
                if k > 0: return t
                t = t * 2
                return t
            try:
                if not k:
                    raise KeyError(k)
                if k == 1:
                    raise ValueError("one")
                else:
                    x = y
            except (KeyError, ValueError) as error:
                if isinstance(error, ValueError):
                    y = y + 1
            finally:
                if k: x = x + 1
            return [*rows(x, k)], inner(x), y
    """,
    "conditions that are numbers, strings, containers and tensors": """
        def program(x, y, k):
            name = k and "one" or "none"
            empty = [] or name
            first = 0 < k < 3 != 2
            second = -1 <= k <= 1
            if name == "one":
                x = x + y
            elif name == "none": x = x - y
            if x.sum() and empty:
                y = y + 1
            if y.numel() == 6 and (y > -99).all():
                z = x + y
            else:
                z = x - y
            r = x + 1 if x.sum() > 0 else x - 2
            match name:
                case "one" | "two": r = r + 1
                case _:
                    r = r - 1
            match k:
                case 0: pass
                case None: r = y
            return x, y, z, r, first, second, name, empty
    """,
}


@pytest.mark.parametrize("k", [0, 1, -2])
@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_variants_of_hard_programs_equal_the_original(text: str, k: int) -> None:
    x, y, _ = _operands()
    assert variants_of(text, "branches,conditions,dead-branches,jumps", x, y, k)
