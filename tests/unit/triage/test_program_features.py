"""What a program consists of, in names."""

import pytest

from eqfuzz.program.formats import recognise
from eqfuzz.triage.findings.program_features import features_of, statements

HOOK = "\ndef inputs(rng):\n    base = rng.normal(3).cumsum(0)\n    yield base @ base\n"


def of(text, hook=HOOK):
    return recognise(f"import torch\n{text}{hook}", "a.py")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def program(x): return x + 1", ("Add",)),
        ("def program(x): return torch.amin(x, 0)", ("amin",)),
        ("def program(x): return -x.amin(0) if x.sum() > 0 and True else x", "And Gt IfExp amin sum".split()),
        (
            "def program(x):\n    for n in range(3):\n        x[n] += 1\n    return [x]",
            "For List in-place range".split(),
        ),
        ("def program(x): return x.mul_(2)", ("in-place",)),
        ("def program(x, y): x.data = y", ("data",)),
        ("def program(x): x.mine = 1", ("attribute",)),
        ("def program(x): x.mine += 1", ("in-place",)),
        ("def block2d(x): return x.relu()\ndef program(x): return F.conv2d(block2d(x))", ("conv", "relu")),
        ("def mine(x): return x.relu()\ndef program(x): return mine(x)", ("relu",)),
        ("def program(x): return x[1:] * x.shape[0]", "Slice shape".split()),
    ],
)
def test_features_are_names_that_the_program_uses(text, names):
    assert features_of(of(text)) == tuple(names)


def test_names_and_numbers_of_the_program_are_no_features():
    one = of("def program(x):\n    y = x.relu() + 1\n    return y")
    other = of("def helper(a):\n    return a.relu() + 2.5\ndef program(b):\n    return helper(b)")
    assert features_of(one) == features_of(other)


def test_layers_of_modules_are_features():
    text = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
    def forward(self, x):
        return self.lin(x)
def get_inputs(): return [torch.ones(3, 3)]
def get_init_inputs(): return []
"""
    program = of(text, hook="")
    assert "Linear" in features_of(program)
    assert not {"Model", "forward", "super", "ones"} & set(features_of(program))


def test_attributes_of_the_program_are_no_features_but_those_of_torch_are():
    text = """
class Program(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(3)
        self.register_buffer("total", torch.zeros(3))
    def forward(self, x):
        return self.norm(x) + self.total if self.training else x
"""
    assert features_of(of(text)) == ("BatchNorm", "IfExp", "training")
    assert features_of(of(text), of_writes=True) == ("IfExp", "in-place", "training")
    assert features_of(of(text.replace("return", "self.total = x.sin(); return"))) == (
        "BatchNorm", "IfExp", "attribute", "sin", "training",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("def program(x): return x", 1),
        ("def program(x):\n    y = x\n    if True:\n        y = y + 1\n    return y", 4),
        ("def helper(x):\n    return x\ndef program(x):\n    return helper(x)", 2),
        ("import math\nLIMIT = 3\ndef program(x): return x + LIMIT", 2),
    ],
)
def test_statements_are_counted_without_hooks_imports_and_definition_lines(text, number):
    assert statements(of(text)) == number
