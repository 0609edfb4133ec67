"""Reproducers as functions and as unit tests."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eqfuzz.report.issue import without_docstring
from eqfuzz.triage.upstream.boolean_function import boolean_function, with_setting, with_static_shapes
from eqfuzz.triage.upstream.script_parts import NotConverted
from eqfuzz.triage.upstream.unit_test import DYNAMIC_SHAPES, HOMES, home_of, name_of, unit_test

GALLERY = sorted((Path(__file__).parents[4] / "docs" / "findings").glob("*.py"))
SCRIPT = """\
import sys

import torch

torch._inductor.config.fallback_random = True  # as eager
SCALE = 2


def f(x):
    return x * SCALE


x = torch.ones(3)
# Two runs
eager, compiled = f(x), torch.compile(f, mode="default")(x)
print("eager:   ", eager)
sys.exit(not compiled.equal(eager))
"""
FUNCTION = '''\
import os

import torch

BACKEND = os.environ.get("TORCH_COMPILE_BACKEND", "inductor")


torch._inductor.config.fallback_random = True  # as eager
SCALE = 2


def f(x):
    return x * SCALE


def test_fn() -> bool:
    """True if there is no bug."""
    torch._dynamo.reset()
    x = torch.ones(3)
    # Two runs
    eager, compiled = f(x), torch.compile(f, mode="default", backend=BACKEND)(x)
    print("eager:   ", eager)
    return compiled.equal(eager)


if __name__ == "__main__":
    raise SystemExit(not test_fn())
'''
TEST = """\
# Owner(s): ["module: inductor"]
# For test/inductor/test_torchinductor.py

import unittest

import torch
from torch._inductor.test_case import run_tests, TestCase


class FuzzedReproTests(TestCase):
    @unittest.expectedFailure
    @torch._inductor.config.patch({"fallback_random": True})
    def test_amin_of_int8(self):
        SCALE = 2

        def f(x):
            return x * SCALE

        x = torch.ones(3)
        # Two runs
        eager, compiled = f(x), torch.compile(f, mode="default")(x)
        self.assertEqual(compiled, eager, rtol=0, atol=0)


if __name__ == "__main__":
    run_tests()
"""


def body_of(script):
    """What a script's function returns, one line each."""
    text = boolean_function("import torch\n" + script).text
    return [line.strip() for line in text.split("torch._dynamo.reset()\n")[1].split("\n\n\n")[0].splitlines()]


def test_script_becomes_a_function_with_the_backend_of_the_environment():
    converted = boolean_function(SCRIPT)
    assert converted.text == FUNCTION
    assert (converted.backend, converted.has_function) == ("inductor", True)


@pytest.mark.parametrize(
    ("end", "lines"),
    [
        ("raise SystemExit(a != b)", ["return a == b"]),
        ("raise SystemExit(a > 0)", ["return not a > 0"]),
        ("raise SystemExit(a or b)", ["return not (a or b)"]),
        ("sys.exit(not (a == b).all())", ["return bool((a == b).all())"]),
        ("raise SystemExit", ["return True"]),
        ("sys.exit('it differs')", ["return False"]),
        (
            "try:\n    f()\nexcept ValueError as error:\n    raise SystemExit(1) from None\nprint('fine')",
            ["try:", "f()", "except ValueError as error:", "return False", "print('fine')", "return True"],
        ),
        (
            "for n in range(3):\n    if n:\n        sys.exit(0)\nsys.exit(1)",
            ["for n in range(3):", "if n:", "return True", "return False"],
        ),
    ],
)
def test_exit_status_becomes_the_result(end, lines):
    assert body_of(end) == lines


@pytest.mark.parametrize(
    ("call", "backend", "text"),
    [
        ("torch.compile(f)", "inductor", "torch.compile(f, backend=BACKEND)"),
        ('torch.compile(f, backend="aot_eager")', "aot_eager", "torch.compile(f, backend=BACKEND)"),
        ("torch.compile(f, backend=mine)", "", "torch.compile(f, backend=mine)"),
        ("torch.compile(f), torch.compile(f, backend='eager')", "", "torch.compile(f, backend='eager')"),
        ("torch.compile(f), BACKEND", "", "torch.compile(f), BACKEND"),
    ],
)
def test_backend_is_read_only_where_all_calls_have_one(call, backend, text):
    converted = boolean_function(f"import torch\nrun = {call}\nraise SystemExit(1)\n")
    assert converted.backend == backend
    assert text in converted.text
    assert ("os.environ" in converted.text) == bool(backend)


