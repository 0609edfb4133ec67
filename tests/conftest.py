"""What the whole test run shares: the toolchain that runs keep, 15 CPU-seconds and 150 MB each time it is made."""

import collections
import os
import shutil
import tempfile

import pytest

collect_ignore = ["data"]

OURS = "eqfuzzTESTS"
"""Set where XDG_CACHE_HOME is this test run's own."""

SLOWEST = 40
"""How many files are named with the time that their tests take."""


def pytest_configure(config: pytest.Config) -> None:
    """The first process of the run makes the folder; xdist's workers inherit its name."""
    if OURS not in os.environ:
        os.environ[OURS] = os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="eqfuzz-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(OURS), ignore_errors=True))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What is marked ``cuda`` is skipped where torch finds no device."""
    if item.get_closest_marker("cuda"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("needs a CUDA device")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow tests first, in each of the two halves that xdist deals out, so that none of them is left for the end.

    Tests of one file stay together: they share fixtures that cost something.
    """
    slow = [item for item in items if item.get_closest_marker("slow")]
    rest = [item for item in items if not item.get_closest_marker("slow")]
    # Those that wait for time limits first of all: nothing is left beside them at the end.
    files = sorted(dict.fromkeys(item.path for item in slow), key=lambda path: "robustness" not in path.parts)
    first, second = (
        [item for file in half for item in slow if item.path == file] for half in (files[::2], files[1::2])
    )
    middle = max(len(items) // 2 - len(first), 0)
    items[:] = [*first, *rest[:middle], *second, *rest[middle:]]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """With ``--durations``, also the files that take longest: most tests are one of many cases of a short function."""
    if config.getoption("durations") is None:
        return
    seconds: collections.Counter[str] = collections.Counter()
    count: collections.Counter[str] = collections.Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                path = report.nodeid.partition("::")[0]
                seconds[path] += report.duration
                count[path] += report.when == "call"
    terminalreporter.section("slowest files")
    for path, spent in seconds.most_common(SLOWEST):
        terminalreporter.line(f"{spent:6.0f} s  {count[path]:5} tests  {path}")
    terminalreporter.line(f"{sum(seconds.values()):6.0f} s  {sum(count.values()):5} tests  all files")
