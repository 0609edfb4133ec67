"""Loops that cannot be written otherwise, and programs on which every loop rule must keep the result."""

from __future__ import annotations

import pytest

from tests.rules.rewriting import mixed_operands, program_with, reasons_in, variants_of

REFUSED = [
    ("loops/range_to_while", "for j in range(1, 9, y.dim()):\n  x = x + j", "the step is no literal"),
    ("loops/range_to_while", "for j in range(torch.tensor(3)):\n  x = x + j", "no int"),
    ("loops/range_to_while", "for j in range(*[3]):\n  x = x + j", "not plain"),
    ("loops/range_to_while", "for j in range(3):\n  x = x + j\nseen = sorted(locals())", "own variables"),
    ("loops/iterator_by_hand", "for j in range(3):\n  x = x + j\nelse:\n  x = x * 2", "has an else"),
    ("loops/iterator_by_hand", "g = (t for t in x)\nfor t in g:\n  break", "when it is closed"),
    ("loops/iterator_by_hand", "d = {}\nfor d['k'] in (1, 2):\n  x = x + d['k']", "is stored"),
    ("loops/counting_while_to_for", "i = 0\nwhile i < 3:\n  x = x + i\n  i += 2", "last statement is not"),
    ("loops/counting_while_to_for", "i = 0\nwhile i < 3:\n  if i == 9: continue\n  x = x + i\n  i += 1", "a continue"),
    ("loops/counting_while_to_for", "i = 0\nwhile i < 5:\n  x = x + i\n  i = i * 2\n  i += 1", "also stored"),
    ("loops/counting_while_to_for", "i = 0\nn = 5\nwhile i < n:\n  x = x + i\n  n = n - 1\n  i += 1", "n is stored"),
    ("loops/counting_while_to_for", "i = 7\nwhile i < 5:\n  x = x + i\n  i += 1", "beyond 5 from the start"),
    ("loops/counting_while_to_for", "i = 0\nwhile i < x.dim():\n  x = x + i\n  i += 1", "recomputed"),
    ("loops/counting_while_to_for", "i = 0.0\nwhile i < 3:\n  x = x + i\n  i += 1", "no int"),
    ("loops/counting_while_to_for", "i = 0\nf = lambda: i\nwhile i < 3:\n  x = x + f()\n  i += 1", "may see i"),
    ("jumps/while_to_forever", "for k in (1, 2):\n  while x.dim() > 5: pass\n  else:\n    break", "a break"),
    (
        "iteration/items_to_indices",
        "xs = [x, y]\nfor t in xs:\n  xs.append(t)\n  if len(xs) > 4: break",
        "not a tuple or tensor",
    ),
    ("iteration/items_to_indices", "xs = (x, y)\nfor t in xs:\n  xs = (t, t)", "xs is stored"),
    ("iteration/items_to_indices", "for t in y:\n  y.add_(1)\n  x = x + t", "written to later"),
    ("iteration/items_to_indices", "xs = (x, y)\nfor i, t in enumerate(xs, 1):\n  x = x + t", "has a start"),
    ("iteration/items_to_indices", "xs = (x, y)\nfor p in zip(xs, xs):\n  x = x + p[0]", "without a target for each"),
    ("iteration/items_to_indices", "z = x[:0]\nfor t in z:\n  x = x + t", "is empty"),
    ("iteration/indices_to_enumerate", "xs = (x, y)\nfor i in range(1):\n  x = x + xs[i]", "not all items"),
    ("iteration/indices_to_enumerate", "xs = [x, y]\nfor i in range(2):\n  x = x + xs[i]", "not a tuple or tensor"),
    ("iteration/indices_to_enumerate", "z = x * 2\nfor i in range(2):\n  z[i] = z[i] + 1", "is stored in the loop"),
    ("iteration/indices_to_enumerate", "xs = (x, y)\nfor i in range(2):\n  i = 0\n  x = x + xs[i]", "i is stored"),
    (
        "iteration/indices_to_enumerate",
        "xs = (x, y)\nfs = []\nfor i in range(2):\n  fs.append(lambda: xs[i])",
        "may see i",
    ),
    ("iteration/enumerate_to_count", "for i, t in enumerate(x, y.dim()):\n  x = x + t", "computed"),
    ("iteration/range_written_out", "for j in range(100):\n  x = x + j", "100 turns"),
    ("iteration/reverse_iterations", "r = []\nfor j in range(3):\n  r.append(x + len(r))", "r is read in the loop"),
    ("iteration/reverse_iterations", "r = []\nfor j in range(3):\n  r.append(torch.rand(2))\nx = r[0]", "side effects"),
    ("iteration/reverse_iterations", "r = [y]\nfor j in range(3):\n  r.append(x)", "not empty"),
    ("iteration/reverse_iterations", "r = []\nfor j in range(3):\n  r.append(x)\nx = x * j", "j is used elsewhere"),
    ("iteration/reverse_iterations", "r = y * 2\nfor j in range(2):\n  r[j] = x[0]", "more than new memory"),
    (
        "reverse_iterations",
        "k = [0, 0]\nr = torch.zeros(2)\nfor j in range(2):\n  k[int(r[j])] = j",
        "store by the loop's index",
    ),
    ("iteration/reverse_iterations", "r = torch.zeros(2)\nfor j in range(-1, 1):\n  r[j] = 1", "more than new memory"),
    (
        "iteration/reverse_iterations",
        "try:\n  r = []\n  for j in range(3):\n    r.append(x * j)\nfinally:\n  x = x + 1",
        "caught",
    ),
    (
        "jumps/last_if_to_continue",
        "for j in range(3):\n  if j: x = x + 1\n  elif y.dim(): x = x + 2",
        "several branches",
    ),
    ("jumps/continue_to_if", "for j in range(3):\n  x = x + 1\n  if j: continue", "body follows"),
    (
        "continue_to_if",
        "for j in range(3):\n  with torch.no_grad():\n    if j: continue\n    x = x + 1",
        "body follows",
    ),
    ("jumps/break_to_flag", "for j in range(3):\n  if j: break\nx = x + j", "j is used elsewhere"),
    ("jumps/break_to_flag", "for j in range(3):\n  if j: break\nelse:\n  x = x + 1", "has an else"),
    ("jumps/break_to_flag", "g = iter(x)\nfor t in g:\n  break\nx = next(g)", "when it is advanced"),
    ("loops/recursion", "for j in range(3):\n  x = x + j\n  if x.dim() > 5: break", "a break"),
    ("loops/recursion", "for j in range(3):\n  x = x + j\n  if x.dim() > 5: return x", "a return"),
    (
        "loops/recursion",
        "for j in range(3):\n  if j == 0: a = x\n  else: a = a + x\n  x = x + 1",
        "carried from one iteration",
    ),
    ("loops/recursion", "for j in range(3):\n  a = x + j\nx = a", "has a value before it"),
    ("loops/recursion", "for j in range(3):\n  x = x + j\ny = y * j", "j is used elsewhere"),
    ("loops/recursion", "for j in range(3):\n  x = (t := x + j)", "a walrus"),
    ("loops/recursion", "try:\n  for j in range(3):\n    x = x + j\nexcept ValueError:\n  pass", "caught"),
    ("loops/loop_to_reduce", "g = (x * t for t in y)\nfor t in g:\n  x = x + t", "may see"),
    ("loops/loop_to_reduce", "for t in (x * k for k in (1, 2)):\n  x = x + t", "may see"),
    ("loops/loop_to_reduce", "for t in y:\n  z = t", "no value before"),
    ("loops/loop_to_reduce", "f = lambda: x\nfor t in y:\n  x = f() + t", "may see x"),
    ("loops/loop_to_reduce", "for t in y:\n  x = x + t\nx = x + t", "t is used elsewhere"),
]


