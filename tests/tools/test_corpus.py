"""The corpus of detection runs: its order, features and seeds."""

import ast

import pytest

from eqfuzz.program.release import Release
from tools.fault_detection.corpus.corpus import Entry, detection_seeds, ordered, shipped_seeds
from tools.fault_detection.corpus.features import features_of
from tools.fault_detection.detection.phases import PHASES

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
    seeds = []
    for name, body in bodies.items():
        path = tmp_path / f"{name}.py"
        path.write_text(SEED.format(level=1 if name == "sin" else "torch.tensor(1)", body=body))
        seeds.append(Entry(path))
    variant = tmp_path / "variant.py"
    variant.write_text(seeds[0].path.read_text())
    return [*seeds, Entry(variant, ("algebra/add_commutes",))]


def names(entries):
    return [entry.path.stem for entry in entries]


def test_programs_with_new_features_at_low_cost_come_first(entries):
    costs = {str(entry.path): 1.0 for entry in entries}
    assert names(ordered(entries, costs, 0)) == ["wide", "same", "sin", "variant"]
    costs[str(entries[1].path)] = 100.0
    assert names(ordered(entries, costs, 0)) == ["same", "sin", "wide", "variant"]


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("torch.flip(x, (0, 1))", "flip(1:Tuple2 0 1)"),
        ("x.flip(0)", "flip(0:0)"),
        ("torch.addcmul(x, y, z, value=-0.5)", "addcmul(value=-part)"),
        ("x ** -1", "Pow(value,-1)"),
        ("x[-1] = 0", "Store[-1]"),
        ("x[1::2]", "Load[[1,,int]]"),
        ("rows += (x, x)", "Add=Name"),
        ("x.to(torch.uint8)", "to(0:uint8)"),
    ],
)
def test_feature_is_read_from_text(text, feature):
    assert feature in features_of(ast.parse(text))


@pytest.mark.parametrize(
    ("statements", "is_written"),
    [
        ("x.add_(1)", True),
        ("x += y", True),
        ("x[1:] += y", True),
        ("x[0] = y[0]", True),
        ("z = x + y; z.mul_(2); z[0] = y[0]", False),
        ("x.__add__(y)", False),
    ],
)
def test_phase_for_aliasing_has_programs_that_write_to_arguments(tmp_path, statements, is_written):
    path = tmp_path / "seed.py"
    path.write_text(f"def program(x, y):\n    {statements}\n    return x\n")
    aliasing = next(phase for phase in PHASES if phase.name == "aliasing")
    assert names(aliasing.programs([Entry(path)])) == (["seed"] if is_written else [])


def test_phase_for_guards_begins_with_programs_with_state(entries):
    guards = next(phase for phase in PHASES if phase.name == "guards")
    assert names(guards.programs(entries)) == ["sin", "wide", "same"]


def test_seeds_with_a_known_issue_are_excluded(monkeypatch):
    def excluded(release):
        monkeypatch.setattr("tools.fault_detection.corpus.corpus.this_release", lambda: Release(release))
        return {path.stem for path in set(shipped_seeds()) - set(detection_seeds())}

    assert {"zero_times", "nothing_dropped", "quantise_int8"} <= excluded("2.13.0")
    assert detection_seeds("handwritten/mutation/nothing_dropped") == []
    fixed = excluded("2.13.0") - excluded("2.15.0")
    assert {"zero_times", "nothing_dropped"} <= fixed
    assert "quantise_int8" not in fixed
    assert len(excluded("2.15.0")) < len(detection_seeds())
