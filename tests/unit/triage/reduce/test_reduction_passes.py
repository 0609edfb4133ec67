"""Each pass on a program small enough to see what it does, and what all of them promise over the shipped seeds."""

import textwrap
from itertools import islice
from pathlib import Path

import pytest

from eqfuzz.program.formats import read_program, recognise
from eqfuzz.program.program import Program
from eqfuzz.triage.reduce.passes import PASSES, expressions, extraction, inputs, statements
from eqfuzz.triage.reduce.passes.layout import tidy
from eqfuzz.triage.reduce.reduction_pass import ReductionPass
from eqfuzz.triage.reduce.size import size
from eqfuzz.triage.reduce.source_tree import SourceTree, fewer

SEEDS = sorted(Path(__file__).parents[4].joinpath("seeds").rglob("*.py"))
TURN = "\n    x = x + i\nreturn x"
HOOK = "\n\n\ndef inputs(rng):\n    yield rng.normal(4, 7), rng.normal(7)\n"


def program(body: str, hook: str = HOOK, before: str = "import torch\n\n\n") -> Program:
    """A program of two tensors with these statements."""
    text = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return recognise(f"{before}def program(x, y):\n{text}{hook}", "example")


def bodies(reduce_pass: ReductionPass, subject: Program) -> list[str]:
    """What the entry's statements are in every candidate."""
    texts = []
    for candidate in reduce_pass(subject):
        parsed = SourceTree(candidate)
        assert parsed.entry is not None
        body = parsed.entry.body
        lines = candidate.source.splitlines()[body[0].lineno - 1 : body[-1].end_lineno]
        texts.append(textwrap.dedent("\n".join(lines)))
    return texts


def test_unreachable_definitions_are_dropped_at_once():
    subject = program(
        "return x", before="import math\nimport torch\n\nSPARE = 3\n\n\ndef spare():\n    return SPARE\n\n\n"
    )
    first = next(statements.drop_unused(subject))
    assert "spare" not in first.source.lower()
    assert "import" not in first.source


def test_definitions_that_are_needed_stay():
    before = "import torch\n\nSCALE = 3\n\n\ndef scaled(t):\n    return t * SCALE\n\n\n"
    first = next(statements.drop_unused(program("return scaled(x)", before=before)))
    assert "SCALE = 3" in first.source
    assert "def scaled" in first.source
    assert "torch" not in first.source