def test_decorated_function_gets_the_backend():
    converted = boolean_function("import torch\n@torch.compile\ndef f(): pass\nraise SystemExit(f() is None)\n")
    assert "@torch.compile(backend=BACKEND)" in converted.text


def test_globals_that_functions_read_stay_outside():
    script = "import torch\ndef f(): return limit\nlimit = 3\nlocal = 4\nraise SystemExit(f() == local)\n"
    before, inside = boolean_function(script).text.split("def test_fn")
    assert "limit = 3" in before
    assert "local = 4" in inside


@pytest.mark.parametrize("script", ["x = 1\n", "import sys\nsys.exit(3)\n", "def f():\n    raise SystemExit(1)\n"])
def test_script_without_a_status_at_its_end_is_refused(script):
    with pytest.raises(NotConverted):
        boolean_function(script)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_each_script_of_the_gallery_has_both_forms(path):
    script = without_docstring(path.read_text(encoding="utf-8"))
    function = boolean_function(script)
    assert function.backend
    ast.parse(function.text)
    assert not re.search(r"sys\.exit|SystemExit\((?!not test_fn)", function.text)
    test = unit_test(script, path.stem[4:], HOMES["inductor"])
    ast.parse(test)
    assert "SystemExit" not in test
    assert "self." in test
    assert not re.search(r"[ \t]+$", function.text + test, re.MULTILINE)


def test_setting_is_executed_behind_the_first_imports():
    text = with_setting(FUNCTION, "torch._inductor.config.pattern_matcher = False")
    lines = text.splitlines()
    place = lines.index("torch._inductor.config.pattern_matcher = False")
    assert lines[place - 1] == "import torch._inductor.config"
    assert place < next(n for n, line in enumerate(lines) if line.startswith("BACKEND"))
    ast.parse(text)


def test_static_shapes_replace_dynamic_ones():
    assert with_static_shapes("torch.compile(f, dynamic=True)(x)\n") == "torch.compile(f, dynamic=False)(x)\n"
    assert with_static_shapes("torch.compile(f)(x)\n") == "torch.compile(f, dynamic=False)(x)\n"


def test_script_becomes_an_expected_failure():
    assert unit_test(SCRIPT, "Amin of int8", HOMES["inductor"]) == TEST


def test_definitions_may_stay_outside_of_the_test():
    text = unit_test(SCRIPT, "Amin of int8", HOMES["inductor"], nested=False)
    assert text.index("def f(x)") < text.index("class FuzzedReproTests")


@pytest.mark.parametrize(
    ("end", "assertion"),
    [
        ("raise SystemExit(not torch.equal(a, b))", "self.assertEqual(a, b, rtol=0, atol=0)"),
        ("raise SystemExit(not torch.allclose(a, b))", "self.assertEqual(a, b)"),
        ("raise SystemExit(not torch.allclose(a, b, rtol=1))", "self.assertTrue(torch.allclose(a, b, rtol=1))"),
        ("raise SystemExit(a.dtype != b.dtype)", "self.assertEqual(a.dtype, b.dtype)"),
        ("raise SystemExit(a > 3)", "self.assertFalse(a > 3)"),
        ("raise SystemExit(1)", 'self.fail("eager and compiled differ")'),
    ],
)
def test_exit_status_becomes_an_assertion(end, assertion):
    assert assertion in unit_test(f"import torch\n{end}\n", "it", HOMES["eager"])


def test_test_for_cuda_is_skipped_without_it():
    assert "skipIf(not torch.cuda.is_available()" in unit_test(SCRIPT, "it", HOMES["inductor"], device="cuda")


def test_home_depends_on_the_backend():
    assert home_of("eager").file == "test/dynamo/test_repros.py"
    assert home_of("inductor", needs_dynamic_shapes=True) == DYNAMIC_SHAPES
    assert home_of("openvino") == HOMES["inductor"]


@pytest.mark.parametrize(
    ("title", "name"), [("[A] x, int8: is (b)", "a_x_int8_is_b"), ("ÄÖ", "repro"), ("a " * 99, None)]
)
def test_name_of_a_test_is_an_identifier(title, name):
    assert name_of(title).isidentifier()
    assert len(name_of(title)) <= 60
    assert name is None or name_of(title) == name


def test_function_ends_as_the_script_does(tmp_path):
    script = "import sys\nimport os\nvalue = int(os.environ['VALUE'])\nsys.exit(value != 3)\n"
    file = tmp_path / "test_fn.py"
    text = boolean_function(script).text.replace("import torch\n", "").replace("torch._dynamo.reset()", "pass")
    file.write_text(text)
    ends = [subprocess.run([sys.executable, str(file)], env={"VALUE": value}).returncode for value in "34"]
    assert ends == [0, 1]
