"""Which lists of known issues the verbs read that run seeds."""

from pathlib import Path
from unittest import mock

import pytest

from eqfuzz.errors import UsageError
from eqfuzz.triage.findings.known_issues import SHIPPED, USUAL
from tests.unit.cli.in_process import call

VERBS = {
    "mutate": (["mutate", "seed.py"], "eqfuzz.mutate.run.run"),
    "config tuples": (["config", "tuples", "seed.py"], "eqfuzz.commands.fuzz_configs.run"),
    "config random": (["config", "random", "seed.py"], "eqfuzz.commands.fuzz_configs.run"),
    "generate dag": (["generate", "dag", "--run", "--seed", "1"], "eqfuzz.commands.generate_dag.run"),
}


def lists(verb, tmp_path, *options) -> tuple[Path, ...]:
    """The lists that the run is started with."""
    arguments, function = VERBS[verb]
    with mock.patch(function, side_effect=UsageError("not run here")) as run:
        result = call(*arguments, *options, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2, result.output
    return run.call_args.args[0].known_issues


@pytest.mark.parametrize("verb", VERBS)
def test_list_of_the_current_folder_is_read_beside_the_shipped_one(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seed.py").write_text("")
    assert lists(verb, tmp_path) == (SHIPPED,)
    (tmp_path / USUAL).write_text("")
    assert lists(verb, tmp_path) == (SHIPPED, USUAL)
    assert lists(verb, tmp_path, "--known-issues", "mine.toml") == (SHIPPED, Path("mine.toml"))
    assert lists(verb, tmp_path, "--no-known-issues") == ()
