"""A reproducer as a unit test for PyTorch's tree, marked as an expected failure."""

from __future__ import annotations

import dataclasses
import re

import libcst as cst

from eqfuzz.triage.findings.stage import LADDER
from eqfuzz.triage.upstream.script_parts import (
    code_of,
    exit_of,
    in_a_body,
    parts_of,
    right_of,
    setting_of,
    visited,
)

_DYNAMO = "from torch._dynamo.test_case import run_tests, TestCase"
_INDUCTOR = "from torch._inductor.test_case import run_tests, TestCase"
_OTHER = "from torch.testing._internal.common_utils import run_tests, TestCase"


@dataclasses.dataclass(frozen=True)
class TestHome:
    """Where a test belongs in PyTorch's tree: a file, the label of its owners, and the base class of its tests."""

    __test__ = False

    file: str
    owner: str
    imports: str


HOMES = {
    "eager": TestHome("test/dynamo/test_repros.py", "module: dynamo", _DYNAMO),
    "aot_eager": TestHome("test/functorch/test_aotdispatch.py", "oncall: pt2", _OTHER),
    "aot_eager_decomp_partition": TestHome("test/test_decomp.py", "module: decompositions", _OTHER),
    "inductor": TestHome("test/inductor/test_torchinductor.py", "module: inductor", _INDUCTOR),
}
"""By the first backend that shows the defect."""

DYNAMIC_SHAPES = TestHome("test/inductor/test_torchinductor_dynamic_shapes.py", "module: inductor", _INDUCTOR)


def home_of(backend: str, *, needs_dynamic_shapes: bool = False) -> TestHome:
    """The home of the test of a defect whose first backend is ``backend``."""
    if needs_dynamic_shapes and backend not in LADDER:
        return DYNAMIC_SHAPES
    return HOMES.get(backend, HOMES["inductor"])


def unit_test(script: str, title: str, home: TestHome, *, device: str = "cpu", nested: bool = True) -> str:
    """A file with one test, which runs on its own; its method is what goes into the ``home``.

    ``nested``: the definitions are inside the method, as PyTorch's tests have them; a function that is one no longer
    reads globals. Raises NotConverted.
    """
    parts = parts_of(script)
    settings = [statement for statement in parts.setup if setting_of(statement) is not None]
    setup = [statement for statement in parts.setup if setting_of(statement) is None]
    last = parts.run[-1]
    asserted = [one for statement in parts.run for one in visited(statement, _Asserts(last))]
    run = [one for statement in asserted for one in visited(statement, _Prints())]
    method = cst.parse_statement(f"def test_{name_of(title)}(self):\n    pass\n")
    assert isinstance(method, cst.FunctionDef)
    body = in_a_body([*(setup if nested else []), *run])
    method = method.with_changes(body=cst.IndentedBlock(body), decorators=_decorators(settings, device))
    class_text = f"class FuzzedReproTests(TestCase):\n{_indented(code_of(method))}"
    outside = [] if nested else ["".join(map(code_of, setup)).strip("\n")]
    guard = 'if __name__ == "__main__":\n    run_tests()'
    comments = f'# Owner(s): ["{home.owner}"]\n# For {home.file}'
    head = f"{comments}\n\n{_imports(parts.imports, home)}"
    return "\n\n\n".join([head, *outside, class_text.rstrip("\n"), guard]) + "\n"


