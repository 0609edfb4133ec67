"""The user's rule files: errors are reported at their own line, before anything runs."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eqfuzz.cli.app import app

HEADER = """\
    import libcst as cst
    import torch

    from eqfuzz.rewrite.facts.preconditions import floating
    from eqfuzz.rewrite.rules.rule import rule


"""


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("def f(:\n", 8, "not valid Python"),
        ('@rule(exact="bitwise")\ndef r(x, k: "Foo"):\n    return x + k, k + x\n', 8, "unknown sort 'Foo'"),
        ('@rule(exact="bitwise")\ndef r(x, y):\n    return x + 1, x + y\n', 8, "y occurs on one side only"),
        ('@rule(exact="bitwise")\ndef r(x):\n    return -x, x if x is None else -x\n', 8, "conditionally"),
        ('@rule(exact="bitwise")\ndef r(loop: cst.For, at):\n    yield "pass"\n', 8, "a generator needs an example"),
        ('@rule(exact="bitwse")\ndef r(x):\n    return -x, x * -1\n', 8, "'bitwse' is not a valid Exactness"),
        ('@rule(exact="ulp", where=[floating("x", "z")])\ndef r(x):\n    return -x, x * -1\n', 8, "reads 'z'"),
        ("def helper():\n    return no_such\n\n\nhelper()\n", 9, "NameError: name 'no_such' is not defined"),
    ],
)
def test_faulty_rule_file_is_reported_at_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(textwrap.dedent(HEADER) + text, encoding="utf-8")
    result = CliRunner().invoke(app, ["rules", "--rules-from", str(path)])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"eqfuzz: --rules-from: {path}:{line}: ")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_user_rule_cannot_have_the_name_of_a_shipped_rule(tmp_path: Path) -> None:
    path = tmp_path / "operators.py"
    rule = '@rule(exact="bitwise")\ndef add_function(x, y):\n    return x + y, torch.add(x, y)\n'
    path.write_text(textwrap.dedent(HEADER) + rule, encoding="utf-8")
    result = CliRunner().invoke(app, ["rules", "--rules-from", str(path)])
    assert result.exit_code == 2
    assert f"{path}:8: operators/add_function is the name of a rule already" in result.stderr


def test_user_rules_load_from_a_folder_and_repeatedly(tmp_path: Path) -> None:
    rule = '@rule(exact="bitwise")\ndef r(x):\n    return -x, torch.neg(x)\n'
    folder = tmp_path / "folder"
    folder.mkdir()
    for file in (folder / "my_rules.py", tmp_path / "more.py"):
        file.write_text(textwrap.dedent(HEADER) + rule, encoding="utf-8")
    more = ["--rules-from", str(folder), "--rules-from", str(tmp_path / "more.py")]
    arguments = ["my-rules,more", *more, "--format", "json"]
    result = CliRunner().invoke(app, ["rules", "list", *arguments])
    families = {json.loads(line)["family"] for line in result.stdout.splitlines()}
    assert families == {"my-rules", "more"}
    assert not (tmp_path / "__pycache__").exists()
