"""The last stage at which two programs differ, on pairs whose answer follows from the purpose of the stages."""

import pytest
import torch

from eqfuzz.program.call import Call
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.rules.compile_depth import CompileStage
from eqfuzz.run.coverage.compile_stages import NotCompiled, last_difference, stages

CALL = Call((torch.arange(32.0).reshape(4, 8) / 7, torch.ones(4, 8)), {})


def level(left: str, right: str) -> CompileStage:
    return last_difference(*(stages(program(side), CALL) for side in (left, right)))


def program(body: str) -> Program:
    source = f"import torch\n\n\ndef program(x, y):\n    {body}\n"
    return Program("test", source, SeedFormat.EQFUZZ, "program", "program", "None")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("return x.sin() + y", "t = x.sin(); return t + y", CompileStage.NOWHERE),
        ("return x.sin() * x.sin()", "t = x.sin(); return t * t", CompileStage.NOWHERE),
        ("return x.sin() + y", "unused = x.cos(); return x.sin() + y", CompileStage.NOWHERE),
        ("return x.sin()", "return torch.ops.aten.sin(x)", CompileStage.DYNAMO),
        ("return x ** 2", "return x * x", CompileStage.POST_GRAD),
        ("return x + y", "return x - (-y)", CompileStage.KERNEL),
        ("return x.sin()", "return x.cos()", CompileStage.KERNEL),
    ],
)
def test_last_stage_that_differs_is_named(left: str, right: str, expected: CompileStage) -> None:
    assert level(left, right) is expected


def test_program_with_a_graph_break_is_an_error() -> None:
    with pytest.raises(NotCompiled):
        stages(program("torch._dynamo.graph_break(); return x + y"), CALL)


@pytest.mark.slow
def test_compiling_works_as_before_after_a_measurement() -> None:
    stages(program("return x.exp()"), CALL)
    compiled = torch.compile(lambda x: x.exp())
    assert torch.allclose(compiled(CALL.args[0]), CALL.args[0].exp())
