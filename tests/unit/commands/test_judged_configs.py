"""Verdicts on sampled configurations are on disk at once, and are read with their values."""

import dataclasses
import json

import pytest

from eqfuzz.commands.fuzz_configs import _circumstances
from eqfuzz.commands.judged_configs import FILE, BadState, ConfigState, JudgedConfig
from eqfuzz.mutate.settings import Settings
from eqfuzz.program.release import Release

VALUES = {"inductor": {"max_fusion_size": 1, "memory_pool": "none"}, "dynamo": {"specialize_int": True}}
JUDGED = JudgedConfig(
    "a.py", "abc", "max_fusion_size=1,…", VALUES, {"torch": "2.13.0", "seed": 0}, "wrong-result", "differs"
)


def test_values_and_verdict_are_restored(tmp_path):
    ConfigState(tmp_path).add(JUDGED)
    assert ConfigState(tmp_path).lookup(JUDGED.key) == JUDGED
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


def test_later_verdict_replaces_an_earlier_one(tmp_path):
    state = ConfigState(tmp_path)
    state.add(JUDGED)
    state.add(dataclasses.replace(JUDGED, finding="0123456789"))
    (record,) = json.loads((tmp_path / FILE).read_text())["judged"]
    assert record["finding"] == "0123456789"


@pytest.mark.parametrize(
    "other",
    [{"digest": "abd"}, {"values": {"inductor": {}, "dynamo": {}}}, {"under": {"torch": "2.14.0", "seed": 0}}],
)
def test_verdict_depends_on_the_circumstances(tmp_path, other):
    state = ConfigState(tmp_path)
    state.add(JUDGED)
    assert state.lookup(dataclasses.replace(JUDGED, **other).key) is None
    assert state.lookup(dataclasses.replace(JUDGED, seed="moved.py", kind="agree").key) == JUDGED


@pytest.mark.parametrize("text", ["{", "[]", '{"judged": [{"seed": 1}]}'])
def test_broken_file_is_reported_in_one_line(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(BadState) as caught:
        ConfigState(tmp_path)
    assert "\n" not in str(caught.value)
    assert FILE in str(caught.value)


def test_verdict_depends_on_the_build_of_torch(tmp_path, monkeypatch):
    keys = set()
    for release in (Release("2.15.0", "cpu"), Release("2.15.0", "cu132"), Release("2.16.0", "cpu")):
        monkeypatch.setattr("eqfuzz.commands.fuzz_configs.this_release", lambda release=release: release)
        under = _circumstances(Settings(paths=(tmp_path,), out=tmp_path, jobs=1))
        keys.add(dataclasses.replace(JUDGED, under=under).key)
    assert len(keys) == 3
