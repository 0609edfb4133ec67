"""Seed files are recognised by content, and what must not run does not."""

import textwrap

import pytest
import torch

from eqfuzz.program.definitions_only import program_text
from eqfuzz.program.formats import read_program, recognise
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import InvalidSeed, Program, SeedFormat

BOOM = "raise RuntimeError('this must not run')"


def load(source: str) -> tuple[Program, Loaded]:
    program = recognise(textwrap.dedent(source), "seed.py")
    return program, Loaded(program)


def test_own_format_function_with_several_sets():
    program, loaded = load(
        """
        import torch
        def helper(x): return x + 1
        def program(x, y=2): return helper(x) * y
        def inputs(rng):
            yield rng.normal(3)
            yield rng.normal(4), 3
            yield {"x": rng.normal(2), "y": 5}
        """
    )
    calls = loaded.calls(0)
    assert (program.format, program.entry, program.is_module) == (SeedFormat.EQFUZZ, "program", False)
    assert [len(c.args) for c in calls] == [1, 2, 0]
    assert calls[2].kwargs["y"] == 5
    assert loaded.instance()(calls[0].args[0]).shape == (3,)


def test_own_format_takes_the_only_function_and_a_returned_tuple_is_one_set():
    program, loaded = load(
        """
        import torch
        def scaled(x, y): return x * y
        def inputs(rng): return rng.normal(3), 2.0
        """
    )
    assert program.entry == "scaled"
    assert len(loaded.calls(0)) == 1
    assert len(loaded.calls(0)[0].args) == 2


def test_own_format_module_is_the_outermost_class():
    program, _ = load(
        """
        import torch
        class Inner(torch.nn.Module):
            def forward(self, x): return x
        class Outer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()
            def forward(self, x): return self.inner(x) + 1
        def inputs(rng): yield rng.normal(3)
        """
    )
    assert program.entry == "Outer"
    assert program.is_module


def test_inputs_are_equal_for_equal_seeds_and_differ_otherwise():
    _, loaded = load("import torch\ndef program(x): return x\ndef inputs(rng): yield rng.normal(8)\n")
    first, again, other = loaded.calls(1), loaded.calls(1), loaded.calls(2)
    assert torch.equal(first[0].args[0], again[0].args[0])
    assert not torch.equal(first[0].args[0], other[0].args[0])


PTMODULE = f"""
import torch
import torch.nn as nn
class PMbodule(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x):
        return x * 2
input_tensors = [torch.ones(2, 3, 4), torch.zeros(1, 2, 3)]
input_tensors.append(torch.ones(2, 2, 2))
model = PMbodule()
for t in input_tensors:
    print(model(t))
    {BOOM}
compiled = torch.compile(model, backend="inductor")
if __name__ == "__main__":
    {BOOM}
"""


def test_the_papers_format_runs_nothing_and_keeps_line_numbers():
    program, loaded = load(PTMODULE)
    assert program.format is SeedFormat.PTMODULE
    assert program.entry == "PMbodule"
    assert len(loaded.calls(0)) == 3, "one set per tensor when forward takes one"
    original = textwrap.dedent(PTMODULE).splitlines()
    assert all(line in ("", original[i]) for i, line in enumerate(program.source.splitlines()))
    assert BOOM not in program.source
    assert "torch.compile" not in program.source


def test_global_that_is_only_counted_up_belongs_to_the_definitions():
    program = "COUNT = 0\ndef program(x):\n    global COUNT\n    COUNT += 1\n    return x\n"
    source = program + "def inputs(rng): yield 1\n"
    assert "COUNT = 0" in program_text(recognise(source, "seeds/some.py"))


def test_the_papers_format_with_one_parameter_per_tensor_is_one_set():
    _, loaded = load(
        PTMODULE.replace("def forward(self, x):", "def forward(self, x, a, b):").replace("print(model(t))", "model(t)")
    )
    assert [len(c.args) for c in loaded.calls(0)] == [3]


def test_torchfuzz_program_runs_with_its_arguments_and_options():
    program, loaded = load(
        f"""
        import torch
        torch._dynamo.config.capture_scalar_outputs = True
        torch.manual_seed(42)
        def fuzzed_program(arg_0, arg_1, sentinel):
            return torch.add(arg_0, arg_1) * sentinel
        sentinel = torch.tensor(1.0, requires_grad=True)
        arg_0 = torch.randn((2, 3))
        arg_1 = torch.randn((2, 3))
        args = (arg_0, arg_1)
        out_eager = fuzzed_program(*args, sentinel)
        out_eager.sum().backward()
        print('Eager Success!')
        compiled_program = torch.compile(fuzzed_program, fullgraph=True, dynamic=True)
        out_compiled = compiled_program(*args, sentinel)
        if out_compiled.isnan().any():
            {BOOM}
        """
    )
    assert program.format is SeedFormat.TORCHFUZZ
    assert "capture_scalar_outputs" in program.source
    assert "compiled_program" not in program.source
    (call,) = loaded.calls(0)
    assert len(call.args) == 3
    assert call.args[2].requires_grad


