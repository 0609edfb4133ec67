"""Prompts: shipped ones, those of a user, and their materials."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.generate.llm.masking import masked
from eqfuzz.generate.llm.prompt import BadPrompt, contract, prompt_of, shipped_prompts
from eqfuzz.generate.llm.samples import Samples
from eqfuzz.generate.llm.white_box import parts

SHIPPED = {
    *("paper", "basic", "loops", "branches", "numpy", "in-place", "dynamic-shapes", "training", "low-precision"),
    *("attention", "white-box", "evolve", "fill-in"),
}
SEED = '''"""A seed."""

import torch


def program(x, y):
    a = x + y
    b = a * 2
    c = (
        b
        - 1
    )
    if x.dim() > 1:
        c = c.sum(dim=0)
    return c, b


def inputs(rng):
    yield rng.normal(3, 4), rng.normal(3, 4)
'''


def test_shipped_prompts_render():
    prompts = shipped_prompts()
    assert set(prompts) == SHIPPED
    for name, prompt in prompts.items():
        samples = Samples([prompt], 30, 0, corpus=[SEED], parts=list(parts().values())[:5])
        texts = [samples.messages(sample, ()) for sample in samples.all]
        assert all("{{" not in m["content"] and "{%" not in m["content"] for pair in texts for m in pair)
        assert (name == "paper") != all(contract() in pair[1]["content"] for pair in texts)
        assert len({pair[1]["content"] for pair in texts}) > 4, "themes, parts or masks differ"


def test_paper_prompt_quotes_the_paper():
    system = shipped_prompts()["paper"].system
    for words in ("named PMbodule", "provide 5 inputs", "3 to 4 dimensions", "explicitly defined", "main section"):
        assert words in system


def test_same_seed_gives_same_messages():
    prompts = [shipped_prompts()[name] for name in ("loops", "evolve", "fill-in", "white-box")]

    def all_messages(seed):
        samples = Samples(prompts, 12, seed, corpus=[SEED, SEED + "\n\nx = 1\n"], parts=list(parts().values()))
        return [samples.messages(sample, ()) for sample in samples.all]

    assert all_messages(3) == all_messages(3) != all_messages(4)


def test_user_prompts_may_be_text_or_toml(tmp_path):
    text = tmp_path / "mine.txt"
    text.write_text("Write about sorting.")
    message = prompt_of(text).messages(random.Random(0), {})[1]["content"]
    assert message == f"Write about sorting.\n\n{contract()}"
    text.write_text("{{ contract }}\n\nWrite about sorting.")
    assert prompt_of(text).messages(random.Random(0), {})[1]["content"] == f"{contract()}\n\nWrite about sorting."
    table = tmp_path / "mine.toml"
    table.write_text('request = "Sort {{ theme }} in {{ seed }}"\nthemes = ["ties"]\nneeds = "seed"\ncontract = false')
    assert prompt_of(table).messages(random.Random(0), {"seed": "S"})[1]["content"] == "Sort ties in S"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("request = 3", "request is a text"),
        ("reqest = ''", "no entry 'reqest'"),
        ("about = 'x'", "no request"),
        ("request = 'x'\nthemes = 'y'", "themes is a list"),
        ("request = 'x'\nneeds = 'money'", "needs is one of"),
        ("request = 'x'\ncontract = 1", "contract is true or false"),
        ("request = ", "not valid TOML"),
        ("request = '{{ nothing }}'", "'nothing' is undefined"),
        ("request = '{% if %}'", "Expected an expression"),
    ],
)
def test_bad_prompts_are_reported(tmp_path, text, problem):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(BadPrompt, match=problem):
        prompt_of(file)
    with pytest.raises(BadPrompt, match="cannot be read"):
        prompt_of(tmp_path / "none.toml")


@given(st.integers(0, 10**6))
def test_masking_keeps_signature_return_and_inputs(number):
    text = masked(SEED, random.Random(number))
    assert "<FILL 1>" in text
    for line in ("def program(x, y):", "    return c, b", "def inputs(rng):", '"""A seed."""'):
        assert line in text.split("\n")
    rest = [line for line in text.split("\n") if "<FILL" not in line]
    assert all(line in SEED.split("\n") for line in rest)
    assert text.count("<FILL") <= 3
    assert text == masked(SEED, random.Random(number))


def test_each_part_has_several_samples():
    prompt, every = shipped_prompts()["white-box"], list(parts().values())
    samples = Samples([shipped_prompts()["loops"], prompt], 18, 0, parts=every)
    with_part = [sample for sample in samples.all if sample.part]
    assert len(with_part) == 9
    assert len({sample.part.name for sample in with_part}) == 3
    for sample in with_part:
        assert sample.after is None or samples.all[sample.after].part == sample.part
    assert sum(sample.after is None for sample in with_part) == 3
