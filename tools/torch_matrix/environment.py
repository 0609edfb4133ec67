"""Virtual environments with one release of torch and this checkout of eqfuzz."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = ("pytest>=8", "pytest-timeout>=2.3", "pytest-xdist>=3.6", "hypothesis>=6.100", "psutil>=5.9")
"""Requirements of the contract test besides eqfuzz."""


class BadVersion(Exception):
    """A version that is not a release of torch; ``str()`` is one line."""


class InstallFailed(Exception):
    """pip could not install a release; ``str()`` is its last error, in one line."""


@dataclasses.dataclass(frozen=True)
class Environment:
    """``version`` is a release (``2.13.0``: the build of PyPI) or a build of one (``2.13.0+cpu``)."""

    version: str
    folder: Path

    @classmethod
    def of(cls, version: str, folder: Path) -> Environment:
        """The environment for ``version`` below ``folder``. Raises BadVersion."""
        if not re.fullmatch(r"\d+\.\d+\.\d+((\.dev|rc)\d+)?(\+[a-z0-9.]+)?", version):
            raise BadVersion(f"{version!r} is no release of torch: write it as 2.13.0, or as 2.13.0+cpu for a build")
        return cls(version, folder.absolute() / version)

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    def install(self) -> None:
        """Create the environment unless it is complete. Raises InstallFailed."""
        marker = self.folder / ".whole"
        if marker.exists():
            return
        self.remove()
        self._run(sys.executable, "-m", "venv", str(self.folder))
        # `===` compares text, so that a release does not mean the build of a local index.
        self._run(self.python, "-m", "pip", "install", "-q", f"torch==={self.version}")
        requirement = f"torch==={self.version}\n"
        (self.folder / "constraints.txt").write_text(requirement, encoding="utf-8")
        pinned = ("-c", str(self.folder / "constraints.txt"))
        self._run(self.python, "-m", "pip", "install", "-q", *pinned, "-e", str(ROOT), *TOOLS)
        marker.touch()

    def remove(self) -> None:
        """Remove the environment if it exists."""
        if self.folder.exists():
            shutil.rmtree(self.folder)

    def _run(self, *command: str) -> None:
        process = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        if process.returncode != 0:
            lines = (process.stderr or process.stdout).strip().splitlines()
            errors = [line for line in lines if line.startswith("ERROR")]
            raise InstallFailed(" ".join((errors or lines or ["pip failed"])[-1].split()))
