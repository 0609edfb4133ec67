"""``eqfuzz campaign`` with a language model among its sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eqfuzz.program.provenance import provenance_of
from tests.scripted_model import MOST_OUTPUT, Act, ScriptedModel, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

KEY = "sk-proj-Vq3xTz81secretLm0pWd/77+"


def configured(folder: Path, model: ScriptedModel, **budget: object) -> Path:
    """Nothing but programs of ``model``, few cells for each."""
    lines = [
        "[budget]",
        *(f"{name} = {value}" for name, value in budget.items()),
        "[sources]",
        "seeds = []",
        "templates = []",
        "[model]",
        'name = "played"',
        f'base_url = "{model.url}"',
        'key_env = "PLAYED_KEY"',
        'price = "1,4"',
        f"max_tokens = {MOST_OUTPUT}",
        "attempts = 2",
        "[rewriting]",
        "variants = 0",
        "[compiling]",
        'configs = ["inductor"]',
        "[judging]",
        "steps = 0",
        "input_sets = 1",
        "[feedback]",
        "enabled = false",
        "epoch = 4",
    ]
    path = folder / "eqfuzz.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(file: Path, out: Path, *arguments: object):
    command = [sys.executable, "-m", "eqfuzz", "campaign", "--file", file, "--out", out, "--format", "json", *arguments]
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, "PLAYED_KEY": KEY},
        capture_output=True,
        text=True,
        timeout=1100,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


@pytest.mark.long
def test_campaign_ends_when_dollars_are_spent(tmp_path):
    """What was bought by then is run, in the sandbox; resumed, nothing is paid for twice."""
    acts = [Act("fence"), Act("syntax"), Act("load", repairable=False), Act("prose"), Act("429"), Act("fence")]
    out = tmp_path / "out"
    with serving() as server:
        model = ScriptedModel(server, acts, echo=True)
        code, events, errors = run(configured(tmp_path, model, dollars=0.012), out, "--jobs", 1)
        assert code in (0, 1), errors
        last = events[-1]
        assert last["event"] == "summary"
        assert last["why"] == "dollars"
        figures, answers, charged = last["figures"], model.answers, model.dollars_charged
        assert charged <= figures["dollars"] <= 0.012
        assert figures["queries"] == answers
        samples = [event for event in events if event["event"] == "sample"]
        seeds = [event for event in samples if event["file"]]
        assert len(seeds) >= 2
        assert figures["samples"]["accepted"] == len(seeds) == figures["programs"]
        sources = [event for event in events if event["event"] == "source"]
        assert [(event["detail"], event["ended"]) for event in sources] == [("the budget is spent", True)]
        stored = [event for event in events if event["event"] == "stored"]
        assert {event["state"] for event in stored} == {"done"}
        assert all(event["cells"] for event in stored)
        for event in seeds:
            assert provenance_of(Path(event["file"]).read_text()).untrusted

        code, events, errors = run(configured(tmp_path, model, dollars=0.012), out, "--jobs", 1)
        assert code in (0, 1), errors
        assert events[-1]["why"] == "dollars", errors
        assert (model.answers, model.dollars_charged) == (answers, charged)
        assert events[-1]["figures"]["programs"] == len(seeds)
    left = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert KEY.encode() not in left
    assert b"Bearer" not in left
    assert KEY not in errors


@pytest.mark.long
def test_unreachable_server_is_retried_while_other_sources_run(tmp_path):
    with serving() as server:
        model = ScriptedModel(server, [])
        file = configured(tmp_path, model, cells=4)
    file.write_text(file.read_text().replace("templates = []", 'templates = ["default"]'))
    code, events, errors = run(file, tmp_path / "out", "--jobs", 1)
    assert code in (0, 1), errors
    assert events[-1]["why"] == "cells"
    assert any("no answer" in event["detail"] and not event["ended"] for event in events if event["event"] == "source")


def test_invalid_model_is_one_line(tmp_path):
    with serving() as server:
        file = configured(tmp_path, ScriptedModel(server, []))
    file.write_text(file.read_text().replace("PLAYED_KEY", "NOT_THERE"))
    code, events, errors = run(file, tmp_path / "out")
    assert code == 2
    assert not events
    assert errors.strip() == "eqfuzz: model.key_env: the environment variable NOT_THERE holds no key"
