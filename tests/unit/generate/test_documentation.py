"""The documentation of the generator: its page of operators and its examples."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eqfuzz.generate.dag.catalogue.docs_page import page
from eqfuzz.generate.dag.catalogue.operator import operators
from eqfuzz.generate.dag.generate import ProgramGenerator
from eqfuzz.generate.dag.template import shipped_templates, template_of
from tools.fault_detection.generated import eager_error

DOCS = Path(__file__).parents[3] / "docs"
HOW_TO = (DOCS / "how-to" / "generate.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", HOW_TO, re.DOTALL)
OPERATOR = next(text for kind, text in BLOCKS if kind == "python" and "@operator" in text)
EXAMPLES = [text for kind, text in BLOCKS if kind == "python" and "@operator" not in text]
TEMPLATE = next(text for kind, text in BLOCKS if kind == "toml")


def test_operators_page_is_generated_from_declarations():
    assert (DOCS / "reference" / "operators.md").read_text(encoding="utf-8") == page()


def test_documented_operator_has_at_most_twelve_lines_and_works(tmp_path):
    declaration = OPERATOR[OPERATOR.index("@operator") :]
    assert len(declaration.strip().splitlines()) <= 12
    file = tmp_path / "mine.py"
    file.write_text(OPERATOR, encoding="utf-8")
    only, weights = ["torch.softcap", "torch.add"], {"torch.softcap": 5.0}
    generator = ProgramGenerator(shipped_templates()["default"], only=only, weights=weights, plugins=[file])
    programs = [generator.generate(seed) for seed in range(10)]
    assert "torch.softcap" not in operators(), "not registered for other generators"
    assert sum("torch.softcap" in program.operators for program in programs) >= 8
    assert not [eager_error(program.source) for program in programs if eager_error(program.source)]


def test_documented_template_works(tmp_path):
    file = tmp_path / "attention.toml"
    file.write_text(TEMPLATE, encoding="utf-8")
    template = template_of(file)
    assert template.name == "attention"
    assert template.depth == 6
    assert not eager_error(ProgramGenerator(template).generate(0).source)


def test_documented_graph_is_printed(capsys):
    exec(compile(EXAMPLES[0], "example", "exec"), {})
    printed = capsys.readouterr().out
    assert '"""A program."""' in printed
    assert re.search(r"(?m)^n\d+ \['n1', .*\] \[.*\] \d+$", printed)
    assert re.search(r"(?m)^n\d+: .*\(depth \d\) <- n\d", printed)


def test_documented_program_is_run(capsys):
    exec(compile(EXAMPLES[2], "example", "exec"), {})
    assert "tensor" in capsys.readouterr().out


@pytest.mark.slow
def test_documented_comparison_runs(tmp_path):
    file = tmp_path / "compare.py"
    file.write_text(EXAMPLES[1], encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(DOCS.parent)}
    done = subprocess.run([sys.executable, file], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.match(r"(ok|failed|ignored|undecided) \{", done.stdout), done.stdout
    assert (tmp_path / "eqfuzz-out" / "programs" / "default-42.py").is_file()
