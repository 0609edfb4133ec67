"""Programs in ``attacks/`` that try to escape from the sandbox: none succeeds, and later jobs are unharmed.

The policy on their text, which refuses every one of them, is switched off here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eqfuzz.program.formats import recognise
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.provenance import LLM, Provenance
from eqfuzz.run.kernels import toolchain
from eqfuzz.run.messages.job import ChildExit, JobRestarted
from eqfuzz.run.messages.seed_jobs import CellReport
from eqfuzz.run.sandbox import launcher
from eqfuzz.run.sandbox.detection import SandboxLevel, sandbox_support
from tests.robustness.hostile_world import (
    CLEAN,
    DISK_BYTES,
    MARK,
    SECRET,
    World,
    processes_with,
    stamps,
    verdicts,
    world_around,
)

ATTACKS = sorted((Path(__file__).parent / "attacks").glob("*.py"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        sandbox_support().level is not SandboxLevel.BUBBLEWRAP, reason=f"no bubblewrap here: {sandbox_support().lacks}"
    ),
]

FORBIDDEN = {
    "bomb_of_forks": "processes",
    "bomb_of_memory_in_parts": "MiB of memory",
    "too_many_files": "files",
    "forge_other_cell": "a variant that the job does not have",
    "forge_configuration": "a cell that the job does not have",
    "forge_shapes": "a malformed cell event",
    "forge_garbage": "not an event",
    "forge_long_line": "an event of more than",
    "forge_surrogates": "not an event",
    "forge_restart": "no event of this job",
    "forge_time": "a stage of more than",
    "flood_events": "events",
}
"""Attacks whose child is ended, and a part of the reason."""

LASTING = (
    "change_forking_process",
    "fill_folders",
    "kill_everybody",
    "leave_modules",
    "poison_kernels",
    "race_of_symlinks",
    "symlinks_to_outside",
)
"""Attacks after which another program is compiled and judged."""

COMPILED = ("answer_for_children",)
"""Attacks whose program must be compiled."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_API_KEY", SECRET)
        patch.setenv("TORCH_HUB_TOKEN", SECRET)
        patch.setattr(launcher, "DISK_BYTES", DISK_BYTES)
        with world_around(tmp_path_factory.mktemp("world")) as world:
            world.run(CLEAN, compiled=True)  # the first server that starts fills the shared caches
            yield world


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda path: path.stem)
def test_attack_fails_in_the_sandbox(attack: Path, world: World) -> None:
    before = world.everything_outside()
    toolchain_before = stamps(toolchain.place())
    text = world.text_of(attack)

    events = world.run(text, compiled=attack.stem in COMPILED)

    ended, text_of_events = events[-1], str(events)
    assert isinstance(ended, ChildExit)
    assert SECRET not in text_of_events
    assert "BREACH" not in ended.output
    assert attack.stem in COMPILED or not any("BREACH" in str(e) for e in events if isinstance(e, CellReport))
    assert not any(isinstance(event, JobRestarted) for event in events), text_of_events
    if attack.stem in FORBIDDEN:
        assert (ended.reason, FORBIDDEN[attack.stem] in ended.detail) == ("forbidden", True), ended
    assert world.everything_outside() == before
    assert stamps(toolchain.place()) == toolchain_before
    assert not (world.folder / "out" / "findings").exists()
    assert not list((world.folder / "out").rglob("breach*"))
    assert not world.has_connection()
    assert not processes_with(MARK)
    if attack.stem in LASTING:
        assert verdicts(world.run(CLEAN, compiled=True)) == ["agree"]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda path: path.stem)
def test_policy_refuses_every_attack(attack: Path) -> None:
    text = Provenance(LLM).header() + attack.read_text(encoding="utf-8")
    for name in ("PORT", "UDP_PORT", "PARENT", "MEMORY", "DISK"):
        text = text.replace(f"@{name}@", "1")
    with pytest.raises(InvalidSeed, match="policy: "):
        recognise(text, "attack.py")


def test_there_are_at_least_forty_attacks() -> None:
    assert len(ATTACKS) >= 40
