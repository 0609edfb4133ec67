"""Loops that cannot be unroll_loop, peeled, split or flattened, and runs of statements that are no loop."""

from __future__ import annotations

import pytest

from tests.rules.rewriting import program_with, reasons_in, variants_of

REFUSED = [
    ("unroll_loop", "for j in range(4):\n  if j == 2: break\n  x = x + j", "a break"),
    ("unroll_loop", "for j in range(4):\n  for k in x: pass\n  else:\n    break", "a break"),
    ("unroll_loop", "for j in range(40):\n  x = x + j", "40 turns"),
    ("unroll_loop", "for j in range(0):\n  x = x + j", "0 turns"),
    ("unroll_loop", "for j in range([2, 3].pop()):\n  x = x + j", "side effects"),
    ("unroll_loop", "notes = []\nfor j in range(2):\n  notes.append('''a\n  b''')", "several lines"),
    ("unroll_loop", "for t in x:\n  y = y + t", "not range"),
    ("unroll_loop_with_literals", "for j in range(3):\n  x = x + j\nx = x * j", "j is used elsewhere"),
    ("unroll_loop_with_literals", "fs = []\nfor j in range(3):\n  fs.append(lambda: j)\nx = fs[0]()", "may see j"),
    ("unroll_loop_with_literals", "for j in range(3):\n  x = x + j\n  j = 7", "is stored"),
    ("unroll_loop_with_literals", "s = ''\nfor j in range(3):\n  s += f'{j}'", "inside a formattedstring"),
    ("unroll_loop_with_literals", "for j in range(3):\n  x = x + [j for j in range(j + 1)][-1]", "is stored"),
    ("unroll_loop_with_literals", "for j, k in [(1, 2)]:\n  x = x + j", "not a plain variable"),
    ("unroll_listed_items", "for t in (x, y):\n  y = y + t", "y is stored in the loop"),
    ("unroll_listed_items", "for x in (x, y, x):\n  y1 = x + 1\n", "x is stored in the loop"),
    ("unroll_listed_items", "for t in (x, y + 1):\n  z = t", "an item is computed"),
    ("unroll_listed_items", "for t in (*x, y):\n  z = t", "not listed"),
    ("unroll_listed_items", "for t in ():\n  z = t", "not listed"),
    ("unroll_items", "for t in [*x]:\n  y = y + t\nfor t in list(x):\n  y = y + t", "no small, known number"),
    ("unroll_items", "for t in x[:0]:\n  y = y + t", "no small, known number"),
    ("unroll_items", "for t in x:\n  y = y + t\n  locals()", "inspect its own variables"),
    ("unroll_loop_by_two", "for j in range(4):\n  if j == 1: continue\n  x = x + j", "a continue"),
    ("unroll_loop_by_two", "for j in range(4):\n  x = x + j\n  j = 5", "stored in the loop"),
    ("unroll_loop_by_two", "for j in range(3):\n  x = x + j", "odd"),
    ("peel_first_iteration", "for j in range(4):\n  if j == 1: continue\n  x = x + j", "a continue"),
    ("peel_last_iteration", "for j in range(4):\n  if j == 1: break\n  x = x + j", "a break"),
    ("split_loop", "for j in range(4):\n  if j == 1: break\n  x = x + j", "a break"),
    ("tile_loop", "for j in range(4):\n  if j == 1: break\n  x = x + j", "a break"),
    ("tile_loop", "for j in range(7):\n  x = x + j", "cannot be divided"),
    ("flatten_nested_loops", "for i in range(2):\n  for j in range(2):\n    break", "a break"),
    ("flatten_nested_loops", "for i in range(2):\n  for j in range(2):\n    i = i + 1", "i is stored"),
    (
        "flatten_nested_loops",
        "for i in range(2):\n  for j in range(i + 1):\n    x = x + j",
        "not the same every time",
    ),
    ("flatten_nested_loops", "for i in range(2):\n  for j in range(2): pass\n  else: x = x + 1", "has an else"),
    ("statements_to_loop", "fs = []\nfs.append(lambda: 1)\nfs.append(lambda: 2)\nx = x + fs[0]()", "the last number"),
    ("statements_to_loop", "s = f'{x.dim():3}'\ns = f'{x.dim():4}'", "f-string"),
]


@pytest.mark.parametrize(("rule", "body", "reason"), REFUSED, ids=[f"{r[0]}-{i}" for i, r in enumerate(REFUSED)])
def test_refused_rewrite_has_its_reason(rule: str, body: str, reason: str) -> None:
    assert reason in reasons_in(program_with(body), f"unrolling/{rule}")


def test_only_runs_of_statements_with_evenly_spaced_numbers_become_loops() -> None:
    assert not variants_of(program_with("x = x + 1\ny = y + 1\nx = x * 2\nx = x * 2.0"), "unrolling/statements_to_loop")
    first, second = variants_of(program_with("x = x + 1\nx = x + 2\nx = x + 4"), "unrolling/statements_to_loop")
    assert "range(2)" in first
    assert "x = x + 4" in first
    assert "range(2)" in second
    assert "x = x + 1" in second


NASTY = {
    "closures see the last number": """
        def program(x, y):
            fs = []
            for j in range(4):
                fs.append(lambda t: t * j)
                x = x + fs[0](y)
            return x, [f(y) for f in fs], j
    """,
    "the variable is stored": """
        def program(x, y):
            notes = []
            for j in range(4):
                notes.append("a" * j)
                j += 1
                x = x * j
            return x, notes, j
    """,
    "a generator with a loop of one line": """
        def rows(x):
            for j in range(2): yield x[j]; x = x + 1
            else: yield x

        def program(x, y):
            return [r * 2 for r in rows(x)], list(rows(y))
    """,
    "a return and an exception in the body": """
        def program(x, y):
            for j in range(6):
                try:
                    if j == 3:
                        raise ValueError(j)
                except ValueError as error:
                    return x, y, j, str(error)
                x = x + y
            return x
    """,
    "nested loops with continue and else": """
        def program(x, y):
            total = 0
            for i in range(2, 0, -1):
                for j in range(1, 7, 3):
                    if (i + j) % 2:
                        continue
                    total += i * 10 + j
                    j = 99
            else:
                x = x + i + j
            return x, total, i, j
    """,
    "attributes and items as targets": """
        class Box:
            pass

        def program(x, y):
            box, cells = Box(), [0, 0]
            for box.j in range(3):
                x = x + box.j
            for cells[1] in range(2):
                x = x * cells[1] + y
            return x, box.j, cells
    """,
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_variants_of_hard_programs_equal_the_original(text: str) -> None:
    assert variants_of(text, "unrolling")
