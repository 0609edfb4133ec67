"""The documentation of the generator: its page of operators and its examples."""

import re
from pathlib import Path

from eqfuzz.generate.dag.catalogue.docs_page import page
from eqfuzz.generate.dag.catalogue.operator import operators
from eqfuzz.generate.dag.generate import ProgramGenerator
from eqfuzz.generate.dag.template import shipped_templates, template_of
from tools.fault_detection.generated import eager_error

DOCS = Path(__file__).parents[3] / "docs"
HOW_TO = (DOCS / "how-to" / "generate.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", HOW_TO, re.DOTALL)
OPERATOR = next(text for kind, text in BLOCKS if kind == "python" and "@operator" in text)
EXAMPLE = next(text for kind, text in BLOCKS if kind == "python" and "random_spec" in text)
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


def test_documented_example_runs(capsys):
    exec(compile(EXAMPLE, "example", "exec"), {})
    assert "tensor" in capsys.readouterr().out
