"""Import of Python classes: the definitions of a project in one file, which computes the same."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import torch

from eqfuzz.imports import model_uses
from eqfuzz.imports.model_uses import ModelUse
from eqfuzz.imports.python.references import bound_names, changed_names, references
from eqfuzz.imports.python_models import NotGathered, PythonReference, gather, gather_recording, import_python
from eqfuzz.imports.recordings import StoredRecording
from eqfuzz.program.formats import read_program
from eqfuzz.program.load import STATE_SEED, Loaded, reseed
from eqfuzz.program.provenance import provenance_of
from eqfuzz.recorder.recording import Recording

FILES = {
    "shop/__init__.py": "from .net import Net",
    "shop/config.py": """
        from dataclasses import dataclass

        WIDTHS = {"small": 8}; DEPTH = 2
        WIDTHS["large"] = 16
        UNUSED = 3


        @dataclass
        class Config:
            width: int = WIDTHS["large"]
            depth: int = DEPTH
    """,
    "shop/layers/__init__.py": "from .attention import *\nfrom . import norm as norms",
    "shop/layers/attention.py": """
        import math
        import torch.nn as nn
        import torch.nn.functional as F
        from ..config import Config


        class Block(nn.Module):
            def __init__(self, config: Config):
                super(Block, self).__init__()
                self.qkv = nn.Linear(config.width, 3 * config.width)
                self.scale = 1 / math.sqrt(config.width)

            def forward(self, x):
                q, k, v = self.qkv(x).chunk(3, -1)
                return F.softmax(q @ k.transpose(1, 2) * self.scale, -1) @ v
    """,
    "shop/layers/norm.py": """
        from torch import nn


        def _init(module):
            from shop.layers.scale import SCALE
            nn.init.constant_(module.weight, SCALE)
            return module


        class Block(nn.Module):
            def __init__(self, width):
                super(Block, self).__init__()
                self.norm = _init(nn.LayerNorm(width))

            def forward(self, x):
                return self.norm(x)
    """,
    "shop/layers/scale.py": "SCALE = 1.5",
    "shop/net.py": """
        from __future__ import annotations

        from typing import TYPE_CHECKING

        import torch
        import torch.utils.checkpoint
        from torch import nn
        from shop import layers
        from shop.config import Config
        from shop.layers import Block

        if TYPE_CHECKING:
            from shop.config import UNUSED


        class Net(nn.Module):
            def __init__(self, config: Config):
                super().__init__()
                self.blocks = nn.ModuleList([Block(config) for _ in range(config.depth)])
                self.norm = layers.norms.Block(config.width)

            def forward(self, x, gain: UNUSED = 1.0):
                for block in self.blocks:
                    x = x + torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
                return self.norm(x) * gain


        def scaled(x, layers):
            return x * layers


        class inputs:
            factor = 2


        def doubled(x):
            return x * inputs.factor


        def of_a_module(x):
            return layers


        def late(x):
            import shop.config
            return x
    """,
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).strip() + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        del sys.modules[name]


def _imported(text: str, *inputs: str, construct: str = "") -> Path:
    reference = PythonReference.of(text)
    assert reference is not None
    return import_python(reference, construct, inputs, Path("seeds")).path


def test_class_computes_what_its_package_does(project: Path) -> None:
    seed = _imported("shop.net:Net", "rng.normal(2, 3, 16)", construct="Net(Config(depth=1))")
    loaded = Loaded(read_program(seed))
    (call,) = loaded.calls(0)
    actual = loaded.instance()(*call.args)
    assert "shop" not in sys.modules
    package = importlib.import_module("shop.net")
    reseed()
    torch.testing.assert_close(actual, package.Net(package.Config(depth=1))(*call.args), rtol=0, atol=0)
    text = seed.read_text()
    assert "class Block_2(nn.Module):" in text
    assert "super(Block_2, self)" in text
    assert "UNUSED" not in text.replace("gain: UNUSED", "")
    assert "import torch.utils.checkpoint\n" in text
    provenance = provenance_of(text)
    assert provenance is not None
    assert provenance.details["model"] == "shop.net:Net"
    assert not provenance.untrusted


def test_text_does_not_depend_on_the_run(project: Path) -> None:
    first = _imported("shop.net:Net", "rng.normal(2, 3, 16)", construct="Net(Config())").read_text()
    assert first == _imported("shop.net:Net", "rng.normal(2, 3, 16)", construct="Net(Config())").read_text()


def test_class_that_a_package_exports_is_followed(project: Path) -> None:
    assert "class Net(nn.Module):" in _imported("shop:Net", "rng.normal(2, 3, 8)").read_text()


def test_function_is_a_program(project: Path) -> None:
    loaded = Loaded(read_program(_imported("shop.net:scaled", "(torch.ones(3), 2)")))
    (call,) = loaded.calls(0)
    assert loaded.instance()(*call.args).tolist() == [2, 2, 2]
    assert "def program(x, layers):\n    return scaled(x, layers)" in loaded.program.source


def test_names_of_the_format_are_left_to_it(project: Path) -> None:
    text = _imported("shop.net:doubled", "torch.ones(3)").read_text()
    assert "class inputs_2:" in text
    assert "return x * inputs_2.factor" in text


@pytest.mark.parametrize(
    ("reference", "construct", "message"),
    [
        ("shop.net:Nett", "", "net.py defines no 'Nett', did you mean 'Net'?"),
        ("shop.nett:Net", "", "there is no module 'shop.nett' with Python text on the search path"),
        ("shop.net:Net", "Net(Confg())", "net.py: it has no 'Confg', did you mean 'Config'?"),
        ("shop.net:Net", "Net(", "'Net(' is not valid Python"),
        ("shop.net:Net", "x = Net", "'x = Net' is no expression"),
        ("shop.net:of_a_module", "", "the module shop.layers is used as a value"),
        ("shop.net:late", "", "the import of shop.config inside another statement cannot be gathered"),
        ("torch.nn:Linear", "", "classes of torch itself are not gathered"),
    ],
)
def test_what_cannot_be_imported_has_one_clear_line(
    project: Path, reference: str, construct: str, message: str
) -> None:
    with pytest.raises(NotGathered) as raised:
        _imported(reference, "rng.normal(3)", construct=construct)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"{reference}: ")
    assert "\n" not in str(raised.value)
    assert not Path("seeds").exists()


@pytest.mark.parametrize("text", ["models/net.onnx", "net", "a.b:c:d", "C:model", "a-b:C"])
def test_other_names_are_files(text: str) -> None:
    assert (PythonReference.of(text) is None) == (text != "C:model")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x, y=A): return x + B", ["A", "B"]),
        ("def f(x):\n    for A in x: B = A\n    return A, B, C", ["C"]),
        ("def f(x):\n    global A\n    A = x", ["A"]),
        ("class C(B):\n    A = 1\n    D = A\n    def f(self): return A", ["B", "A"]),
        ("[A for A in B if A]", ["B"]),
        ("lambda A: A + B", ["B"]),
        ("def f():\n    try: g()\n    except E as e: return e", ["g", "E"]),
        (
            "def f(x):\n    match x:\n        case {'a': A, **rest}: return A, rest\n        case B(c=D): return D",
            ["B"],
        ),
        ("def f(x):\n    def g(): return A\n    A = 1\n    return g", []),
        ("def f(x): return (y := x) + y", []),
    ],
)
def test_references_follow_the_scopes_of_python(text: str, names: list[str]) -> None:
    global_names = references(ast.parse(text).body[0])
    assert list(dict.fromkeys(reference.name for reference in global_names)) == names


def test_attributes_belong_to_a_reference() -> None:
    (reference,) = references(ast.parse("layers.norm.Block").body[0])
    assert (reference.name, reference.attributes) == ("layers", ("norm", "Block"))


def test_names_that_a_statement_binds_and_changes() -> None:
    (statement,) = ast.parse("if A:\n    B, C = 1, 2\n    def d(): E = 1\n    F['x'] = G.h = 1\n    I.update(J)").body
    assert bound_names(statement) == ["B", "C", "d"]
    assert changed_names(statement) == ["F", "G", "I"]


NESTED = """
    import torch
    from torch import nn


    class Scaled(nn.Module):
        def forward(self, x, scale, shift=0.0):
            return x * scale + shift


    class Body(nn.ModuleList):
        def forward(self, x):
            return self[1](self[0](x), 3, shift=2.0)


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = Body([nn.Linear(4, 4), Scaled()])

        def forward(self, x):
            return self.body(x).sum()