def name_of(title: str) -> str:
    """The end of a test's name: words of a title, in a few characters."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    while len("_".join(words)) > 60:
        words.pop()
    return "_".join(words) or "repro"


def _decorators(settings: list[cst.BaseStatement], device: str) -> list[cst.Decorator]:
    texts = ["unittest.expectedFailure"]
    if device == "cuda":
        texts.append('unittest.skipIf(not torch.cuda.is_available(), "requires CUDA")')
    for statement in settings:
        module, option = setting_of(statement) or ("", "")
        assert isinstance(statement, cst.SimpleStatementLine)
        assert isinstance(statement.body[0], cst.Assign)
        texts.append(f'{module}.patch({{"{option}": {code_of(statement.body[0].value)}}})')
    return [cst.Decorator(cst.parse_expression(text)) for text in texts]


def _imports(imports: tuple[cst.BaseStatement, ...], home: TestHome) -> str:
    lines = [line for statement in imports for line in code_of(statement).splitlines() if line and line != "import sys"]
    future = [line for line in lines if line.startswith("from __future__")]
    torch = [line for line in lines if re.match(r"(import|from) torch\b", line)]
    plain = sorted({*(line for line in lines if line not in (*future, *torch)), "import unittest"})
    own = [*(line for line in torch if line.startswith("import")), home.imports]
    own += [line for line in torch if line.startswith("from")]
    return "\n\n".join("\n".join(group) for group in (future, plain, own) if group)


def _indented(text: str) -> str:
    """A method as part of a class; lines inside of strings keep their beginnings."""
    module = cst.parse_module("class A:\n    pass\n")
    (owner,) = module.body
    assert isinstance(owner, cst.ClassDef)
    (method,) = cst.parse_module(text).body
    assert isinstance(method, cst.FunctionDef)
    return code_of(owner.with_changes(body=cst.IndentedBlock([method]))).partition("\n")[2]


class _Asserts(cst.CSTTransformer):
    """Turns the ends of a script into assertions, outside of functions; ``last`` is the script's last statement."""

    def __init__(self, last: cst.CSTNode) -> None:
        super().__init__()
        self._last = last

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        end = exit_of(updated_node)
        if end is None:
            return updated_node
        right = right_of(end[0])
        statement = cst.parse_statement(_assertion(right))
        assert isinstance(statement, cst.SimpleStatementLine)
        statement = updated_node.with_changes(body=statement.body)
        if original_node is self._last or code_of(right) in ("True", "False"):
            return statement
        return cst.FlattenSentinel([statement, cst.SimpleStatementLine([cst.Return()])])


def _assertion(right: cst.BaseExpression) -> str:
    match right:
        case cst.Name(value="True"):
            return "return"
        case cst.Name(value="False"):
            return 'self.fail("eager and compiled differ")'
        case cst.Call(func=func, args=[first, second]) if code_of(func) in ("torch.equal", "torch.allclose"):
            exactly = ", rtol=0, atol=0" if code_of(func) == "torch.equal" else ""
            if first.keyword is None and second.keyword is None:
                return f"self.assertEqual({code_of(first.value)}, {code_of(second.value)}{exactly})"
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="equal"), value=one), args=[other]):
            return f"self.assertEqual({code_of(one)}, {code_of(other.value)}, rtol=0, atol=0)"
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=other)]):
            sides = code_of(left), code_of(other)
            if all(side.endswith((".dtype", ".shape", ".stride()")) for side in sides):
                return f"self.assertEqual({sides[0]}, {sides[1]})"
        case cst.UnaryOperation(operator=cst.Not()):
            return f"self.assertFalse({code_of(right.expression.with_changes(lpar=[], rpar=[]))})"
    return f"self.assertTrue({code_of(right)})"


class _Prints(cst.CSTTransformer):
    """Removes prints of what is computed already."""

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        match updated_node:
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Name(value="print"), args=args))]) if (
                not any(_calls(arg) for arg in args)
            ):
                return cst.RemoveFromParent()
        return updated_node

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return updated_node if updated_node.body else updated_node.with_changes(body=[cst.parse_statement("pass")])


def _calls(node: cst.CSTNode) -> bool:
    """Whether an expression calls more than what makes text of a value."""
    if isinstance(node, cst.Call) and code_of(node.func) not in ("type", "str", "repr", "abs"):
        text = code_of(node.func)
        if not text.endswith((".partition", ".item", ".tolist")):
            return True
    return any(map(_calls, node.children))
