"""What the whole test run shares: Inductor's precompiled header, 7 CPU-seconds and 150 MB each time it is built."""

import os
import shutil
import tempfile

import pytest

from tests.commandline import HEADERS


def pytest_configure(config: pytest.Config) -> None:
    """The first process of the run makes the folder; xdist's workers inherit its name."""
    if HEADERS not in os.environ:
        os.environ[HEADERS] = tempfile.mkdtemp(prefix="eqfuzz-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(HEADERS), ignore_errors=True))
