"""Programs of ``torch.export`` and modules of ``torch.save`` become seeds, and bad files give one clear line."""

from __future__ import annotations

import base64
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

from eqfuzz.imports.exported.program_file import InvalidFile
from eqfuzz.imports.exported.translate import translated
from eqfuzz.imports.messages import StoredWeight, TranslationAnswer, TranslationRequest
from eqfuzz.imports.models import ImportOptions, NotImported, import_model
from eqfuzz.imports.text.literals import Unsupported
from eqfuzz.program.formats import read_program
from eqfuzz.program.load import Loaded
from tests.unit.imports.models import MODELS, Attention, Call

BOUND = 2e-5


def _saved(path: Path, module: nn.Module, *example: torch.Tensor, **options: Any) -> Path:
    """The archive of the module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(module.eval(), example, **options), path)
    return path


def _translated(path: Path, **fields: Any) -> TranslationAnswer:
    return translated(TranslationRequest(model=str(path), name=path.name, **fields))


def _tensor(weight: StoredWeight) -> torch.Tensor:
    content = bytearray(base64.b64decode(weight.data))
    return torch.frombuffer(content, dtype=getattr(torch, weight.dtype)).view(weight.shape)


def _call(answer: TranslationAnswer, *inputs: torch.Tensor) -> Any:
    """What the seed computes, whose weights are small enough to stand in the text or are read from the answer."""
    import base64

    weights = {
        one.name: torch.frombuffer(bytearray(base64.b64decode(one.data)), dtype=getattr(torch, one.dtype)).view(
            one.shape
        )
        for one in answer.weights
    }
    names: dict[str, Any] = {"weights": weights}
    exec(compile(answer.text, "<seed>", "exec"), names)
    return names["Program"]()(*inputs)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_exported_program_computes_what_the_module_does(name: str, tmp_path: Path) -> None:
    torch.manual_seed(3)
    make, draw = MODELS[name]
    module, example = make().eval(), draw()
    answer = _translated(_saved(tmp_path / "model.pt2", module, example))
    torch.testing.assert_close(_call(answer, example), module(example), rtol=BOUND, atol=BOUND)
    assert "torch.ops" not in answer.text


def test_operators_are_written_as_people_write_them(tmp_path: Path) -> None:
    module = Call(lambda x: F.layer_norm(x + 1, (3,), eps=1e-3).view(-1)[1:] * -x.sum().item())
    text = _translated(_saved(tmp_path / "model.pt2", module, torch.randn(2, 3))).text
    assert "x + 1" in text
    assert "F.layer_norm(add1, (3,), eps=0.001)" in text
    assert "norm1.view((-1,))" in text


def test_open_sizes_are_read_from_the_input(tmp_path: Path) -> None:
    path = _saved(tmp_path / "model.pt2", Attention(), torch.randn(2, 7, 16), dynamic_shapes={"x": {0: Dim("batch")}})
    answer = _translated(path)
    assert "x.shape[0]" in answer.text
    assert "yield rng.normal(2, 7, 16)\n    yield rng.normal(3, 7, 16)" in answer.text
    assert _call(answer, torch.randn(5, 7, 16)).shape == (5, 7, 16)


class _Counter(nn.Module):
    """Counts its calls, and writes to a copy of its input."""

    def __init__(self) -> None:
        super().__init__()
        self.count = nn.Buffer(torch.zeros(()))
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, scale: float = 2.0) -> dict[str, Any]:
        with torch.no_grad():
            self.count.add_(1)
            y = self.layer(x)
        z = x.clone()
        z[:, 0] = 0
        return {"y": y + self.count, "parts": [*torch.split(z.mul_(scale), 2, -1)], "top": torch.topk(x, 2).values}


def test_buffers_that_change_regions_without_gradients_and_nested_results(tmp_path: Path) -> None:
    torch.manual_seed(3)
    module, x = _Counter(), torch.randn(3, 4)
    answer = _translated(_saved(tmp_path / "model.pt2", module, x))
    assert "with torch.set_grad_enabled(False):" in answer.text
    expected = module(x)
    flat = (expected["y"], *expected["parts"], expected["top"])
    torch.testing.assert_close(_call(answer, x), flat, rtol=BOUND, atol=BOUND)


def test_bfloat16_weights_keep_their_bits(tmp_path: Path) -> None:
    torch.manual_seed(3)
    module, x = nn.Linear(8, 8).bfloat16(), torch.randn(2, 8).bfloat16()
    answer = _translated(_saved(tmp_path / "model.pt2", module, x))
    assert [one.dtype for one in answer.weights] == ["bfloat16"]
    torch.testing.assert_close(_call(answer, x), module(x))


def test_indices_stay_within_the_table(tmp_path: Path) -> None:
    answer = _translated(_saved(tmp_path / "model.pt2", nn.Embedding(30, 4), torch.zeros(2, 5, dtype=torch.int64)))
    assert "rng.integers(0, 30, 2, 5)" in answer.text


def test_gradients_make_weights_parameters(tmp_path: Path) -> None:
    path = _saved(tmp_path / "model.pt2", nn.Linear(3, 3), torch.randn(2, 3))
    assert "self.weight = nn.Parameter(" in _translated(path, gradients=True).text


class _Secrets(nn.Module):
    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("one", torch.tensor(0.7319))
        self.register_buffer("few", torch.tensor([0.1357, 0.2468]))
        self.register_buffer("many", torch.linspace(-1.2345, 6.789, 40))
        self.register_buffer("table", table)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.one + self.few.sum() + self.many.sum() + self.table.sum()


def test_private_weights_are_drawn_however_small(tmp_path: Path) -> None:
    path = _saved(tmp_path / "model.pt2", _Secrets(torch.zeros(3, dtype=torch.int64)), torch.ones(2))
    answer = _translated(path, drawn=True, private=True)
    assert answer.weights == ()
    assert not [number for number in ("0.73", "0.13", "0.24", "-1.2345") if number in answer.text]
    torch.testing.assert_close(_call(answer, torch.ones(2)).shape, torch.Size([2]))
    path = _saved(tmp_path / "other.pt2", _Secrets(torch.tensor([4, 2])), torch.ones(2))
    with pytest.raises(Unsupported, match="the values of 'table', which are private and cannot be drawn"):
        _translated(path, drawn=True, private=True)


def test_gradients_leave_buffers_as_they_are(tmp_path: Path) -> None:
    path = _saved(tmp_path / "model.pt2", nn.BatchNorm1d(3), torch.randn(2, 3))
    text = _translated(path, gradients=True).text
    assert "self.weight = nn.Parameter(" in text
    assert 'self.register_buffer("running_mean", ' in text


def test_saved_module_is_exported_for_the_inputs(tmp_path: Path) -> None:
    torch.manual_seed(3)
    module = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(4, 8), nn.GELU()))
    torch.save(module, tmp_path / "model.pt")
    answer = _translated(tmp_path / "model.pt", inputs=("rng.normal(2, 4)",))
    x = torch.randn(2, 4)
    torch.testing.assert_close(_call(answer, x), module(x), rtol=BOUND, atol=BOUND)


def test_control_flow_is_named_with_its_count(tmp_path: Path) -> None:
    module = Call(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)))
    path = _saved(tmp_path / "model.pt2", module, torch.randn(3))
    with pytest.raises(Unsupported, match=r"unsupported operators: higher_order\.cond \(1\)"):
        _translated(path)


def test_bad_files_say_what_is_wrong(tmp_path: Path) -> None:
    good = _saved(tmp_path / "good.pt2", nn.Linear(3, 3), torch.randn(2, 3)).read_bytes()
    cases = {"text.pt2": b"hello", "cut.pt2": good[: len(good) // 2], "empty.pt2": b""}
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidFile, match=r"no archive of torch\.export: "):
            _translated(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "other.pt2", "w") as archive:
        archive.writestr("notes.txt", "none")
    with pytest.raises(InvalidFile, match=r"torch\.export\.load raises "):
        _translated(tmp_path / "other.pt2")
    with zipfile.ZipFile(tmp_path / "compiled.pt2", "w") as archive:
        archive.writestr("model/data/aotinductor/model/wrapper.so", "")
    with pytest.raises(InvalidFile, match="AOTInductor compiled it"):
        _translated(tmp_path / "compiled.pt2")
    torch.save({"weight": torch.ones(3)}, tmp_path / "state.pt")
    with pytest.raises(InvalidFile, match="it holds a dict and no module"):
        _translated(tmp_path / "state.pt")
    torch.save(torch.fx.symbolic_trace(nn.Linear(3, 3)), tmp_path / "linear.pt")
    with pytest.raises(InvalidFile, match="needs inputs: write --inputs"):
        _translated(tmp_path / "linear.pt")


@pytest.mark.slow
def test_archive_becomes_a_seed_with_weights_beside_it(tmp_path: Path) -> None:
    torch.manual_seed(3)
    module = nn.Linear(6, 5)
    path = _saved(tmp_path / "product.pt2", module, torch.randn(2, 6))
    seed = import_model(path, tmp_path / "seeds", ImportOptions())
    assert seed.weights == tmp_path / "seeds" / "product.safetensors"
    assert seed.path.read_text(encoding="utf-8").startswith('# /// eqfuzz\n# source = "exported"\n')
    loaded = Loaded(read_program(seed.path))
    (call,) = loaded.calls(0)
    torch.testing.assert_close(loaded.instance()(*call.args), module(*call.args))


@pytest.mark.slow
def test_cut_off_archive_gives_one_line(tmp_path: Path) -> None:
    path = tmp_path / "cut.pt2"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(NotImported, match=r"cut\.pt2: no archive of torch\.export: File is not a zip file"):
        import_model(path, tmp_path / "seeds", ImportOptions())
