"""Transfer of files between machines: complete, once, with the paths of the receiver."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.campaign.configuration import Configuration, from_tables
from eqfuzz.campaign.executors.file_transfer import ShippedConfiguration, pack, unpack

NAMES = st.text("abc._-é", min_size=1, max_size=6).filter(lambda name: name not in (".", ".."))
FOLDERS = st.dictionaries(NAMES, st.dictionaries(NAMES, st.binary(max_size=40), min_size=1, max_size=3), max_size=3)


def written(base: Path, folders: dict[str, dict[str, bytes]]) -> list[Path]:
    for folder, files in folders.items():
        (base / "findings" / folder).mkdir(parents=True)
        for name, content in files.items():
            (base / "findings" / folder / name).write_bytes(content)
    return [base / "findings" / folder for folder in folders]


@given(folders=FOLDERS)
def test_unpacking_restores_packed_files(tmp_path_factory, folders):
    there, here = tmp_path_factory.mktemp("there"), tmp_path_factory.mktemp("here")
    bundle = pack(there, written(there, folders), {})
    unpack(bundle, here)
    assert pack(here, [here / "findings"] if folders else [], {}) == bundle
    assert not folders or {path.name for path in (here / "findings").iterdir()} == set(folders)


def test_existing_folder_is_not_overwritten(tmp_path):
    bundle = pack(tmp_path / "a", written(tmp_path / "a", {"one": {"x": b"new"}, "two": {"y": b"new"}}), {})
    written(tmp_path / "b", {"one": {"x": b"old"}})
    unpack(bundle, tmp_path / "b")
    assert (tmp_path / "b" / "findings" / "one" / "x").read_bytes() == b"old"
    assert (tmp_path / "b" / "findings" / "two" / "y").read_bytes() == b"new"


def test_paths_in_files_are_renamed(tmp_path):
    node = tmp_path / 'no"de'
    content = {"kept": str(node / "x"), "rules": [str(node / "0" / "mine.py")]}
    files = {"finding.json": json.dumps(content).encode(), "replay.txt": f"at {node}/x\n".encode()}
    bundle = pack(node, written(node, {"one": files}), {str(node / "0"): "/home", str(node): "/out"})
    assert json.loads(bundle["findings/one/finding.json"]) == {"kept": "/out/x", "rules": ["/home/mine.py"]}
    assert bundle["findings/one/replay.txt"] == b"at /out/x\n"


def test_failed_unpacking_leaves_nothing(tmp_path):
    bundle = {"findings/one/x": b"1", "findings/one/x/y": b"2"}  # a file that is a folder too
    with pytest.raises(OSError):
        unpack(bundle, tmp_path)
    assert list((tmp_path / "findings").iterdir()) == []


def test_configuration_ships_the_files_of_the_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "mine.py").write_text("rules")
    (tmp_path / "fault.py").write_text("fault")
    tables = {"rewriting": {"rules_from": ["rules", "fault.py"]}, "compiling": {"preload": "fault.py"}}
    configuration = from_tables(tables, "test")
    shipped = ShippedConfiguration.of(configuration)
    monkeypatch.chdir("/")
    there, origins = shipped.unpack(tmp_path / "node")
    rules, preload = there.rewriting.rules_from, there.compiling.preload
    assert (rules[0] / "mine.py").read_text() == "rules"
    assert rules[0].name == "rules"
    assert preload is not None
    assert preload.read_text() == "fault"
    assert preload == rules[1]
    assert origins == {str(rules[0]): str(tmp_path / "rules"), str(preload): str(tmp_path / "fault.py")}
    assert there.lasting() | {"rewriting": 0, "compiling": 0} == configuration.lasting() | {
        "rewriting": 0,
        "compiling": 0,
    }


def test_missing_file_is_an_error(tmp_path):
    with pytest.raises(OSError):
        ShippedConfiguration.of(from_tables({"compiling": {"preload": str(tmp_path / "none.py")}}, "test"))


def test_configuration_without_files_ships_none(tmp_path):
    there, origins = ShippedConfiguration.of(Configuration()).unpack(tmp_path)
    assert there == Configuration()
    assert origins == {}