@pytest.mark.parametrize(("rule", "body", "reason"), REFUSED, ids=[f"{r[0]}-{i}" for i, r in enumerate(REFUSED)])
def test_refused_rewrite_has_its_reason(rule: str, body: str, reason: str) -> None:
    assert reason in reasons_in(program_with(body), rule)


@pytest.mark.parametrize("rule", ["statement_to_single_loop", "statement_to_loop_with_break", "else_of_a_loop"])
def test_a_docstring_stays_first(rule: str) -> None:
    assert "docstring" in reasons_in(
        'def program(x, y):\n    """What it does."""\n    if x.dim(): pass\n', f"jumps/{rule}"
    )


NASTY = {
    "a loop in a generator, left by its reader": """
        def rows(x):
            try:
                for j in range(3):
                    if j == 1:
                        x = x * 2
                    yield x[j % 2], j
            finally:
                NOTES.append("closed")

        NOTES = []

        def program(x, y):
            NOTES.clear()
            for row, j in rows(x):
                y = y + row
                if j == 1:
                    break
            return y, list(NOTES)
    """,
    "nested loops, break, continue and else at once": """
        def program(x, y):
            out = []
            for i, row in enumerate(x):
                for j in range(4):
                    if j == 3:
                        break
                    if (i + j) % 2:
                        continue
                    out.append(row * j)
                else:
                    out.append(y)
                if i == 1:
                    continue
                x = x + row
            else:
                out.append(x)
            while len(out) > 2:
                out.pop()
            else:
                out.append(i)
            return out, j
    """,
    "targets that are unpacked, and names used twice": """
        def program(x, y):
            pairs = ((x, 1), (y, 2))
            for t, k in pairs:
                x = x * k + t
            for i, (t, k) in enumerate(pairs):
                x = x - t * (i + k)
            for (t, k), u in zip(pairs, y):
                x = x + t * u * k
            for x in x:
                y = y + x
            return x, y, t, u, k, i
    """,
    "variables of the surrounding function, and loops around loops": """
        def program(x, y):
            n = 3
            def inner(t):
                r = t
                i = 0
                while i < n:
                    for k in range(2):
                        r = r + k * y
                    i += 1
                for u in (x, y):
                    r = r - u
                return r, i
            for _ in range(2):
                for j in range(2):
                    y = y + j
            return inner(x), y
    """,
    "one-line suites, strings, comments": """
        def program(x, y):
            note = ""
            for j in range(3): x = x + j; note += "#:"  # adds
            for word in "a b".split():
                # a comment
                note += word  # more
                if word == "a": continue
                note += "!"
            while x.dim() > 9: x = x[0]
            return x, note
    """,
    "in-place changes of what is iterated": """
        def program(x, y):
            z = x * 1.0
            for row in z:
                row.mul_(2)
                y = y + row.sum()
            w = list(z.unbind(0))
            for t in w:
                if len(w) < 4:
                    w.append(t + 1)
                y = y + t
            for k in range(2):
                z[k] = z[1 - k] + y[k]
            return y, z, w
    """,
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_variants_of_hard_programs_equal_the_original(text: str) -> None:
    assert variants_of(text, "loops,jumps,iteration,unrolling", *mixed_operands())
