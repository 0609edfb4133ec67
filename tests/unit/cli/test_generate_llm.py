"""``eqfuzz generate llm``: one line for whatever is wrong, and a dry run that sends nothing."""

import json
import socket

import pytest
from typer.testing import CliRunner

from eqfuzz.cli.app import app
from eqfuzz.rewrite.rules.selection import select
from eqfuzz.rewrite.rules.user_rules import known_rules

LOCAL = ("--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--price", "0,0")


def invoke(*arguments):
    return CliRunner().invoke(app, ["generate", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "--model: name one; no requests are sent without it"),
        (("--model", "gpt-4o-mini"), "--key-env: the environment variable OPENAI_API_KEY holds no key"),
        ((*LOCAL, "--key-env", "NOBODYS"), "the environment variable NOBODYS holds no key"),
        ((*LOCAL, "--key-file", "/nowhere"), "--key-file: /nowhere: cannot be read"),
        (("--model", "m", "--base-url", "localhost"), "--base-url: 'localhost' is not an address"),
        ((*LOCAL[:4],), "--price: no price is known for 'm' at 127.0.0.1:1"),
        ((*LOCAL, "--budget", "much"), "--budget: 'much' is no amount of dollars"),
        ((*LOCAL, "--prompt", "lops"), "--prompt: no prompt 'lops', did you mean 'loops'?"),
        ((*LOCAL, "--prompt", "none.toml"), "--prompt: none.toml: cannot be read"),
        ((*LOCAL, "--target", "cat"), "--target: it needs a prompt that shows a part"),
        ((*LOCAL, "--prompt", "white-box", "--target", "pass:nothing"), "no part of this torch's compiler matches"),
        ((*LOCAL, "--strategy", "all"), "--strategy: it is about comparing, so it goes with --run"),
        ((*LOCAL, "--dry-run", "--run"), "--dry-run: there is nothing to run"),
        ((*LOCAL, "--timeout", "soon"), "--timeout:"),
        ((*LOCAL, "--prompt", "evolve", "--corpus", "/nowhere"), "/nowhere: no such file or folder"),
    ],
)
def test_bad_input_is_one_line(arguments, problem, monkeypatch, tmp_path):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = invoke("llm", *arguments, "--out", tmp_path)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_dry_run_sends_nothing_and_needs_no_key(monkeypatch, tmp_path):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("something is sent"))
    more = "--prompt", "paper,white-box,evolve,fill-in", "--count", 8, "--dry-run", "--budget", 1, "--out", tmp_path
    result = invoke("llm", "--model", "gpt-4o-mini", *more, "--format", "json")
    assert result.exit_code == 0, result.stderr
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events] == ["prompt"] * 8 + ["summary"]
    assert "PMbodule" in events[0]["messages"][0]["content"]
    assert events[1]["part"]
    assert 0 < events[-1]["dollars"] < events[-1]["at_most"]
    assert events[-1]["prompts"] == 8
    output = invoke("llm", "--model", "gpt-4o-mini", *more)
    assert "nothing was sent" in output.stdout
    assert "You are a Python code generator" in output.stdout
    assert not list(tmp_path.iterdir())


def test_prompts_and_parts_are_listed():
    assert "white-box" in invoke("prompts").stdout
    assert json.loads(invoke("prompts", "--format", "json").stdout.splitlines()[0])["request"]
    output = invoke("parts", "pass:post_grad.pointless*").stdout
    assert "torch/_inductor/fx_passes/post_grad.py:" in output
    assert len(output.splitlines()) == 1
    assert json.loads(invoke("parts", "lowering:lowering.cat", "--format", "json").stdout)["operators"] == ["aten.cat"]


@pytest.mark.parametrize(
    ("glob", "message"),
    [
        ("zzzz", "no part of the compiler fits 'zzzz'"),
        ("lowering:lowering.catt", "no part of the compiler fits 'lowering:lowering.catt', did you mean "),
    ],
)
def test_part_that_does_not_exist_is_refused(glob, message):
    result = invoke("parts", glob)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"eqfuzz: {message}")
    assert len(result.stderr.splitlines()) == 1


def test_paper_rules_are_ten():
    assert len(select(known_rules(), "paper")) == 10