@pytest.mark.parametrize(
    ("reduce_pass", "body", "wanted"),
    [
        (statements.fewer_outputs, "a = x + 1\nb = y * 2\nreturn a, b", "a = x + 1\nreturn a"),
        (statements.fewer_outputs, "a = x + 1, y.sum()\nreturn a, x", "return x + 1, y.sum()"),
        (statements.fewer_outputs, 'return {"one": x, "two": y}', "return y"),
        (statements.fewer_outputs, "z = x * 1\nz.add_(1)\nw = y + 1\nreturn z, w", "z = x * 1\nz.add_(1)\nreturn z"),
        (statements.return_earlier, "a = x + 1\nb = a * y\nc = b.sum()\nreturn c", "a = x + 1\nb = a * y\nreturn b"),
        (statements.return_earlier, "a = []\na.append(x + y)\nreturn a", "return x + y"),
        (statements.return_nothing, "z = x[0]\nz.mul_(2)\nw = y + 1\nreturn w", "z = x[0]\nz.mul_(2)\nreturn None"),
        (statements.drop_statements, "z = x[0]\nz.mul_(2)\ny[0] = 1\nreturn None", "y[0] = 1\nreturn None"),
        (statements.drop_statements, "a = x + 1\na = a * y\nreturn a", "a = x + 1\nreturn a"),
        (statements.drop_statements, "a = torch.relu(x)\nb = a * y\nreturn b", "b = x * y\nreturn b"),
        (statements.drop_statements, "if x.sum() > 0:\n    x = x + 1\nreturn x", "return x"),
        (statements.simplify_control_flow, "if y.any():\n    x = x + 1\nelse:\n    x = y\nreturn x", "x = y\nreturn x"),
        (statements.simplify_control_flow, "for i in range(3):\n    x = x * i\nreturn x", "i = 0\nx = x * i\nreturn x"),
        (statements.simplify_control_flow, f"for i in range(5):{TURN}", f"for i in range(1):{TURN}"),
        (statements.simplify_control_flow, "while x.sum() > 9:\n    x = x / 2\nreturn x", "x = x / 2\nreturn x"),
        (statements.simplify_control_flow, "with torch.no_grad():\n    x = x / 2\nreturn x", "x = x / 2\nreturn x"),
        (statements.simplify_control_flow, "try:\n    x = x + 2\nexcept E:\n    pass\nreturn x", "x = x + 2\nreturn x"),
        (extraction.start_from_parameter, "a = [x + 1]\na.append(y)\nreturn a[1].amax()", "return x.amax()"),
        (extraction.start_from_parameter, "a = x @ y\nb = a * a\nreturn a + b", "b = x * x\nreturn x + b"),
        (extraction.start_from_parameter, "a = {}\na[0] = y\nreturn [b for b in a[0]]", "return [b for b in x]"),
        (expressions.drop_items, "return torch.cat([x, y])", "return torch.cat([x])"),
        (expressions.drop_items, "a, b = x + 1, y + 1\nreturn b", "b = y + 1\nreturn b"),
        (expressions.drop_items, "x[1:, 2] = 1\nreturn x", "x[2] = 1\nreturn x"),
        (expressions.drop_items, "x[1:] = y[::2]\nreturn x", "x[0] = y[::2]\nreturn x"),
        (expressions.replace_by_operand, "return torch.relu(x * y)", "return torch.relu(x)"),
        (expressions.replace_by_operand, "return torch.relu(x * y)", "return x * y"),
        (expressions.replace_by_operand, "return (x + y).sum(0)", "return x + y"),
        (expressions.replace_by_operand, "return (x + y) * torch.relu(y - x)", "return (x + y) * (y - x)"),
        (expressions.simplify_choices, "return x if x.sum() > 0 else y", "return y"),
        (expressions.simplify_choices, "return [t for t in (x, y)]", "return (x, y)"),
        (expressions.simplify_choices, "return (lambda t: t + 1)(x)", "return x + 1"),
        (expressions.inline_variables, "a = x + y\nreturn a * 2", "return (x + y) * 2"),
        (expressions.inline_variables, "x = x + y\nreturn x", "return x + y"),
        (expressions.drop_arguments, "return torch.sum(x, 0, keepdim=True)", "return torch.sum(x, 0)"),
        (expressions.drop_arguments, "return x.sum(0)", "return x.sum()"),
        (expressions.replace_variables, "return x * y + y", "return x * x + x"),
        (extraction.return_part, "while x.amax() > 1:\n    x = x / 2\nreturn x", "return x.amax()"),
        (extraction.return_part, "while x.amax() > 1:\n    x = x / 2\nreturn x", "return x / 2"),
        (extraction.return_part, "return {i: e.amax() for i, e in enumerate(x) if i}", "return x.amax()"),
        (extraction.return_part, "for t in (x, y):\n    for u in t:\n        u.amax()\nreturn x", "return x.amax()"),
        (extraction.return_part, "a = y + 1\nreturn [sum(t * a for t in x)]", "a = y + 1\nreturn x * a"),
        (extraction.return_part, "for x in x.unbind(0):\n    y = x.amax()\nreturn y", "return x.unbind(0)"),
        (extraction.return_part, "for x in x.unbind(0):\n    y = x.amax()\nreturn y", "return x.amax()"),
        (extraction.return_part, "return [t.amax() for t in [a + 1 for a in x]]", "return x.amax()"),
        (inputs.simpler_literals, "return x * 0.3125", "return x * 1.0"),
        (inputs.simpler_literals, "return x.to(torch.float64)", "return x.to(torch.float32)"),
    ],
)  # fmt: skip
def test_pass_proposes_candidate(reduce_pass, body, wanted):
    assert wanted in bodies(reduce_pass, program(body))


