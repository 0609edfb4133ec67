"""The surroundings of a sandbox that a program tries to escape from."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from eqfuzz.program.formats import recognise
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.environment import Environment
from eqfuzz.run.kernels import toolchain
from eqfuzz.run.limits import GIB, MIB, Limits
from eqfuzz.run.messages.job import ChildEvent
from eqfuzz.run.messages.seed_jobs import CellReport, RunJob
from eqfuzz.run.processes.pool import Pool

SECRET = "key-that-must-stay-secret"
MARK = "eqfuzz-breach"
MEMORY_BYTES = GIB
DISK_BYTES = 64 * MIB

CLEAN = """
import torch

def program(x):
    return torch.cos(x) * 3 + 1

def inputs(rng):
    yield torch.linspace(0, 1, 64),
"""
"""A program that agrees with itself compiled."""


@dataclasses.dataclass
class World:
    """Files, sockets and processes outside the sandbox, which must not change."""

    folder: Path
    pool: Pool
    listening: list[socket.socket]
    names: dict[str, str]

    def text_of(self, attack: Path) -> str:
        text = attack.read_text(encoding="utf-8")
        for name, value in self.names.items():
            text = text.replace(f"@{name}@", value)
        return text

    def run(self, text: str, *, compiled: bool = False) -> list[ChildEvent]:
        program = dataclasses.replace(recognise(text, "attack.py"), untrusted=True)
        job = RunJob(
            program=program,
            limits=Limits(load_s=30.0),
            strategy="none",
            variants=0,
            configs=(DEFAULT_CONFIG,),
            in_batches=True,
            dry_run=not compiled,
            steps=0,
        )
        return list(self.pool.stream(job))

    def everything_outside(self) -> dict[str, bytes]:
        """Every file whose path an attack gets, with its content; not the kernels that the parent has built."""
        home = self.folder / "home"
        return {str(path): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}

    def has_connection(self) -> bool:
        for end in self.listening:
            try:
                end.recv(1) if end.type == socket.SOCK_DGRAM else end.accept()
            except BlockingIOError:
                continue
            return True
        return False


@contextlib.contextmanager
def world_around(folder: Path) -> Iterator[World]:
    """A world in the empty ``folder``; the environment must contain the secret already."""
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
    with Pool(Environment((folder / "out").resolve()), limits, jobs=1) as pool:
        yield World(folder, pool, listening, names)
    for end in listening:
        end.close()


def verdicts(events: list[ChildEvent]) -> list[str]:
    """The kinds of verdict on the cells."""
    return [str(event.verdict.kind) for event in events if isinstance(event, CellReport)]


def stamps(folder: Path | None) -> dict[str, int]:
    """The time of the last change of each file below ``folder``, in nanoseconds."""
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))} if folder is not None else {}


def processes_with(mark: str) -> list[str]:
    """Command lines and names of processes that contain ``mark``."""
    commands: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes() + (entry / "comm").read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if mark.encode()[:15] in command and entry.name != str(os.getpid()):
                commands.append(command.decode(errors="replace"))
    return commands
