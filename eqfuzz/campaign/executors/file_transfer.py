"""Transfer of files between machines that share no disk: the user's files to workers, their findings back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from eqfuzz.atomic_file import new_folder
from eqfuzz.campaign.configuration import Configuration

FileBundle = Mapping[str, bytes]
"""Contents of files by their path below the packed folder."""


def pack(base: Path, folders: Iterable[Path], renamed: Mapping[str, str]) -> FileBundle:
    """All files of ``folders``, which lie below ``base``; prefixes of paths in their text are ``renamed``."""
    return {
        str(path.relative_to(base)): _renamed(path, renamed)
        for folder in sorted(folders)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def unpack(bundle: FileBundle, base: Path) -> None:
    """Write the folders of ``bundle``, each two levels deep, below ``base``, each atomically; existing ones stay.

    Raises OSError.
    """
    folders: dict[Path, dict[Path, bytes]] = {}
    for name, content in bundle.items():
        path = Path(name)
        folders.setdefault(Path(*path.parts[:2]), {})[Path(*path.parts[2:])] = content
    for folder, files in folders.items():
        if not (base / folder).exists():
            _put(base / folder, files)


def _put(target: Path, files: Mapping[Path, bytes]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_folder(target) as folder:
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)


def _renamed(path: Path, renamed: Mapping[str, str]) -> bytes:
    content = path.read_bytes()
    for old, new in renamed.items():
        if path.suffix == ".json":
            old, new = json.dumps(old)[1:-1], json.dumps(new)[1:-1]
        content = content.replace(old.encode(), new.encode())
    return content


@dataclasses.dataclass(frozen=True)
class ShippedConfiguration:
    """A configuration with the user's files that it names: rules, configurations, known issues, the preload."""

    configuration: Configuration
    """With absolute paths of the machine that it comes from."""
    files: Mapping[str, FileBundle]
    """By such a path, the files of a folder, or one file under the empty name."""

    @classmethod
    def of(cls, configuration: Configuration) -> ShippedConfiguration:
        """Raises OSError where a file cannot be read."""
        files: dict[str, FileBundle] = {}

        def packed(path: Path) -> Path:
            files[str(path.absolute())] = _contents(path)
            return path.absolute()

        return cls(_with_paths(configuration, packed), files)

    def unpack(self, base: Path) -> tuple[Configuration, dict[str, str]]:
        """The configuration with its files below ``base``, and the original path of each by its new one."""
        places: dict[str, Path] = {}
        for number, (origin, bundle) in enumerate(self.files.items()):
            places[origin] = base / str(number) / Path(origin).name
            for name, content in bundle.items():
                path = places[origin] / name if name else places[origin]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        configuration = _with_paths(self.configuration, lambda path: places[str(path)])
        return configuration, {str(place): origin for origin, place in places.items()}


def _contents(path: Path) -> FileBundle:
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*.py"))}
    return {"": path.read_bytes()}


def _with_paths(configuration: Configuration, there: Callable[[Path], Path]) -> Configuration:
    """The configuration with the new path of each of the user's files."""
    rewriting, compiling, judging = configuration.rewriting, configuration.compiling, configuration.judging
    files = {
        "configs_from": compiling.configs_from and there(compiling.configs_from),
        "preload": compiling.preload and there(compiling.preload),
    }
    rules_from = tuple(there(path) for path in rewriting.rules_from)
    known_issues = tuple(there(path) for path in judging.known_issues)
    return configuration.model_copy(
        update={
            "rewriting": rewriting.model_copy(update={"rules_from": rules_from}),
            "compiling": compiling.model_copy(update=files),
            "judging": judging.model_copy(update={"known_issues": known_issues}),
        }
    )
