"""Recordings: what is written, what is read of it without running it, and what cannot be recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from eqfuzz.imports.recordings import RecordedName, StoredRecording, UnreadableRecording
from eqfuzz.recorder.recording import NotRecorded, Recording

LIMIT = 2**20


class Scaled(nn.Module):
    """A model with a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([2.0, 3.0]))

    def forward(self, x: torch.Tensor, *, shift: torch.Tensor | None = None) -> torch.Tensor:
        y = x * self.scale
        return y if shift is None else y + shift


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def written(recording: Recording, folder: Path) -> StoredRecording:
    path = folder / "it.recording"
    recording.write(path)
    return StoredRecording.read(path)


def test_module_with_its_calls_is_read_back(tmp_path: Path):
    recording = Recording(Scaled(), LIMIT)
    recording.add((torch.ones(3, 2),), {})
    recording.add((torch.ones(3, 2) * 5,), {})  # the same shapes
    recording.add((torch.ones(1, 2),), {"shift": torch.ones(2)})
    stored = written(recording, tmp_path)
    assert stored.calls == ("(float32[3, 2])", "{x: float32[1, 2], shift: float32[2]}")
    assert (stored.module, stored.name, stored.is_module) == (__name__, "Scaled", True)
    assert RecordedName(__name__, "Scaled") in stored.names
    assert set(stored.objects) == {"model", "inputs-0", "inputs-1"}


def test_later_changes_are_not_recorded(tmp_path: Path):
    model = Scaled()
    recording = Recording(model, LIMIT)
    inputs = torch.ones(3, 2)
    recording.add((inputs,), {})
    before = dict(written(recording, tmp_path).objects)
    inputs.zero_()
    model.scale.data.zero_()
    assert written(recording, tmp_path).objects == before


def test_function_has_no_model(tmp_path: Path):
    recording = Recording(add, LIMIT)
    recording.add((torch.ones(2),), {"y": torch.ones(2)})
    stored = written(recording, tmp_path)
    assert (stored.name, stored.is_module, list(stored.objects)) == ("add", False, ["inputs-0"])


def test_what_cannot_be_recorded_is_one_line():
    inner = type("Inner", (nn.Module,), {"__qualname__": "test.<locals>.Inner"})
    with pytest.raises(NotRecorded, match="Inner is a class inside a function: define it at the top level"):
        Recording(inner(), LIMIT)
    with pytest.raises(NotRecorded, match=r"neither a module of torch.nn nor a function"):
        Recording(len, LIMIT)
    recording = Recording(Scaled(), LIMIT)
    with pytest.raises(NotRecorded, match="Scaled: the inputs of call 0 cannot be saved: cannot pickle 'generator'"):
        recording.add(((x for x in ()),), {})
    with pytest.raises(NotRecorded, match=r"Scaled: the inputs of call 0 have 8.* MB, of which 1.0 MB are recorded"):
        recording.add((torch.zeros(1024, 2048),), {})
    model = Scaled()
    model.hook = lambda: None
    with pytest.raises(NotRecorded, match="Scaled cannot be saved: "):
        Recording(model, LIMIT)


@pytest.mark.parametrize("content", [b"", b"PK\3\4 no zip"])
def test_other_files_are_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "other.recording"
    path.write_bytes(content)
    with pytest.raises(UnreadableRecording, match="it is no recording of eqfuzz"):
        StoredRecording.read(path)
    with pytest.raises(UnreadableRecording, match="No such file"):
        StoredRecording.read(tmp_path / "absent.recording")
