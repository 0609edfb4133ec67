"""The notice while PyTorch is imported: on a terminal only, and nothing of it stays."""

from __future__ import annotations

import subprocess
import sys

from eqfuzz.cli.loading_notice import NOTICE
from tests.terminal import run_on_terminal

SCRIPT = """
import os, sys, signal
from eqfuzz.cli import _exit_at_once
from eqfuzz.cli.loading_notice import loading_notice
with loading_notice():
    {inside}
print("after")
"""


def command(inside: str = "pass") -> list[str]:
    return [sys.executable, "-c", SCRIPT.format(inside=inside)]


def test_nothing_of_the_notice_stays():
    assert run_on_terminal(command()) == (["after"], 0)


def test_notice_is_on_the_terminal_until_the_block_ends():
    assert run_on_terminal(command("os._exit(3)")) == ([NOTICE], 3)


def test_interruption_is_written_over_the_notice():
    lines, status = run_on_terminal(command("_exit_at_once()"))
    assert status == 130
    assert lines == ["eqfuzz: interrupted"]


def test_file_gets_no_notice():
    ran = subprocess.run(command(), capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("after\n", "")
