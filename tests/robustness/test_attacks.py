"""Programs that try to get out of the sandbox, each from ``attacks/``: none succeeds, and what comes after is unharmed.

The policy on their text, which refuses every one of them, is switched off here.
"""

from __future__ import annotations

import dataclasses
import os
import socket
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eqfuzz.program.formats import recognise
from eqfuzz.program.program import InvalidSeed
from eqfuzz.program.provenance import LLM, Provenance
from eqfuzz.run import toolchain
from eqfuzz.run.case import Case
from eqfuzz.run.configs import DEFAULT_CONFIG
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import GIB, MIB, Limits
from eqfuzz.run.pool import Pool
from eqfuzz.run.sandbox import enclosure
from eqfuzz.run.sandbox.level import Level, found

ATTACKS = sorted((Path(__file__).parent / "attacks").glob("*.py"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(found().level is not Level.BUBBLEWRAP, reason=f"no bubblewrap here: {found().lacks}"),
]

SECRET = "key-that-nobody-may-see"
MARK = "eqfuzz-breach"
MEMORY_BYTES = GIB
DISK_BYTES = 64 * MIB

FORBIDDEN = {
    "bomb_of_forks": "processes",
    "bomb_of_memory_in_parts": "MiB of memory",
    "too_many_files": "files",
    "forge_other_cell": "a variant that the case does not have",
    "forge_configuration": "a cell that the case does not have",
    "forge_shapes": "a false cell event",
    "forge_garbage": "not an event",
    "forge_long_line": "an event of more than",
    "forge_surrogates": "a false invalid event",
    "forge_restart": "not for a case to say",
    "forge_time": "a stage of more than",
    "flood_events": "events",
}
"""Attacks that are ended, and the words that say for what."""

LASTING = (
    "change_forking_process",
    "fill_folders",
    "kill_everybody",
    "leave_modules",
    "poison_kernels",
    "race_of_symlinks",
    "symlinks_to_outside",
)
"""Attacks after which a compiled program is looked at."""

COMPILED = ("answer_for_children",)
"""Attacks on what happens when their program is compiled."""

CLEAN = """
    import torch

    def program(x):
        return torch.cos(x) * 3 + 1

    def inputs(rng):
        yield torch.linspace(0, 1, 64),
"""


@dataclasses.dataclass
class World:
    """What lies around the sandbox, and must stay as it is."""

    folder: Path
    pool: Pool
    listening: list[socket.socket]
    names: dict[str, str]

    def text_of(self, attack: Path) -> str:
        text = attack.read_text(encoding="utf-8")
        for name, value in self.names.items():
            text = text.replace(f"@{name}@", value)
        return text

    def run(self, text: str, *, compiled: bool = False) -> list[dict[str, Any]]:
        program = dataclasses.replace(recognise(text, "attack.py"), untrusted=True)
        case = Case(
            program=program,
            seed=0,
            rules=(),
            strategy="none",
            depth=1,
            variants=0,
            devices=("cpu",),
            configs=(DEFAULT_CONFIG,),
            load_seconds=30.0,
            eager_seconds=10.0,
            compile_seconds=90.0,
            in_batches=True,
            dry_run=not compiled,
            steps=0,
        )
        return list(self.pool.run(case.to_json()))

    def everything_outside(self) -> dict[str, bytes]:
        """Every file that an attack is told of, with its content; kernels of the run that the parent made are not."""
        home = self.folder / "home"
        return {str(path): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}

    def somebody_called(self) -> bool:
        for end in self.listening:
            try:
                end.recv(1) if end.type == socket.SOCK_DGRAM else end.accept()
            except BlockingIOError:
                continue
            return True
        return False


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    home = folder / "home"
    (home / "canary").mkdir(parents=True)
    (home / "secret").write_text(SECRET)
    (home / "canary" / "file").write_text("alive")
    tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    abstract, path = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    tcp.bind(("127.0.0.1", 0))
    udp.bind(("127.0.0.1", 0))
    abstract.bind(f"\0eqfuzz-canary-{os.getpid()}")
    path.bind(str(home / "socket"))
    for end in (tcp, abstract, path):
        end.listen()
    listening = [tcp, udp, abstract, path]
    for end in listening:
        end.setblocking(False)
    names = {
        "PARENT": str(os.getpid()),
        "HOME": str(home),
        "SECRET_FILE": str(home / "secret"),
        "CANARY": str(home / "canary" / "file"),
        "CANARY_FOLDER": str(home / "canary"),
        "OUT": str(folder / "out"),
        "PORT": str(tcp.getsockname()[1]),
        "UDP_PORT": str(udp.getsockname()[1]),
        "ABSTRACT": f"eqfuzz-canary-{os.getpid()}",
        "SOCKET_FILE": str(home / "socket"),
        "MEMORY": str(MEMORY_BYTES),
        "DISK": str(DISK_BYTES),
        "MARK": MARK,
        "TOOLCHAIN": str(toolchain.place() or "/tmp"),
    }
    limits = Limits(load_s=30.0, memory_bytes=MEMORY_BYTES, output_bytes=MIB)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_API_KEY", SECRET)
        patch.setenv("TORCH_HUB_TOKEN", SECRET)
        patch.setattr(enclosure, "DISK_BYTES", DISK_BYTES)
        with Pool(Environment((folder / "out").resolve()), limits, jobs=1) as pool:
            yield World(folder, pool, listening, names)
    for end in listening:
        end.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda path: path.stem)
def test_an_attack_fails(attack: Path, world: World) -> None:
    before = world.everything_outside()
    toolchain_before = _stamps(toolchain.place())
    text = world.text_of(attack)

    events = world.run(text, compiled=attack.stem in COMPILED)

    ended, told = events[-1], str(events)
    assert ended["event"] == "exit"
    assert SECRET not in told
    assert "BREACH" not in ended["output"]
    assert attack.stem in COMPILED or not any("BREACH" in str(event) for event in events if event["event"] == "cell")
    assert not any(event["event"] == "restart" for event in events), told
    if attack.stem in FORBIDDEN:
        assert (ended["reason"], FORBIDDEN[attack.stem] in ended["detail"]) == ("forbidden", True), ended
    assert world.everything_outside() == before
    assert _stamps(toolchain.place()) == toolchain_before
    assert not (world.folder / "out" / "findings").exists()
    assert not list((world.folder / "out").rglob("breach*"))
    assert not world.somebody_called()
    assert not _processes_with(MARK)
    if attack.stem in LASTING:
        assert _verdicts(world.run(textwrap.dedent(CLEAN), compiled=True)) == ["agree"]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda path: path.stem)
def test_the_policy_refuses_it(attack: Path) -> None:
    text = Provenance(LLM).header() + attack.read_text(encoding="utf-8")
    for name in ("PORT", "UDP_PORT", "PARENT", "MEMORY", "DISK"):
        text = text.replace(f"@{name}@", "1")
    with pytest.raises(InvalidSeed, match="policy: "):
        recognise(text, "attack.py")


def test_there_are_forty() -> None:
    assert len(ATTACKS) >= 40


def _verdicts(events: list[dict[str, Any]]) -> list[str]:
    return [event["verdict"]["kind"] for event in events if event["event"] == "cell"]


def _stamps(folder: Path | None) -> dict[str, int]:
    """When each file below was changed last."""
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))} if folder is not None else {}


def _processes_with(mark: str) -> list[str]:
    """Command lines and names of processes that carry ``mark``."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes() + (entry / "comm").read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if mark.encode()[:15] in command and entry.name != str(os.getpid()):
                found.append(command.decode(errors="replace"))
    return found
