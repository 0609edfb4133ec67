"""Comprehensions and lists that must stay as they are, and programs on which every rule about them holds."""

from __future__ import annotations

import pytest

from tests.rules.rewriting import mixed_operands, program_with, reasons_in, variants_of

REFUSED = [
    ("comprehensions/loop_to_comprehension", "r = []\nfor t in y:\n  r.append(t)\nx = x + t", "t is used elsewhere"),
    ("comprehensions/loop_to_comprehension", "r = []\nfor t in y:\n  r.append(len(r))", "r is read"),
    ("comprehensions/loop_to_comprehension", "r = [x]\nfor t in y:\n  r.append(t)", "empty list"),
    ("comprehensions/loop_to_comprehension", "r = []\nx = r\nfor t in y:\n  r.append(t)", "empty list"),
    ("comprehensions/loop_to_comprehension", "r = []\nfor t in y:\n  r.append(t)\n  x = t", "more than append"),
    ("comprehensions/loop_to_comprehension", "r = []\nfor t in y:\n  r.append(t)\nelse:\n  x = y", "an else"),
    ("comprehensions/loop_to_comprehension", "r = []\nfor t in y:\n  r.append((u := t))\nx = u", "a walrus"),
    ("comprehensions/loop_to_comprehension", "r = []\nfor t in y:\n  r.append(lambda: t)\nx = r[0]()", "may see t"),
    (
        "comprehensions/loop_to_comprehension",
        "try:\n  r = []\n  for t in y:\n    r.append(t)\nfinally:\n  x = r",
        "caught",
    ),
    (
        "comprehensions/loop_to_comprehension",
        "for _ in (1, 2):\n  r = []\n  for t in y:\n    r.append(t)\n  del t",
        "t is used",
    ),
    ("comprehensions/comprehension_to_loop", "t = y\nr = [t for t in x]\nx = t", "t is used elsewhere"),
    (
        "comprehensions/comprehension_to_loop",
        "for _ in x:\n  for t in [[x]]:\n    r = [t for t in t]",
        "t is also a variable outside",
    ),
    ("comprehensions/comprehension_to_loop", "r = x.dim() and [t for t in x]", "on a condition"),
    ("comprehensions/comprehension_to_loop", "x = x * 1\nr = (x.add_(1), [t for t in x])", "before it"),
    ("comprehensions/comprehension_to_loop", "x = [(z := t) for t in x][-1] + z", "a walrus"),
    ("comprehensions/comprehension_to_map", "r = [(lambda: t) for t in x]\nx = r[0]()", "evaluated later"),
    ("comprehensions/comprehension_to_map", "it = iter(x)\nr = [next(it) for _ in (1, 2)]", "StopIteration"),
    ("comprehensions/comprehension_to_generator", "it = iter(x)\nr = [next(it) for _ in (1, 2)]", "StopIteration"),
    ("comprehensions/comprehension_to_generator", "r = [(z := t) for t in x]", "a walrus"),
    ("comprehensions/comprehension_to_generator", "r = [sorted(locals()) for t in x]", "its own variables"),
    (
        "comprehensions/comprehension_to_generator_function",
        "r = [(lambda: t) for t in x]\nr = len(r)",
        "evaluated later",
    ),
    ("comprehensions/condition_to_filter", "r = [t for t in x if (z := t.sum()) > 0]", "a walrus"),
    ("comprehensions/stacked_from_tuple", "x = torch.stack([(z := t) for t in x])", "a walrus"),
    ("comprehensions/sum_to_loop", "x = sum(j * 0.1 for j in range(3))", "not a tensor"),
    ("comprehensions/sum_to_loop", "x = sum(t.add_(1) for t in x * 1)", "side effects"),
    ("comprehensions/sum_to_loop", "x = sum(y)", "not a comprehension"),
    ("comprehensions/loop_to_sum", "for t in y:\n  x = x + t * x", "x is read"),
    ("comprehensions/loop_to_sum", "for t in y:\n  x = x + t\ny = t", "t is used elsewhere"),
    ("comprehensions/loop_to_sum", "if x.dim():\n  z = 0\nfor t in y:\n  z = z + t", "no value before"),
    ("comprehensions/loop_to_sum", "for j in (1, 2):\n  x = x + j", "not a tensor"),
    ("stacking/elements_rolled", "r = [lambda: x * 1, lambda: x * 2]\nx = r[0]()", "the last number"),
    ("stacking/elements_rolled", "r = [f'{1}', f'{2}']\nr = [(z := 1) + z, (z := 2) + z]", "a walrus"),
    ("stacking/comprehension_unrolled", "r = [x * j for j in range(30)]", "makes 30 items"),
    ("stacking/comprehension_unrolled", "r = [[x for j in range(j + 1)] for j in range(1, 3)]", "is stored"),
    ("stacking/comprehension_unrolled", "r = [(lambda: j) for j in range(3)]\nx = r[0]()", "evaluated later"),
    ("stacking/comprehension_unrolled", "z = y * 1\nr = [t.add_(1) for t in z]", "written to later"),
    ("stacking/comprehension_unrolled", "z = [x, y]\nr = [t * 1 for t in z]", "not a tuple or tensor"),
    ("stacking/comprehension_by_index", "z = (x, y)\nr = [t is x for t in z]", "identities"),
    ("stacking/comprehension_by_index", "z = {1: x, 2: y}\nr = [k for k in z]", "not a tuple or tensor"),
    ("stacking/stack_to_buffer", "x = torch.stack([t for t in x], 1)", "along the first"),
    ("stacking/stack_to_buffer", "z = y.double()\nx = torch.stack([t * 2 for t in (x, z)])", "differ in dtype"),
    ("stacking/stack_to_buffer", "f = lambda t: t\nx = torch.stack([f(t) for t in x])", "side effects"),
    ("stacking/stack_to_buffer", "x = torch.stack([t + 1j for t in x])", "complex"),
    ("stacking/buffer_to_stack", "z = torch.empty(3, 3)\nfor j in range(2):\n  z[j] = x[0]", "does not fill all rows"),
    ("stacking/buffer_to_stack", "z = torch.empty(2, 3)\nfor j in range(2):\n  z[1] = x[0]", "by the loop's index"),
    ("stacking/buffer_to_stack", "z = torch.zeros(2, 3)\nfor j in range(2):\n  z[j] = z[0] + x[0]", "z is read"),
    (
        "stacking/buffer_to_stack",
        "z = torch.zeros(2, 3)\nfor j in range(2):\n  z[j] = x[0, 0]",
        "converted or broadcast",
    ),
    ("stacking/buffer_to_stack", "z = y[:]\nfor j in range(2):\n  z[j] = x[0]", "more than new memory"),
    ("stacking/buffer_to_stack", "z = torch.zeros(2, 3)\nfor j in range(2):\n  z[j] = x[0]\nx = x * j", "j is used"),
]


