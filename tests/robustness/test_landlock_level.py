"""Where bubblewrap is missing: Landlock, seccomp and limits keep a case from what it must not reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eqfuzz.run.messages.job import ChildEvent, ChildExit
from eqfuzz.run.sandbox import detection, landlock, launcher
from tests.robustness.hostile_world import CLEAN, SECRET, World, verdicts, world_around

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        landlock.version() < landlock.NEEDED, reason=f"the kernel's Landlock has version {landlock.version()}"
    ),
]

ATTACKS = [
    "connect_abstract",
    "connect_by_system_call",
    "connect_tcp",
    "open_devices",
    "pass_descriptors",
    "raise_limits",
    "rare_system_calls",
    "read_environ_of_all",
    "read_environment",
    "read_memory_of_parent",
    "read_proc_links",
    "read_run_folder",
    "resolve_names",
    "trace_parent",
    "write_canary",
    "write_corpus",
]
"""Attacks that would do no lasting harm if they succeeded."""

SIGNALS = """
import os, signal
for pid in (@PARENT@, os.getppid()):
    try:
        os.kill(pid, signal.SIGCONT)
        print("BREACH", pid)
    except PermissionError as error:
        print(pid, error)
"""


def output_of(events: list[ChildEvent]) -> str:
    assert isinstance(events[-1], ChildExit)
    return events[-1].output


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_API_KEY", SECRET)
        support = detection.SandboxSupport(detection.SandboxLevel.LANDLOCK, "switched off for a test")
        patch.setattr(launcher, "sandbox_support", lambda: support)
        with world_around(tmp_path_factory.mktemp("world")) as world:
            yield world


def test_program_is_compiled_under_landlock(world: World) -> None:
    events = world.run(CLEAN, compiled=True)
    assert verdicts(events) == ["agree"], events


@pytest.mark.long
@pytest.mark.parametrize("name", ATTACKS)
def test_attack_fails_under_landlock(name: str, world: World) -> None:
    before = world.everything_outside()
    events = world.run(world.text_of(Path(__file__).parent / "attacks" / f"{name}.py"))
    output = output_of(events)
    assert SECRET not in str(events)
    assert "BREACH" not in output
    assert world.everything_outside() == before
    assert not list((world.folder / "out" / "findings").glob("*"))
    assert not world.has_connection()


def test_processes_outside_cannot_be_signalled(world: World, tmp_path: Path) -> None:
    attack = tmp_path / "signals.py"
    attack.write_text(SIGNALS + CLEAN)
    output = output_of(world.run(world.text_of(attack)))
    assert "Operation not permitted" in output
    assert "BREACH" not in output
