"""kill -9 of any process of a run: the run continues or ends, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eqfuzz.run.processes.process_tree import children_of
from tests.commandline import write

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(600)]

SEED = """
    import torch
    def program(x): return torch.softmax(x.{function}(), -1) @ x
    def inputs(rng): yield rng.normal(7, 7, requires_grad=True)
"""


def alive(out: Path) -> dict[int, str]:
    """The processes that were given a place below ``out``, with the first of their command's words; no zombies."""
    processes = {}
    for entry in Path("/proc").iterdir():
        try:
            environment = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
            if str(out).encode() in environment and "State:\tZ" not in (entry / "status").read_text():
                processes[int(entry.name)] = (entry / "cmdline").read_bytes().decode().replace("\0", " ")
        except OSError:
            continue
    return processes


def eventually(find, seconds: float = 120.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := find():
            return result
        time.sleep(0.02)
    raise AssertionError("it never came")


@pytest.fixture
def run(tmp_path):
    """A run over three seeds that has begun to compile: its process, and where it writes."""
    for function in ("sinh", "tanh", "erf"):
        write(tmp_path / "seeds", f"{function}.py", SEED.format(function=function))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "eqfuzz", "mutate", str(tmp_path / "seeds"), "--out", str(out)]
    process = subprocess.Popen(
        [*command, "--variants", "3", "--jobs", "2", "--steps", "0", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process, out
    process.kill()
    process.communicate()


def forks_of(pid: int) -> list[int]:
    """Its children that have not become another program, as the C++ compiler has."""
    return [child for child in children_of(pid) if "eqfuzz.run.processes.zygote" in command_of(child)]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode()
    except OSError:
        return ""


def find_cells(parent: int) -> list[int]:
    """Processes of compiled cells: forks of cases, which are forks of the process that is warm."""
    return [cell for zygote in forks_of(parent) for case in forks_of(zygote) for cell in forks_of(case)]


def test_no_process_or_folder_is_left_when_the_parent_is_killed(run) -> None:
    process, out = run
    eventually(lambda: find_cells(process.pid))
    process.kill()
    process.wait()
    time.sleep(5)
    assert alive(out) == {}


@pytest.mark.parametrize("victim", ["zygote", "case", "cell"])
def test_no_process_or_folder_is_left_when_a_descendant_is_killed(run, victim) -> None:
    process, out = run
    cell = eventually(lambda: find_cells(process.pid))[0]
    case = int(Path(f"/proc/{cell}/stat").read_text().rsplit(")", 1)[1].split()[1])
    (zygote,) = forks_of(process.pid)
    os.kill({"zygote": zygote, "case": case, "cell": cell}[victim], signal.SIGKILL)
    output, errors = process.communicate(timeout=400)
    assert process.returncode in (0, 1), errors
    assert '"errors": []' in output.splitlines()[-1], output.splitlines()[-1]
    time.sleep(5)
    assert alive(out) == {}
