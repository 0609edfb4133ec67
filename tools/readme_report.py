"""The report on the first screen of the README, made by the command above it: ``python -m tools.readme_report``.

Writes the block of the README; ``--check`` only compares. The block belongs to one release of torch, which it names.

Exit codes: 0 written or up to date, 1 ``--check`` and another report, 2 bad usage, 3 the command printed no report.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
OUT = "eqfuzz-out"

_BLOCK = re.compile(r"(?<=<!-- report: begin -->\n)```console\n\$ (?P<command>eqfuzz [^\n]+)\n.*?```\n", re.DOTALL)
_PANEL = re.compile(r"^╭.*?^╰[^\n]*\n(?:python|eqfuzz)[^\n]*\n(?:eqfuzz[^\n]*\n)?", re.DOTALL | re.MULTILINE)
_TORCH = re.compile(r"│ config .*torch (\d+\.\d+\.\d+)")


class NoReport(Exception):
    """The command printed no panel of a finding; ``str()`` is its output."""


def command_of(readme: str) -> str:
    """The command whose report the README shows. Raises ValueError where it has no such block."""
    block = _BLOCK.search(readme)
    if block is None:
        raise ValueError("no report between <!-- report: begin --> and <!-- report: end -->")
    return block["command"]


def release_of(readme: str) -> str:
    """The release of torch that the report names, without its build. Raises ValueError where it names none."""
    release = _TORCH.search(readme)
    if release is None:
        raise ValueError("the report names no release of torch")
    return release[1]


def report_of(command: str) -> str:
    """The panel of the first finding that ``command`` reports, 100 columns wide. Raises NoReport."""
    with tempfile.TemporaryDirectory() as out:
        arguments = [sys.executable, "-m", *shlex.split(command), "--out", out]
        environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        panel = _PANEL.search(done.stdout)
        if panel is None:
            raise NoReport(f"{done.stdout}{done.stderr}")
        lines = panel[0].replace(f" --out {out}", "").replace(out, OUT).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def with_report(readme: str, report: str) -> str:
    """``readme`` with ``report`` in its block."""
    command = command_of(readme)
    return _BLOCK.sub(lambda _: f"```console\n$ {command}\n{report}```\n", readme)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.readme_report", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    only_compare = parser.parse_args().check
    readme = README.read_text(encoding="utf-8")
    try:
        new = with_report(readme, report_of(command_of(readme)))
    except NoReport as error:
        print(f"readme_report: no report was printed:\n{error}", file=sys.stderr)
        return 3
    if only_compare:
        return 0 if new == readme else 1
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
