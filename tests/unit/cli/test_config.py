"""``eqfuzz config``: bad input costs one line and exit code 2, before anything runs."""

import pytest
from typer.testing import CliRunner

from eqfuzz.cli.app import app
from eqfuzz.torch_internals import source_tree

SEED = "import torch\ndef program(x): return x + 1\ndef inputs(rng): yield rng.normal(4),\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tuples"], "PATHS"),
        (["tuples", "nowhere.py"], "nowhere.py: no such file"),
        (["tuples", "SEED", "--only", "max_fusoin_size"], "did you mean 'max_fusion_size'?"),
        (["tuples", "SEED", "--only", "fallback_random"], "other random numbers"),
        (["tuples", "SEED", "--module", "dynamo", "--only", "max_fusion_size"], "no option 'max_fusion_size'"),
        (["tuples", "SEED", "-n", "3", "--only", "max_fusion_size,split_reductions"], "-n 3"),
        (["tuples", "SEED", "--time", "soon"], "--time: 'soon' is not a duration"),
        (["tuples", "SEED", "--preload", "nowhere.py"], "--preload: nowhere.py"),
        (["random", "SEED", "--p", "1.5"], "--p"),
        (["random", "SEED", "--p", "0"], "no configuration was sampled"),
        (["bisect", "0123", "--out", "OUT"], "no findings in"),
        (["tupels", "SEED"], "Did you mean 'tuples'?"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(tmp_path, capfd, arguments, message):
    seed = tmp_path / "seed.py"
    seed.write_text(SEED)
    places = {"SEED": str(seed), "OUT": str(tmp_path / "out")}
    arguments = [places.get(word, word) for word in arguments]
    if arguments[0] != "bisect":
        arguments += ["--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["config", *arguments])
    errors = result.stderr + capfd.readouterr().err
    assert result.exit_code == 2, (result.exit_code, errors, result.exception)
    assert message in errors, errors
    assert len(errors.strip().splitlines()) == 1, errors
    assert not result.stdout


def test_unreadable_state_is_one_line_and_exit_2(tmp_path):
    seed = tmp_path / "seed.py"
    seed.write_text(SEED)
    (tmp_path / "config-state.json").write_text("{")
    result = CliRunner().invoke(app, ["config", "tuples", str(seed), "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "config-state.json: cannot be read" in result.stderr


def test_torch_without_sampler_is_one_line_and_exit_2(tmp_path, monkeypatch):
    monkeypatch.setattr(source_tree, "FUZZER", "_inductor/no_fuzzer.py")
    result = CliRunner().invoke(app, ["config", "tuples", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr == "eqfuzz: this torch cannot sample configurations: eqfuzz config needs torch 2.7 or newer\n"
