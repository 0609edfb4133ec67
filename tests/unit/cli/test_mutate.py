"""``eqfuzz mutate`` from its options to its exit code, with the campaign itself faked."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import eqfuzz.mutate.run as campaign
from eqfuzz.cli.app import app
from eqfuzz.cli.options.values import seed_configs_of
from eqfuzz.events.run import FindingReported, InvalidReason, RunStarted, SeedDone, SeedStarted, Summary
from eqfuzz.mutate.settings import CompileSettings, RewriteSettings, Settings
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.run.configs.named import BUILT_IN, lacks
from eqfuzz.run.protocol import RunnerFailed
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.finding_environment import FindingEnvironment

SOURCE = "def program(x):\n    return x + 1\n\n\ndef inputs(rng):\n    yield (rng.uniform(4),)\n"

BAD = InvalidReason(reason="not valid Python: invalid syntax", count=1, seeds=["a.py"], place="a.py:2")


def summary(**changed: object) -> Summary:
    fields: dict[str, object] = {
        "seed": 0,
        "seeds": 2,
        "invalid": 0,
        "sites": 4,
        "variants": 2,
        "cells": 4,
        "erased": 0,
        "verdicts": {"agree": 4},
        "findings": 0,
        "rules": {},
        "errors": [],
        "interrupted": False,
        "out_of_time": False,
        "seconds": 1.0,
        "cpu_seconds": 1.0,
        "peak_mb": 512,
    }
    return Summary(**{**fields, **changed})


def finding_made() -> FindingReported:
    program = Program("a.py", SOURCE, SeedFormat.EQFUZZ, "program", "program", "inputs(rng)")
    verdict = Verdict(VerdictKind.WRONG_RESULT, "output differs")
    cells = {"P": "runs", "C(P)": "wrong-result"}
    finding = Finding(
        id="ab12cd34ef",
        original=program,
        transformed=program,
        derivation=(),
        verdict=verdict,
        device="cpu",
        config="inductor",
        settings={},
        cells=cells,
        also=0,
        environment=FindingEnvironment(),
    )
    return FindingReported(index=0, finding=finding, folder="eqfuzz-out/findings/ab12cd34ef", known=False)


class Faked:
    """Stands in for ``run``: keeps the settings, emits some events, ends as given."""

    def __init__(self, end: Summary | BaseException, *events: object) -> None:
        self.end = end
        self.events = events
        self.settings: Settings | None = None

    def __call__(self, settings: Settings, handler) -> Summary:
        self.settings = settings
        started = RunStarted(
            seed=0,
            seeds=2,
            strategy="each",
            rules=3,
            devices=["cpu"],
            configs=["inductor"],
            jobs=1,
            runner="fast",
            out=str(settings.out),
            versions={"torch": "2.13.0"},
        )
        for event in (started, *self.events):
            handler(event)
        if isinstance(self.end, BaseException):
            raise self.end
        handler(self.end)
        return self.end


@pytest.fixture
def mutate(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(end: Summary | BaseException, *arguments: str, events: tuple[object, ...] = ()):
        faked = Faked(end, *events)
        monkeypatch.setattr(campaign, "run", faked)
        result = CliRunner().invoke(app, ["mutate", "seeds", *arguments])
        return result, faked.settings

    return call


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, 0),
        ({"findings": 2}, 1),
        ({"invalid": 1}, 0),
        ({"invalid": 2, "cells": 0, "invalid_reasons": [BAD]}, 2),
        ({"invalid": 2, "cells": 0, "invalid_reasons": [BAD], "errors": ["this installation is broken"]}, 3),
        ({"errors": ["a.py: broke"]}, 3),
        ({"errors": ["a.py: broke"], "findings": 1}, 3),
        ({"interrupted": True}, 130),
        ({"interrupted": True, "findings": 1}, 130),
        ({"out_of_time": True, "findings": 1}, 1),
        ({"out_of_time": True, "seeds": 0, "cells": 0}, 0),
    ],
)
@pytest.mark.parametrize("format", ["text", "json"])
def test_exit_codes(mutate, changed, code, format):
    result, _ = mutate(summary(**changed), "--format", format)
    assert result.exit_code == code
    assert (result.stderr == "") == (code < 2)
    assert len(result.stderr.splitlines()) <= 1


def test_events_are_kept_in_the_folder_after_the_command(mutate, monkeypatch, tmp_path):
    (tmp_path / "there").mkdir()
    url = "--known-issues=https://me:secret@host/x"
    monkeypatch.setattr("sys.argv", ["/usr/bin/eqfuzz", "mutate", "my seeds", url])
    result, _ = mutate(summary(), "--out", "there")
    assert result.exit_code == 0
    events = [json.loads(line) for line in (tmp_path / "there" / "events.ndjson").read_text().splitlines()]
    assert [event["event"] for event in events] == ["command", "start", "summary"]
    assert events[0]["command"] == "eqfuzz mutate 'my seeds' --known-issues=https://…@host/x"
    assert events[0]["folder"] == str(tmp_path)


@pytest.mark.parametrize("arguments", [["--out", "there", "--dry-run"], ["--out", "nowhere"]])
def test_dry_run_and_run_without_folder_keep_no_events(mutate, tmp_path, arguments):
    (tmp_path / "there").mkdir()
    result, _ = mutate(summary(), *arguments)
    assert result.exit_code == 0
    assert not list(tmp_path.rglob("events.ndjson"))


def test_no_valid_seed_names_the_first_reason(mutate):
    result, _ = mutate(summary(invalid=2, cells=0, invalid_reasons=[BAD]), "--format", "json")
    assert result.exit_code == 2
    assert result.stderr == "eqfuzz: no valid seed: a.py:2: not valid Python: invalid syntax (and 1 more)\n"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (campaign.UsageError("seeds: no such file or folder"), "eqfuzz: seeds: no such file or folder\n"),
        (RunnerFailed("fault.py:3: ValueError: no\nsecond line"), "fault.py:3: ValueError: no second line"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(mutate, error, message):
    result, _ = mutate(error)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_internal_error_is_one_line_with_path_of_traceback(mutate, tmp_path):
    result, _ = mutate(KeyError("no such\nthing"), "--out", "there")
    assert result.exit_code == 3
    (line,) = result.stderr.splitlines()
    assert line.startswith("eqfuzz: internal error: KeyError: ")
    (file,) = (tmp_path / "there" / "errors").iterdir()
    assert str(file.relative_to(tmp_path)) in line
    assert "Traceback (most recent call last)" in file.read_text()
    assert "Traceback" not in result.output


def test_traceback_goes_to_temporary_folder_if_out_is_not_writable(mutate, tmp_path):
    (tmp_path / "file").write_text("in the way")
    result, _ = mutate(ValueError("odd"), "--out", "file")
    assert result.exit_code == 3
    file = Path(result.stderr.partition("traceback in ")[2].strip().rstrip(")"))
    assert "ValueError: odd" in file.read_text()
    file.unlink()


def test_ctrl_c_outside_of_run_is_130_without_traceback(mutate):
    result, _ = mutate(KeyboardInterrupt())
    assert result.exit_code == 130
    assert "Traceback" not in result.output


def test_sigterm_ends_run_as_ctrl_c_does(monkeypatch, tmp_path):
    def run(settings, handler):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(20)
        except KeyboardInterrupt:
            return summary(interrupted=True)
        raise AssertionError("not interrupted")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(campaign, "run", run)
    before = signal.getsignal(signal.SIGTERM)
    result = CliRunner().invoke(app, ["mutate", "seeds"])
    assert result.exit_code == 130
    assert signal.getsignal(signal.SIGTERM) is before


def test_closed_pipe_ends_run_without_traceback(mutate, monkeypatch):
    monkeypatch.setattr(os, "dup2", lambda *_: None)  # not the test runner's own stdout
    result, _ = mutate(BrokenPipeError())
    assert result.exit_code == 130
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "inducter"], "did you mean 'inductor'?"),
        (["--config", "inductor,nonesuch"], "no configuration 'nonesuch'"),
        (["--configs-from", "missing.toml"], "missing.toml"),
        (["--time", "soon"], "--time: 'soon' is not a duration"),
        (["--time", "0"], "--time: '0' leaves no time"),
        (["--timeout", "-5"], "--timeout: '-5' is not a duration"),
        (["--jobs", "0"], "--jobs"),
        (["--variants", "many"], "--variants"),
        (["--strategy", "every"], "'each'"),
        (["--device", "tpu"], "'cuda'"),
        (["--runner", "thread"], "'spawn'"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_bad_options_are_one_line_on_stderr_and_exit_2(mutate, arguments, message):
    result, settings = mutate(summary(), *arguments)
    assert result.exit_code == 2
    assert settings is None
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_cuda_without_a_device_is_one_line_and_exit_2(mutate, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    result, settings = mutate(summary(), "--device", "cuda")
    assert (result.exit_code, settings) == (2, None)
    assert result.stderr.startswith("eqfuzz: --device cuda: torch finds no CUDA device")
    assert len(result.stderr.splitlines()) == 1


def test_unknown_rule_has_suggestion(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SOURCE)
    result = CliRunner().invoke(app, ["mutate", "a.py", "--rules", "operators/add_functoin"])
    assert result.exit_code == 2
    assert "did you mean 'operators/add_function'?" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_mistyped_name_of_a_selection_is_corrected():
    result = CliRunner().invoke(app, ["mutate", "--rules", "papr"])
    assert (result.exit_code, result.stderr) == (2, "eqfuzz: --rules: no rule fits 'papr'; did you mean 'paper'?\n")


def test_missing_path_is_named(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["mutate", "no-such-folder"])
    assert (result.exit_code, result.stderr) == (2, "eqfuzz: no-such-folder: no such file or folder\n")


def test_the_defaults_are_those_of_the_settings(mutate):
    _, settings = mutate(summary())
    cores = len(os.sched_getaffinity(0))
    assert settings == Settings(
        paths=(Path("seeds"),),
        out=Path("eqfuzz-out"),
        jobs=cores,
        compiling=CompileSettings(threaded=0.25),
        seed_configs=seed_configs_of(None),
    )


def test_every_option_reaches_the_settings(mutate, monkeypatch, tmp_path):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    (tmp_path / "more.toml").write_text("[configs.mine]\nfullgraph = true\n")
    (tmp_path / "fault.py").write_text("")
    words = (
        "more --strategy random --depth 3 --variants 5 --rules operators --device cuda --device cpu --device cuda "
        "--config mine,eager --config inductor --configs-from more.toml --seed 9 --jobs 3 --time 1h30m --out there "
        "--dry-run --preload fault.py --runner spawn --timeout 2m --threaded 0.5"
    )
    _, settings = mutate(summary(), *words.split())
    assert settings is not None
    names = [config.name for config in settings.configs]
    assert names == ["mine", "eager", "inductor"]
    assert settings == Settings(
        paths=(Path("seeds"), Path("more")),
        out=Path("there"),
        seed=9,
        rewriting=RewriteSettings(strategy="random", depth=3, variants=5, rules="operators"),
        compiling=CompileSettings(
            devices=("cuda", "cpu"), preload=Path("fault.py"), runner="spawn", timeout=120.0, threaded=0.5
        ),
        configs=settings.configs,
        jobs=3,
        time=5400.0,
        dry_run=True,
    )


def test_all_configurations_are_the_built_in_ones_that_can_run(mutate):
    _, settings = mutate(summary(), "--config", "all")
    assert settings is not None
    assert settings.configs == tuple(config for config in BUILT_IN.values() if not lacks(config))
    assert {"eager", "aot_eager", "inductor"} <= {config.name for config in settings.configs}


def test_configuration_named_twice_runs_once(mutate):
    _, settings = mutate(summary(), "--config", "aot_eager,aot_eager")
    assert settings is not None
    assert [config.name for config in settings.configs] == ["aot_eager"]


def test_configurations_from_a_file_run_without_being_named(mutate, tmp_path):
    (tmp_path / "more.toml").write_text("[configs.one]\n[configs.two]\ndynamic = true\n")
    _, settings = mutate(summary(), "--configs-from", "more.toml")
    assert settings is not None
    assert [config.name for config in settings.configs] == ["one", "two"]


def test_json_has_nothing_but_events_on_stdout(mutate):
    result, _ = mutate(summary(findings=1), "--format", "json", "--log-level", "debug", events=(finding_made(),))
    events = [json.loads(line)["event"] for line in result.stdout.splitlines()]
    assert events == ["start", "finding", "summary"]


def test_text_shows_the_finding_and_the_totals(mutate):
    result, _ = mutate(summary(findings=1, buckets=1), events=(finding_made(),))
    assert "eqfuzz replay ab12cd34ef --out eqfuzz-out" in result.stdout
    assert "1 finding in 1 bucket in eqfuzz-out/findings" in result.stdout


@pytest.mark.parametrize(("level", "message"), [("debug", True), ("DEBUG", True), ("info", False)])
def test_step_timings_are_logged_to_stderr_at_debug(mutate, level, message):
    events = (
        SeedStarted(index=0, seed="a.py"),
        SeedDone(index=0, seed="a.py", seconds=2.0, cpu_seconds=1.5, timings={"load": 0.25, "compile": 1.0}),
    )
    result, _ = mutate(summary(), "--log-level", level, events=events)
    for line in ("a.py: load 0.2500 s CPU", "a.py: compile 1.0000 s CPU", "a.py: run in 2.000 s, 1.500 s CPU"):
        assert (line in result.stderr) == message
    assert "load 0.250" not in result.stdout
