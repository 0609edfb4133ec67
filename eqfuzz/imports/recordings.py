"""Reads recordings of ``eqfuzz.recorder`` without running any of them: what they hold, and the classes they need."""

from __future__ import annotations

import dataclasses
import io
import json
import pickletools
import zipfile
from pathlib import Path

from eqfuzz.errors import UsageError, one_line
from eqfuzz.imports.safetensors import StoredTensor, safetensors_file
from eqfuzz.recorder.recording import DESCRIPTION, FORMAT, SUFFIX

_MAIN = "__main__"


class UnreadableRecording(UsageError):
    """A file is no recording. ``str()`` is one line: which, and why."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {one_line(reason)}")


@dataclasses.dataclass(frozen=True)
class RecordedName:
    """A class or function that recorded objects need, by its module and name."""

    module: str
    name: str


@dataclasses.dataclass(frozen=True)
class StoredRecording:
    """A recording in a file.

    Attributes:
        module: The module of the class or function; that of the script where it is ``__main__``.
        name: Its name there.
        is_module: Whether it is a module of torch.nn.
        calls: Shapes of the arguments of each call.
        search: The folders of the search path of the process.
        main: What ``__main__`` is called as a module; empty where it has no file.
        objects: What ``torch.save`` wrote, by name: the module, and the inputs of each call.
        names: What the objects need of any module, as they call it.
    """

    module: str
    name: str
    is_module: bool
    calls: tuple[str, ...]
    search: tuple[str, ...]
    main: str
    objects: dict[str, bytes]
    names: tuple[RecordedName, ...]

    @classmethod
    def read(cls, path: Path) -> StoredRecording:
        """The recording at ``path``. Raises UnreadableRecording."""
        try:
            with zipfile.ZipFile(path) as file:
                description = json.loads(file.read(DESCRIPTION))
                objects = {name: file.read(name) for name in file.namelist() if name != DESCRIPTION}
            if description["format"] != FORMAT:
                raise UnreadableRecording(path, f"it has the format {description['format']}: record it again")
            names = dict.fromkeys(name for content in objects.values() for name in _names(content))
            module = description["module"]
            return cls(
                module=description["main"] if module == _MAIN else module,
                name=description["name"],
                is_module=description["is_module"],
                calls=tuple(call["inputs"] for call in description["calls"]),
                search=tuple(description["search"]),
                main=description["main"],
                objects=objects,
                names=tuple(names),
            )
        except OSError as error:
            raise UnreadableRecording(path, error.strerror or str(error)) from None
        except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
            raise UnreadableRecording(path, f"it is no recording of eqfuzz: {error}") from None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the objects with inputs, in the order of the calls."""
        return tuple(f"inputs-{number}" for number in range(len(self.calls)))

    def importable(self, name: RecordedName) -> RecordedName:
        """The name with that of the script in place of ``__main__``."""
        return RecordedName(self.main, name.name) if name.module == _MAIN else name

    def weights(self) -> bytes:
        """The objects as a file of safetensors: bytes by name."""
        return safetensors_file(
            StoredTensor(name, "uint8", (len(content),), content) for name, content in self.objects.items()
        )


def is_recording(text: str) -> bool:
    """Whether a target is the file of a recording."""
    return text.endswith(SUFFIX)


def _names(content: bytes) -> list[RecordedName]:
    """The globals that the pickle in a file of ``torch.save`` names. Raises ValueError, zipfile.BadZipFile."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        pickled = next((file.read(name) for name in file.namelist() if name.endswith("/data.pkl")), None)
    if pickled is None:
        raise ValueError("an object in it is not what torch.save writes")
    names = []
    for opcode, argument, _ in pickletools.genops(pickled):
        if opcode.name == "GLOBAL" and isinstance(argument, str):
            module, _, name = argument.partition(" ")
            names.append(RecordedName(module, name))
    return names