@pytest.mark.parametrize(("rule", "body", "reason"), REFUSED, ids=[f"{r[0]}-{i}" for i, r in enumerate(REFUSED)])
def test_refused_rewrite_has_its_reason(rule: str, body: str, reason: str) -> None:
    assert reason in reasons_in(program_with(body), rule, *mixed_operands())


NASTY = {
    "several comprehensions with one name, conditions and nesting": """
        def program(x, y):
            a = [t * 2 for t in x]
            b = [t + u for t in a for u in (y[0], y[1]) if t.dim() < 3 if u.dim()]
            c = {j: [t * j for t in b] for j in range(2)}
            d = [
                (t, u)  # a pair
                for t, u in zip(a, b)
            ]
            for t in b:
                x = x + t
            e = [[k * 10 + j for j in range(k)] for k in range(3)]
            return a, b, c, d, e, x, sum(t.sum() for t in b) + sum([t.mean() for t in a])
    """,
    "lists within loops, calls and generators": """
        def rows(x):
            found = []
            for j in range(3):
                found.append(x * j)
            yield from [f + 1 for f in found]
            yield torch.stack([f for f in found], dim=0)

        def program(x, y):
            out = []
            for k in (1, 2):
                parts = []
                for t in y:
                    parts.append(t * k)
                out += [torch.stack(parts), torch.cat([p[:1] for p in parts])]
                total = x
                for t in (x, y): total = total + t * k
                out.append(total)
            table = torch.empty(2, 3)
            for j in range(2):
                table[j] = x[1 - j] * 3
            return out, list(rows(x)), table, [x[0] * 1, x[1] * 3], max([t.sum() for t in y])
    """,
    "closures, strings and defaults": """
        def program(x, y):
            fs = [lambda t, j=j: t * j for j in range(3)]
            late = [lambda t: t * j for j in range(3)]
            names = [f"{n}-{len(n)}" for n in "one three".split()]
            cells = []
            for n in names:
                cells.append((n, x if n == "one-3" else y))
            return [f(x) for f in fs], [g(y) for g in late], names, cells, tuple(t for t in x)
    """,
    "a class with methods": """
        class Box:
            scale = 3

            def __init__(self, x):
                self.__x = x

            def parts(self):
                return [self.__x * k * self.scale for k in range(2)] + [t for t in self.__x if t.sum() > 0]

            def total(self):
                self.sum = 0
                for t in self.parts():
                    self.sum = self.sum + t
                return sum(t for t in self.__x)

        def program(x, y):
            box = Box(x)
            return box.parts(), box.total(), box.sum
    """,
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_variants_of_hard_programs_equal_the_original(text: str) -> None:
    assert variants_of(text, "comprehensions,stacking,loops,unrolling,iteration", *mixed_operands())
