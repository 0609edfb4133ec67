"""Programs that must raise: what compiled accepts is lost validation, and what eager accepts is no such program."""

import pytest

from tests.commandline import mutate, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

REFUSING = """
    import torch
    refuses = True
    def program(x):
        if {condition}:
            raise IndexError("no such row")
        return x + 1
    def inputs(rng):
        yield rng.normal(4)
        yield rng.normal(5)
"""


@pytest.mark.parametrize(
    ("condition", "kind", "message"),
    [
        (
            "not torch.compiler.is_compiling()",
            "exception-mismatch",
            "call 0: eager raises IndexError: no such row; compiled raises nothing",
        ),
        ("True", "agree", "eager and compiled agree"),
    ],
)
def test_compiled_code_has_to_refuse_what_eager_refuses(condition, kind, message, tmp_path):
    run = mutate(write(tmp_path, "seed.py", REFUSING.format(condition=condition)), out=tmp_path / "out")
    cells = run.of("cell")
    assert [(cell["variant"], cell["verdict"]["kind"], cell["verdict"]["message"]) for cell in cells] == [
        (0, kind, message)
    ]
    findings = run.of("finding")
    assert [finding["severity"] for finding in findings] == ["lost-validation"] * (kind != "agree")
    assert [finding["cells"]["P"] for finding in findings] == ["raises IndexError"] * (kind != "agree")


def test_program_that_eager_accepts_refuses_nothing(tmp_path):
    run = mutate(write(tmp_path, "seed.py", REFUSING.format(condition="False")), out=tmp_path / "out")
    assert run.summary["invalid"] == 1
    assert "refuses = True, but it raises nothing in eager" in run.of("invalid")[0]["reason"]
