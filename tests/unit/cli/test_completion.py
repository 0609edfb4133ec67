"""Shells complete verbs, options and their values."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from eqfuzz.cli.app import app


def completed(line: str) -> list[str]:
    """What bash offers for the last word of a command line."""
    words = line.split(" ")
    environment = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_EQFUZZ_COMPLETE": "complete_bash"}
    result = CliRunner().invoke(app, [], env=environment, prog_name="eqfuzz")
    assert result.exit_code == 0
    return result.output.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("eqfuzz mut", ["mutate"]),
        ("eqfuzz mutate --strat", ["--strategy"]),
        ("eqfuzz mutate --strategy ", ["each", "random", "all", "none"]),
        ("eqfuzz rules ", ["list", "show", "check", "explain", "survival"]),
        ("eqfuzz rules sh", ["show"]),
    ],
)
def test_words_are_completed(line: str, words: list[str]):
    assert completed(line) == words
