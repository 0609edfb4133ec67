"""In which order the programs of the corpus are run."""

import pytest

from tests.quality.corpus import Entry, ordered
from tests.quality.hunt import PHASES

SEED = """
import torch
LEVEL = {level}


def program(x):
    return {body}


def inputs(rng):
    yield (rng.normal(3),)
"""


@pytest.fixture
def entries(tmp_path):
    bodies = {"sin": "x.sin()", "wide": "x.sin() + x.cos() * x.exp()", "same": "x.sin() + x.cos()"}
    made = []
    for name, body in bodies.items():
        path = tmp_path / f"{name}.py"
        path.write_text(SEED.format(level=1 if name == "sin" else "torch.tensor(1)", body=body))
        made.append(Entry(path))
    variant = tmp_path / "variant.py"
    variant.write_text(made[0].path.read_text())
    return [*made, Entry(variant, ("algebra/add_commutes",))]


def names(entries):
    return [entry.path.stem for entry in entries]


def test_what_is_new_and_cheap_comes_first_and_variants_between_seeds(entries):
    costs = {str(entry.path): 1.0 for entry in entries}
    assert names(ordered(entries, costs, 0)) == ["wide", "same", "variant", "sin"]
    costs[str(entries[1].path)] = 100.0
    assert names(ordered(entries, costs, 0))[-1] == "wide"


def test_guards_are_tried_first_where_there_is_state(entries):
    guards = next(phase for phase in PHASES if phase.name == "guards")
    assert names(guards.programs(entries)) == ["sin", "wide", "same"]