def test_kernelbench_with_and_without_constructor_inputs():
    text = """
        import torch
        class Model(torch.nn.Module):
            def __init__(self, n=2):
                super().__init__()
                self.n = n
            def forward(self, x): return x * self.n
        def get_inputs(): return [torch.ones(3)]
    """
    assert Loaded(recognise(textwrap.dedent(text), "k.py")).instance().n == 2
    with_init = textwrap.dedent(text) + "def get_init_inputs(): return [5]\n"
    program = recognise(with_init, "k.py")
    assert program.format is SeedFormat.KERNELBENCH
    assert Loaded(program).instance().n == 5
    pair = textwrap.dedent(text) + "def get_init_inputs(): return [[], {'n': 7}]\n"
    assert Loaded(recognise(pair, "k.py")).instance().n == 7


def test_whitefox_without_imports_and_with_a_call_at_the_end():
    program, loaded = load(
        """
        class Model(torch.nn.Module):
            def __init__(self, width):
                super().__init__()
                self.linear = torch.nn.Linear(4, width)
            def forward(self, x1, bias=None):
                return F.relu(self.linear(x1)) + bias
        # Initializing the model
        m = Model(6)
        # Inputs to the model
        x1 = torch.randn(2, 4)
        other = torch.ones(6)
        __output__ = m(x1, other)
        """
    )
    assert program.format is SeedFormat.WHITEFOX
    assert program.construct == "Model(6)"
    (call,) = loaded.calls(0)
    assert loaded.instance()(*call.args).shape == (2, 6)


@pytest.mark.parametrize(
    ("lines", "training"),
    [
        ("m = Model(6).eval()", False),
        ("m = Model(6)\nm.eval()", False),
        ("m = Model(6).to('cpu')\nm.eval()\nm.train()", True),
        ("m = Model(6)", True),
        ("m = Model(6)\nother.eval()", True),
    ],
)
def test_a_model_that_the_script_puts_into_evaluation_mode_is_tested_in_it(lines, training):
    text = """
        class Model(torch.nn.Module):
            def __init__(self, width):
                super().__init__()
                self.width = width
            def forward(self, x1): return x1 * self.width
    """
    program, loaded = load(textwrap.dedent(text) + f"{lines}\nx = torch.ones(2)\nm(x)\n")
    model = loaded.instance()
    assert model.width == 6, program.construct
    assert model.training is training, program.construct


def test_whitefox_inputs_named_like_forwards_parameters():
    _, loaded = load(
        """
        import torch
        class Model(torch.nn.Module):
            def forward(self, x0): return x0 - 1
        x0 = torch.randn(1, 2)
        """
    )
    assert loaded.calls(0)[0].args[0].shape == (1, 2)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(:\n", ("not valid Python", "seed.py:1")),
        ("x = 1\n", ("no program", "def")),
        ("import torch\nclass M(torch.nn.Module):\n    def forward(self, x): return x\n", ("no inputs", "inputs(rng)")),
        ("def fuzzed_program(a, sentinel): return a\n", ("args", "missing")),
        ("def inputs(rng): yield 1\n", ("no entry",)),
        ("def inputs(a, b): yield 1\ndef program(x): return x\n", ("one argument", "seed.py:1")),
        ("\0", ("not valid Python",)),
    ],
)
def test_missing_parts_are_reported_in_one_line(source, words):
    with pytest.raises(InvalidSeed) as caught:
        recognise(source, "seed.py")
    message = str(caught.value)
    assert "\n" not in message, message
    assert all(word in message for word in words), message


def test_unreadable_file_is_an_invalid_seed(tmp_path):
    binary = tmp_path / "binary.py"
    binary.write_bytes(b"\xff\xfe\x00bad")
    for path in (binary, tmp_path / "absent.py", tmp_path):
        with pytest.raises(InvalidSeed):
            read_program(path)


def test_missing_input_sets_are_reported():
    _, loaded = load("def program(x): return x\ndef inputs(rng): return []\n")
    with pytest.raises(InvalidSeed, match="no input set"):
        loaded.calls(0)


def test_program_is_read_back_from_json():
    program, _ = load("def program(x): return x\ndef inputs(rng): yield 1\n")
    assert Program.from_json(program.to_json()) == program


def test_inputs_that_torch_cannot_copy_are_reported():
    _, loaded = load(
        """
        def program(x): return x
        def inputs(rng): yield rng.normal(3, requires_grad=True) * 2
        """
    )
    with pytest.raises(InvalidSeed, match="detach"):
        loaded.calls(0)
