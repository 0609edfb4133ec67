"""A disk that fills up while a campaign runs: it says so, waits, and ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.robustness.campaigns import (
    PRETENDED,
    Kept,
    Pretending,
    Running,
    assert_same,
    configured,
    stored_state,
    undamaged,
    whole_lines,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

MIB = 2**20


class SmallDisk:
    """A tmpfs at ``place``."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._ballast = place / "ballast"

    def fill(self) -> None:
        """To the last byte that can be had."""
        descriptor = os.open(self._ballast, os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.lseek(descriptor, 0, os.SEEK_END)
                os.write(descriptor, bytes(MIB))
        except OSError:
            pass
        finally:
            os.close(descriptor)
        assert shutil.disk_usage(self.place).free < MIB

    def free(self) -> None:
        self._ballast.unlink()


def mounted(place: Path, size_mb: int) -> Iterator[SmallDisk]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "eqfuzz", str(place)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(place)
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    yield from mounted(tmp_path / "small", 128)


@pytest.fixture
def larger_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """With room for what a campaign's compilers leave, and for torch's header."""
    yield from mounted(tmp_path / "larger", 700)


def test_campaign_survives_a_disk_that_is_full_again_and_again(
    disk: SmallDisk, undisturbed_like: Callable[[Kept], Kept]
) -> None:
    """Database, programs, buckets and findings of a pretended campaign lie on the disk that is full."""
    out = disk.place / "out"
    running = Pretending(out, "--seconds", 0.05, "--patience", 0.2, cells=150)
    running.wait_for("item", 1)
    rng = random.Random(0)
    fills = 0
    while running.process.poll() is None:
        disk.fill()
        fills += 1
        time.sleep(rng.uniform(0.2, 1.0))
        disk.free()
        time.sleep(rng.uniform(0.1, 1.5))
    waited = running.ended()["waited"]
    assert fills > 2
    assert "disk full" in waited, waited
    assert waited[-1] == "", waited
    whole = stored_state(out, PRETENDED)
    assert_same(whole, undisturbed_like(whole))
    assert undamaged(out, PRETENDED) == []
    assert whole_lines(out / PRETENDED / "events.ndjson")


@pytest.mark.long
def test_compiling_campaign_resumes_when_a_full_disk_has_space_again(tmp_path: Path, larger_disk: SmallDisk) -> None:
    file = configured(tmp_path, cells=8)
    undisturbed = Running(tmp_path / "undisturbed", "night", "--file", file)
    assert undisturbed.ended(1500) == 1, undisturbed.errors
    out = larger_disk.place / "out"
    running = Running(out, "night", "--file", file, logs=tmp_path)
    for number in (1, 3):
        assert running.wait_for(lambda event, number=number: event["event"] == "item" and event["index"] > number, 1500)
        time.sleep(2.0)
        larger_disk.fill()
        time.sleep(20.0)
        larger_disk.free()
    assert running.ended(1500) == 1, running.errors
    waited = [event["cause"] for event in running.events() if event["event"] == "waiting"]
    assert "disk full" in waited, waited
    assert waited[-1] == "", waited
    assert_same(stored_state(out, "night"), stored_state(tmp_path / "undisturbed", "night"))
    assert undamaged(out, "night") == []
