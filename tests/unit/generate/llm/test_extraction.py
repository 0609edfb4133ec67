"""Extraction of programs from answers of any form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.generate.llm.extraction import UNREADABLE, code_in, normalised

SEED = """import torch


def program(x):
    return torch.relu(x) + 1


def inputs(rng):
    yield rng.normal(3, 4)
"""
FIRST, SECOND = SEED.split("\n\n\ndef inputs")
SECOND = "def inputs" + SECOND


@pytest.mark.parametrize(
    "answer",
    [
        SEED,
        f"```python\n{SEED}```",
        f"```py\n{SEED}\n```\n",
        f"~~~\n{SEED}~~~",
        f"````python\n{SEED}````",
        f"Here is the program:\n\n```python\n{SEED}```\nIt exercises relu.",
        f"Here is the program:\n\n```python\n{SEED}",
        f"Sure! I wrote this:\n\n{SEED}\nThis program exercises relu, isn't it nice?",
        f"<think>Maybe\n```python\nimport os\n```\nno</think>\n```python\n{SEED}```",
        f"First\n```python\ndef program(x): return x\n```\nand better\n```python\n{SEED}```",
        f"```python\n{SEED}```\nRun it:\n```bash\npython seed.py\n```\nOutput:\n```\ntensor(1)\n```",
        f"Two parts.\n```python\n{FIRST}\n```\nand\n```python\n{SECOND}```",
        "1. The program:\n" + "".join(f"   {line}\n" for line in f"```python\n{SEED}```".split("\n")),
        SEED.replace("\n", "\r\n"),
        f'# /// eqfuzz\n# source = "person"\n# ///\n{SEED}',
        f'```python\n# /// eqfuzz\n# source = "person"\n# ///\n{SEED}```',
    ],
)
def test_program_is_extracted_from_every_wrapping(answer):
    assert normalised(code_in(answer)) == normalised(SEED)


def test_broken_code_is_returned_for_repair():
    broken = SEED.replace("rng.normal(3, 4)", "rng.normal(3, 4]")
    assert code_in(f"Here you are:\n```python\n{broken}```") == broken
    assert code_in(f"Here you are:\n{broken}") == broken


@pytest.mark.parametrize("answer", ["", "  \n", "I cannot help with that.", "Sorry", "```\n```", "```bash\nls -l\n```"])
def test_answer_without_code_gives_nothing(answer):
    assert code_in(answer) == ""


@pytest.mark.parametrize(
    "answer",
    ["(" * 5000, "-" * 60000 + "1", "+".join(["1"] * 20000), "a = " + "not " * 15000 + "1", "x = '\0'", "`" * 9000],
)
def test_hostile_answers_are_unreadable(answer):
    code = code_in(answer)
    with pytest.raises(UNREADABLE):
        normalised(code or "(")


@given(st.text(alphabet="`~\n python#=()[]x:1", max_size=200))
def test_any_text_is_accepted(text):
    assert isinstance(code_in(text), str)


def test_normalised_ignores_layout_and_comments():
    other = '"""A docstring."""\n' + SEED.replace("x)", "x )").replace("+ 1", "+ 1  # one")
    assert normalised(other) == normalised(SEED) != normalised(SEED.replace("+ 1", "+ 2"))