"""


def test_parameters_are_drawn_alike():
    assert model_uses.STATE_SEED == STATE_SEED


def test_submodule_is_called_as_in_the_model(tmp_path, monkeypatch):
    (tmp_path / "net.py").write_text(dedent(NESTED))
    monkeypatch.syspath_prepend(str(tmp_path))
    model = gather(PythonReference("net", "Net"), "", ["rng.normal(2, 4)"])
    path = model.write(ModelUse.of_submodule("body.1"), tmp_path / "seeds" / "one.py")
    loaded = Loaded(read_program(path))
    (call,) = loaded.calls(0)
    (value, scale), kwargs = call.args[0], call.args[1]
    assert kwargs == {"shift": 2.0}
    assert scale == 3
    assert not value.requires_grad or value.is_leaf
    torch.testing.assert_close(loaded.instance()(*call.args), value * 3 + 2.0)


def test_inputs_may_be_a_function_of_another_module(tmp_path, monkeypatch):
    (tmp_path / "net.py").write_text(dedent(NESTED))
    batches = "import torch\n\nSIZE = 4\n\n\ndef first():\n    return torch.ones(2, SIZE)\n"
    (tmp_path / "batches.py").write_text(batches)
    monkeypatch.syspath_prepend(str(tmp_path))
    model = gather(PythonReference("net", "Net"), "", ["batches:first"])
    loaded = Loaded(read_program(model.write(ModelUse("forward", "forward"), tmp_path / "seeds" / "one.py")))
    (call,) = loaded.calls(0)
    assert call.args[0].shape == (2, 4)
    with pytest.raises(NotGathered, match=r"batches\.py: it has no 'second'"):
        gather(PythonReference("net", "Net"), "", ["batches:second"])
    with pytest.raises(NotGathered, match="there is no module 'nowhere'"):
        gather(PythonReference("net", "Net"), "", ["nowhere:first"])


def test_function_that_a_package_imports_is_called_with_arguments(tmp_path, monkeypatch):
    package = tmp_path / "losses"
    package.mkdir()
    (package / "__init__.py").write_text("from .plain import squared\n")
    (package / "plain.py").write_text("def squared(x, y):\n    return ((x - y) ** 2).mean()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    model = gather(PythonReference("losses", "squared"), "", ["rng.normal(3), rng.normal(3)"])
    assert [use.name for use in model.uses] == ["forward", "dynamic"]
    loaded = Loaded(read_program(model.write(model.uses[0], tmp_path / "seeds" / "one.py")))
    (call,) = loaded.calls(0)
    torch.testing.assert_close(loaded.instance()(*call.args), ((call.args[0] - call.args[1]) ** 2).mean())


def test_recorded_module_of_torch_is_read(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU())
    recording = Recording(model, limit=2**20)
    x = torch.arange(12.0).reshape(3, 4)
    recording.add((x,), {})
    recording.write(tmp_path / "it.recording")
    gathered = gather_recording(StoredRecording.read(tmp_path / "it.recording"))
    gathered.write_weights(tmp_path / "seeds")
    loaded = Loaded(read_program(gathered.write(gathered.uses[0], tmp_path / "seeds" / "one.py")))
    (call,) = loaded.calls(0)
    torch.testing.assert_close(loaded.instance()(*call.args), model(x))
