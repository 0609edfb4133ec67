"""A PostgreSQL server of our own: Debian's package, started on a private port and folder, and stopped again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
import pytest

BINARIES = Path("/usr/lib/postgresql")
USER = "postgres"
SECONDS = 300.0
"""Wall seconds that a step of the server may take on a loaded machine."""


def binaries() -> Path:
    """Where ``initdb`` and ``pg_ctl`` of the newest version are; installed where root may. Skips the test otherwise."""
    if folder := _installed():
        return folder
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        pytest.skip("no PostgreSQL below /usr/lib/postgresql, and only root with apt-get can install it")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "--no-install-recommends", "postgresql"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS)
    if (folder := _installed()) is None:
        pytest.skip(f"PostgreSQL cannot be installed: {' '.join((done.stderr or done.stdout).split())[-200:]}")
    return folder


def _installed() -> Path | None:
    folders = [folder for folder in BINARIES.glob("*/bin") if (folder / "initdb").exists()]
    return max(folders, key=lambda folder: float(folder.parent.name), default=None)


class Postgres:
    """A server with an empty cluster, started. Use as a context manager: its folder goes with it."""

    def __init__(self) -> None:
        self._binaries = binaries()
        self._folder = Path(tempfile.mkdtemp(prefix="eqfuzz-postgres-", dir="/var/tmp"))
        self._data = self._folder / "data"
        self._port = _free_port()
        self._as_user: list[str] = []
        if os.geteuid() == 0:  # it refuses to run as root
            if shutil.which("runuser") is None:
                pytest.skip("PostgreSQL does not run as root, and there is no runuser")
            shutil.chown(self._folder, USER)
            self._as_user = ["runuser", "-u", USER, "--"]

    def __enter__(self) -> Self:
        self._do("initdb", "--auth=trust", f"--username={USER}", "--no-sync", "-E", "UTF8", "-D", str(self._data))
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if (self._data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        # Without fsync: what crashes here is the server, never the machine.
        settings = (
            f"-p {self._port} -c fsync=off -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder}"
        )
        log = str(self._folder / "log")
        self._do("pg_ctl", "-D", str(self._data), "-w", "-t", str(int(SECONDS)), "-l", log, "-o", settings, "start")

    def stop(self, mode: str = "immediate") -> None:
        """``immediate`` is what a crash is for its clients: no goodbye, and recovery at the next start."""
        self._do("pg_ctl", "-D", str(self._data), "-w", "-t", str(int(SECONDS)), "-m", mode, "stop")

    @property
    def pid(self) -> int:
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def database(self, name: str) -> str:
        """The URL of a new, empty database."""
        with psycopg.connect(f"postgresql://{USER}@127.0.0.1:{self._port}/postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return f"postgresql://{USER}@127.0.0.1:{self._port}/{name}"

    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    def _do(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self._binaries / program), *arguments]
        # Not through pipes: the server would inherit them, so their end would never be seen.
        with tempfile.TemporaryFile(dir=self._folder) as output:
            done = subprocess.run(command, stdout=output, stderr=output, cwd=self._folder, timeout=SECONDS + 60)
            output.seek(0)
            assert done.returncode == 0, output.read().decode(errors="replace")[-2000:]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
