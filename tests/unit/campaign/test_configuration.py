"""eqfuzz.toml: strict parsing, messages with the entry, the commented file."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from eqfuzz.campaign.configuration import (
    Configuration,
    InvalidConfiguration,
    changed,
    commented,
    completed,
    differences,
    from_tables,
    read_configuration,
)


def test_the_commented_file_is_the_default(tmp_path):
    text = commented()
    assert tomllib.loads(text) == {name: {} for name in tomllib.loads(text)}
    (tmp_path / "eqfuzz.toml").write_text(text)
    assert read_configuration(tmp_path / "eqfuzz.toml") == Configuration()
    bare = "\n".join(line[2:] if "=" in line and line.startswith("# ") else line for line in text.splitlines())
    message = tomllib.loads(
        "\n".join(line for line in bare.splitlines() if not line.endswith("= ...") and line[:1] != "#")
    )
    assert from_tables(message, "here") == Configuration()


def test_paths_are_relative_to_the_file(tmp_path):
    (tmp_path / "c.toml").write_text('[sources]\nseeds = ["s", "/abs"]\n')
    assert read_configuration(tmp_path / "c.toml").sources.seeds == (tmp_path / "s", Path("/abs"))


def test_durations_may_have_units():
    configuration = from_tables({"budget": {"time": "1h30m"}, "compiling": {"timeout": "10s"}}, "here")
    assert (configuration.budget.time, configuration.compiling.timeout) == (5400, 10)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"budgte": {}}, "budgte: unknown key, did you mean 'budget'?"),
        ({"budget": {"cels": 3}}, "budget.cels: unknown key, did you mean 'cells'?"),
        ({"budget": {"cells": 0}}, "budget.cells:"),
        ({"budget": {"time": "soon"}}, "budget.time:"),
        ({"rewriting": {"strategy": "wild"}}, "rewriting.strategy:"),
        ({"seed": "x"}, "seed:"),
    ],
)
def test_message_names_the_invalid_entry(tables, message):
    with pytest.raises(InvalidConfiguration, match=r"^c\.toml: ") as raised:
        from_tables(tables, "c.toml")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"), [("seed = ", "not valid TOML"), (b"\xff", "not UTF-8"), (None, "cannot be read")]
)
def test_unreadable_file_is_reported(tmp_path, text, message):
    path = tmp_path / "c.toml"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidConfiguration, match=message):
        read_configuration(path)


def test_flags_change_entries_and_budgets_may_change():
    base = from_tables({"seed": 3, "budget": {"cells": 5}}, "here")
    other = changed(base, {"": {"seed": 4}, "budget": {"cells": 9}, "rewriting": {"depth": 2}}, "options")
    assert (other.seed, other.budget.cells, other.rewriting.depth) == (4, 9, 2)
    assert differences(base.lasting(), other.lasting()) == ["rewriting.depth", "seed"]


def test_settings_of_an_earlier_version_get_defaults():
    now = Configuration().lasting()
    earlier = {name: entries for name, entries in now.items() if name != "model"}
    earlier["sources"] = {name: entry for name, entry in now["sources"].items() if name != "unsafe"}
    assert differences(completed(earlier), now) == []
    assert differences(completed({**earlier, "seed": 3}), now) == ["seed"]
    assert completed({"gone": 1}) == {"gone": 1}


def test_access_to_a_model_may_change():
    one = from_tables({"model": {"name": "m", "base_url": "http://a:1/v1", "key_env": "A"}}, "here")
    other = from_tables({"model": {"name": "m", "base_url": "http://b:2/v1", "price": "0,0"}}, "here")
    assert one.lasting() == other.lasting() != Configuration().lasting()
