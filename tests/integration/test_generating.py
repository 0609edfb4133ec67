"""Programs generated and compared at once, as a user runs it."""

import collections
import json
from pathlib import Path

import pytest

from eqfuzz.commands.generate_dag import generate_programs, run_programs
from eqfuzz.events.generate import ProgramGenerated, ProgramsRun
from eqfuzz.generate.dag.generate import ProgramGenerator
from eqfuzz.generate.dag.template import shipped_templates
from eqfuzz.mutate.settings import RewriteSettings, Settings
from eqfuzz.run.configs.named import BUILT_IN
from tests.commandline import eqfuzz

pytestmark = pytest.mark.slow


@pytest.mark.long
def test_generated_programs_are_compared(tmp_path):
    done = eqfuzz(
        "generate", "dag", "--count", 3, "--run", "--out", tmp_path, "--format", "json", "-p", 1, "--config", "eager"
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode in (0, 1), done.stderr
    names = [event["event"] for event in events]
    assert names.count("program") == 3
    assert names.count("generation") == 1
    assert names[-1] == "summary"
    assert events[-1]["seeds"] == 3
    assert events[-1]["cells"] >= 3
    assert not events[-1]["invalid"]
    assert names.index("generation") < names.index("start")
    assert names.index("programs") == len(names) - 2
    ran = events[-2]
    assert sorted(seed for seeds in ran["outcomes"].values() for seed in seeds) == [0, 1, 2]
    assert events[-1]["outcomes"] == {outcome: len(seeds) for outcome, seeds in ran["outcomes"].items()}
    assert events[-1]["compiled"]["graphs"] >= 3


def test_only_valid_programs_count_for_operators_and_outcomes_are_noted(tmp_path):
    events = []
    template = shipped_templates()["default"]
    generator = ProgramGenerator(template, depth=3)
    generate_programs(generator, "default", range(3), tmp_path, events.append, artifacts=True, runs=True)
    programs = [event for event in events if isinstance(event, ProgramGenerated)]
    broken = Path(programs[1].file)
    broken.write_text(broken.read_text().replace("def inputs(rng):", "def inputs(rng):\n    raise OSError\n"))
    settings = Settings(
        out=tmp_path, rewriting=RewriteSettings(strategy="none", variants=0), configs=(BUILT_IN["eager"],)
    )
    summary = run_programs(programs, generator, "default", settings, events.append)
    assert summary.invalid == 1
    (ran,) = [event for event in events if isinstance(event, ProgramsRun)]
    assert ran.outcomes["invalid"] == [programs[1].seed]
    uses = collections.Counter(name for one in (programs[0], programs[2]) for name in one.operators)
    assert ran.operators == uses
    status = [
        (tmp_path / "artifacts" / f"default-{seed}" / "summary.txt").read_text().splitlines()[3] for seed in range(3)
    ]
    outcomes = {seed: outcome for outcome, seeds in ran.outcomes.items() for seed in seeds}
    assert status == [f"status     {outcomes[seed]}" for seed in range(3)]
    assert status[1] == "status     invalid"


@pytest.mark.long
def test_text_report_ends_with_operators_and_failed_seeds(tmp_path):
    done = eqfuzz(
        "generate", "dag", "--count", 2, "--run", "--out", tmp_path, "-p", 1, "--config", "eager", "--verbose"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert sum(line.startswith("ok  ") and line.split()[1].endswith(".py") for line in lines) == 2
    assert "ok 2  ·  failed 0  ·  ignored 0" in lines
    assert sum(line.startswith("Operators ") for line in lines) == 1
    assert any(line.startswith("Operators run") for line in lines)
