"""Backward runs in forks of a process that has compiled, because autograd was started before anything was compiled."""

import os
import subprocess
import sys

import pytest
import torch

pytestmark = pytest.mark.slow


def run(*command):
    variables = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=200, env=variables)


def test_backward_runs_in_forks_of_forks():
    ran = run("-m", "eqfuzz.run.processes.fork_check")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(torch.version.cuda is None, reason="only builds with CUDA count devices that are not there")
def test_the_check_fails_where_autograd_was_not_started_first():
    ran = run("-c", "import sys; from eqfuzz.run.processes.fork_check import check; sys.exit(0 if check() else 1)")
    assert ran.returncode == 1
    assert "fork-based multiprocessing" in ran.stderr.splitlines()[-1]