@pytest.mark.parametrize(
    "writing",
    [
        "z = x.mul_(2)",
        "torch.add(x, 1, out=y)",
        "for t in x:\n    u = t.mul_(2)",
        "if (z := x.mul_(2)) is not None:\n    pass",
        "try:\n    z = x.mul_(2)\nfinally:\n    pass",
        "def f(t):\n    t.add_(1)\n    return t\nf(x)",
        "def f(t):\n    t.add_(1)\n    return None\nz = f(x)",
        "x.data = y",
        "global N\nN = x + 1",
    ],
)
def test_writes_stay_when_nothing_is_returned(writing):
    assert f"{writing}\nreturn None" in bodies(statements.return_nothing, program(f"{writing}\nw = y + 1\nreturn w"))


def test_helper_is_inlined():
    before = "import torch\n\n\ndef half(t):\n    return t / 2\n\n\n"
    [body] = bodies(statements.inline_helpers, program("return half(x + y) * 3", before=before))
    assert body == "return ((x + y) / 2) * 3" or body == "return (x + y) / 2 * 3"


def test_helper_of_several_lines_is_inlined_before_its_call():
    before = "import torch\n\n\ndef half(t):\n    u = t * 2\n    return u / 4\n\n\n"
    assert bodies(statements.inline_helpers, program("return half(x)", before=before)) == [
        "t = x\nu = t * 2\nreturn u / 4"
    ]


def test_parameter_is_dropped_with_its_argument():
    [candidate] = inputs.drop_parameters(program("return y"))
    assert "def program(y):" in candidate.source
    assert "yield rng.normal(7)\n" in candidate.source


def test_parameter_is_dropped_from_keyword_inputs():
    hook = '\n\n\ndef inputs(rng):\n    yield {"x": rng.normal(4), "y": 2}\n'
    [candidate] = inputs.drop_parameters(program("return x", hook))
    assert 'yield {"x": rng.normal(4)}' in candidate.source
    assert "def program(x):" in candidate.source


def test_input_sets_are_dropped_one_by_one():
    hook = "\n\n\ndef inputs(rng):\n    yield rng.normal(4), 1\n    yield rng.normal(5), 2\n"
    sources = [c.source for c in inputs.fewer_input_sets(program("return x", hook))]
    assert len(sources) == 2
    assert "normal(5)" not in sources[0]
    assert "normal(4)" not in sources[1]


def test_a_size_changes_everywhere_at_once():
    sources = [c.source for c in inputs.smaller_integers(program("return x.view(7, 4) + y[:7]"))]
    assert any("view(2, 4) + y[:2]" in s and "normal(4, 2), rng.normal(2)" in s for s in sources)


def test_draws_become_plainer():
    hook = "\n\n\ndef inputs(rng):\n    yield rng.uniform(4, 7, low=0.5, requires_grad=True), rng.special(3).t()\n"
    sources = [c.source for c in inputs.plainer_draws(program("return x, y", hook))]
    for wanted in ("rng.normal(4, 7, requires_grad=True)", "rng.normal(4, 7),", "rng.normal(3)", "special(3)\n"):
        assert any(wanted in s for s in sources), wanted


def test_variables_of_the_hook_are_inlined():
    hook = "\n\n\ndef inputs(rng):\n    for n in (3,):\n        yield rng.normal(n), n\n"
    assert any("    yield rng.normal(3), 3\n" in c.source for c in inputs.inline_inputs(program("return x", hook)))


def test_unread_layer_is_dropped_with_its_init():
    source = textwrap.dedent("""\
        import torch
        from torch import nn


        class Program(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def forward(self, x):
                return torch.relu(self.layer(x))


        def inputs(rng):
            yield rng.normal(4, 4)
        """)
    candidates = list(expressions.replace_by_operand(recognise(source, "module")))
    assert any("torch.relu(x)" in c.source and "__init__" not in c.source for c in candidates)


