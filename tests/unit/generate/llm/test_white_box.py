"""Parts of the installed compiler: their list, prompts, and target coverage."""

import sys

import pytest

from eqfuzz.generate.llm.prompt import shipped_prompts
from eqfuzz.generate.llm.samples import Samples
from eqfuzz.generate.llm.target_coverage import reached
from eqfuzz.generate.llm.white_box import MOST_SOURCE, CompilerPart, PartKind, parts
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded

from .reached_programs import PLAIN, REACHING


def test_many_parts_of_every_kind_are_listed():
    kinds = [part.kind for part in parts().values()]
    assert kinds.count(PartKind.PASS) > 100
    assert kinds.count(PartKind.LOWERING) > 150
    assert kinds.count(PartKind.TRACKER) > 150
    assert all(name == part.name and name.startswith(f"{part.kind}:") for name, part in parts().items())


def test_prompt_of_every_part_contains_its_source():
    prompt = shipped_prompts()["white-box"]
    every = list(parts().values())
    samples = Samples([prompt], len(every), 0, parts=every, all_parts=True)
    assert [sample.part for sample in samples.all] == every
    for sample in samples.all:
        part = sample.part
        text = samples.messages(sample, ())[1]["content"]
        keyword = "class" if part.kind is PartKind.TRACKER else "def"
        assert f"{keyword} {part.label}(" in text
        assert part.source in text
        assert part.place in text
        assert len(part.source) <= MOST_SOURCE + 100
        assert CompilerPart.from_json(part.to_json()) == part


def test_programs_that_reached_a_part_are_shown():
    prompt = shipped_prompts()["white-box"]
    one = [parts()["lowering:lowering.cat"]]
    samples = Samples([prompt], 3, 0, parts=one, all_parts=True)
    assert [sample.after for sample in samples.all] == [None, 0, 1]
    first = samples.messages(samples.all[0], ())[1]["content"]
    second = samples.messages(samples.all[1], ["EXAMPLE {{ theme }}"])[1]["content"]
    assert "reached it" not in first
    assert "EXAMPLE {{ theme }}" in second
    assert "This program reached it" in second


def names_reached(text):
    loaded = Loaded(recognise(text, "seed"))
    return reached(loaded, loaded.calls(0), [parts()[name] for name in REACHING])


@pytest.mark.long
@pytest.mark.timeout(900)
def test_handwritten_programs_reach_their_parts(monkeypatch, tmp_path):
    """Each program reaches its part, and no other but those listed; a plain program reaches none."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    assert names_reached(PLAIN) == []
    assert sys.getprofile() is None
    passes = [name for name in REACHING if name.startswith("pass:")]
    assert len(passes) >= 15
    assert len(REACHING) >= 35
    besides = {}
    for name, text in REACHING.items():
        names = names_reached(text)
        assert name in names, f"{name} is not reached, but {names}"
        besides[name] = set(names) - {name}
    fold, cat = "pass:joint_graph.constant_fold_uniform_value", "lowering:lowering.cat"
    assert besides.pop("pass:post_grad.pointless_cumsum_replacement") == {fold}
    assert besides.pop("pass:post_grad.cat_slice_cat") == {cat}
    assert all(others <= {fold, cat} for others in besides.values()), besides