def module(body: str, construct: str = "") -> Program:
    text = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    head = "import torch\nfrom torch import nn\n\n\nclass Program(nn.Module):\n"
    return recognise(f"{head}{construct}{text}\n\n\ndef inputs(rng):\n    yield rng.normal(4, 4), 1\n", "module")


def test_a_module_that_is_not_read_becomes_a_function():
    [candidate] = extraction.module_as_function(module("def forward(self, x, n: int = 2):\n    return torch.relu(x)"))
    assert candidate.source.startswith(
        "import torch\n\n\ndef program(x, n: int=2):\n    return torch.relu(x)\n\n\ndef inputs"
    )
    assert (candidate.entry, candidate.construct) == ("program", "program")
    assert recognise(candidate.source, "module") == candidate


@pytest.mark.parametrize(
    "body",
    [
        "def forward(self, x, n):\n    return x if self.training else n",
        "@torch.no_grad()\ndef forward(self, x, n):\n    return x",
        "def forward(self, x, n):\n    return super().forward(x)",
        "def forward(self, x, n):\n    return program(x)",
        "def forward(self, x, n):\n    return Program",
    ],
)
def test_a_module_that_is_read_stays_one(body):
    assert list(extraction.module_as_function(module(body))) == []


def test_comments_and_docstrings_go_last():
    subject = program('"""What it does."""\n# why\n\n\n\nreturn x  # here')
    [candidate] = tidy(subject)
    assert candidate.source == "import torch\n\n\ndef program(x, y):\n    return x" + HOOK
    assert PASSES[-1] is tidy


def test_halves_come_first_and_nothing_comes_twice():
    for count in range(10):
        choices = [tuple(c) for c in fewer(count)]
        assert len(choices[0]) == (count + 1) // 2 if count > 1 else not choices
        assert all(0 < len(c) < count for c in choices)
        assert all(tuple(i for i in range(count) if i != dropped) in choices for dropped in range(count) if count > 1)


def test_size_counts_statements_before_anything_else():
    short, long = program("return x"), program("y = x\nreturn y")
    assert size(short) < size(long)
    assert size(program("return x * 2")) < size(program("return x * 3"))
    assert size(program("return x * 1.0")) < size(program("return x * 1.25"))


def check_promises(subject: Program, count: int | None) -> None:
    before, names = size(subject), SourceTree(subject).named
    for reduce_pass in PASSES:
        for candidate in islice(reduce_pass(subject), count):
            compile(candidate.source, subject.name, "exec")
            assert size(candidate) < before, reduce_pass.__name__
            after = SourceTree(candidate)
            assert after.entry is not None
            if reduce_pass is not extraction.module_as_function:
                assert candidate.entry == subject.entry
                assert candidate.construct == subject.construct
                assert names & set(after.named)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("path", SEEDS[:: max(1, len(SEEDS) // 12)], ids=lambda p: p.stem)
def test_candidates_compile_and_are_smaller(path):
    check_promises(read_program(path), 2)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("path", SEEDS, ids=lambda p: p.stem)
def test_more_candidates_compile_and_are_smaller(path):
    check_promises(read_program(path), 12)


def test_augmented_attribute_keeps_its_initial_value():
    source = """
        from torch import nn


        class Program(nn.Module):
            def __init__(self):
                super().__init__()
                self.calls = 0

            def forward(self, x):
                self.calls += 1
                return (x * self.calls).amax()


        def inputs(rng):
            yield rng.normal(3)
        """
    subject = recognise(textwrap.dedent(source), "example")
    shorter = next(c.source for c in expressions.replace_by_operand(subject) if "return x.amax()" in c.source)
    assert "self.calls = 0" in shorter
    assert "self.calls += 1" in shorter
