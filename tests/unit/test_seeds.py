"""The shipped seeds: each loads, is documented, and does the same thing twice in eager."""

import dataclasses
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from eqfuzz.program.call import Call
from eqfuzz.program.formats import read_program, recognise
from eqfuzz.program.load import Loaded, reseed
from eqfuzz.program.program import InvalidSeed, SeedFormat

ROOT = Path(__file__).resolve().parents[2]
HANDWRITTEN = sorted((ROOT / "seeds" / "handwritten").rglob("*.py"))
FORMATS = ROOT / "seeds" / "formats"
ALL = HANDWRITTEN + sorted(FORMATS.glob("*.py"))
DOCUMENT = ROOT / "docs" / "reference" / "seed-formats.md"

THEMES = {
    "arithmetic",
    "catalogues",
    "containers",
    "control_flow",
    "convolution",
    "dtypes",
    "dynamic_shapes",
    "edge_values",
    "indexing",
    "matmul",
    "modules",
    "mutation",
    "numpy_calls",
    "python_features",
    "reductions",
    "shapes",
    "training",
}

INPUT_SETS = {
    "eqfuzz_function.py": (SeedFormat.EQFUZZ, 2),
    "eqfuzz_module.py": (SeedFormat.EQFUZZ, 2),
    "kernelbench.py": (SeedFormat.KERNELBENCH, 1),
    "ptmodule.py": (SeedFormat.PTMODULE, 5),
    "ptmodule_loose.py": (SeedFormat.PTMODULE, 5),
    "torchfuzz.py": (SeedFormat.TORCHFUZZ, 1),
    "whitefox.py": (SeedFormat.WHITEFOX, 1),
}


def seed_name(path: Path) -> str:
    return str(path.relative_to(ROOT / "seeds"))


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in a nest of containers, dataclasses and arrays, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (np.ndarray, np.generic)):
        return [torch.as_tensor(np.asarray(value))]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def fingerprint(value: Any) -> list[tuple[Any, ...]]:
    """Dtype, shape, strides and raw bytes of every tensor in ``value``; NaN and -0.0 count."""
    prints = []
    for tensor in tensors_in(value):
        plain = tensor.detach().resolve_conj().resolve_neg()
        plain = torch.view_as_real(plain) if plain.is_complex() else plain
        raw = plain.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        prints.append((tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad, raw))
    return prints


def run_eager(path: Path) -> tuple[list[Any], list[Any]]:
    """Fingerprints of the outputs and of the arguments afterwards, one for each input set."""
    loaded = Loaded(read_program(path))
    function = loaded.instance()
    outputs, arguments = [], []
    for call in [call.copy() for call in loaded.calls(11)]:
        reseed()
        outputs.append(fingerprint(function(*call.args, **call.kwargs)))
        arguments.append(fingerprint([call.args, call.kwargs]))
    return outputs, arguments


def arguments_of(calls: list[Call]) -> list[Any]:
    return [fingerprint([call.args, call.kwargs]) for call in calls]


@pytest.mark.parametrize("path", ALL, ids=seed_name)
def test_a_seed_gives_equal_inputs_and_results_for_equal_seeds(path: Path) -> None:
    loaded = Loaded(read_program(path))
    assert arguments_of(loaded.calls(3)) == arguments_of(loaded.calls(3))
    first, second = run_eager(path), run_eager(path)
    assert first == second
    assert all(first[0]), "every call returns at least one tensor"


@pytest.mark.parametrize("path", HANDWRITTEN, ids=seed_name)
def test_a_handwritten_seed_is_short_documented_and_draws_from_the_rng(path: Path) -> None:
    program = read_program(path)
    assert program.format is SeedFormat.EQFUZZ
    assert len(program.source.splitlines()) < 60
    loaded = Loaded(program)
    summary = (loaded.module.__doc__ or "").splitlines()[0]
    assert 20 <= len(summary) <= 115
    assert not re.search(r"torch\.rand|np\.random", program.source[program.source.index("def inputs") :])
    assert "from __future__" not in program.source
    assert arguments_of(loaded.calls(3)) != arguments_of(loaded.calls(4))


def test_every_theme_has_seeds() -> None:
    themes = Counter(path.parent.name for path in HANDWRITTEN)
    assert set(themes) == THEMES
    assert min(themes.values()) >= 3
    assert len(HANDWRITTEN) >= 48


def test_no_two_seeds_are_the_same_program() -> None:
    digests = Counter(read_program(path).digest for path in ALL)
    assert max(digests.values()) == 1


def test_the_corpus_covers_dtypes_sizes_gradients_and_dynamic_shapes() -> None:
    dtypes: set[torch.dtype] = set()
    with_gradient = large = dynamic = empty = scalar = modules = 0
    for path in HANDWRITTEN:
        loaded = Loaded(read_program(path))
        calls = loaded.calls(0)
        inputs = [tensors_in([call.args, call.kwargs]) for call in calls]
        flat = [tensor for tensors in inputs for tensor in tensors]
        function = loaded.instance()
        learned = list(function.parameters()) if isinstance(function, torch.nn.Module) else []
        modules += isinstance(function, torch.nn.Module)
        with_gradient += any(t.requires_grad for t in [*flat, *learned])
        large += any(t.numel() >= 1000 for t in flat)
        empty += any(t.numel() == 0 for t in flat)
        scalar += any(t.dim() == 0 for t in flat)
        dynamic += len({tuple(tuple(t.shape) for t in tensors) for tensors in inputs}) > 1
        dtypes |= {t.dtype for t in flat}
    integers = {torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool}
    assert integers | {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64} <= dtypes
    assert len(HANDWRITTEN) / 4 < with_gradient < len(HANDWRITTEN) / 2
    assert large >= 5
    assert dynamic >= 20
    assert modules >= 3
    assert empty
    assert scalar


def test_the_known_int8_amin_defect_can_be_found() -> None:
    loaded = Loaded(read_program(ROOT / "seeds/handwritten/dtypes/quantise_int8.py"))
    (call,) = loaded.calls(0)
    quantised = call.args[0]
    assert quantised.dtype is torch.int8
    assert quantised.shape[-1] >= 16
    assert quantised.min() > 0
    assert "x.amin(" in loaded.program.source


def test_relu_seeds_are_large_enough_to_vectorise() -> None:
    paths = [path for path in HANDWRITTEN if re.search(r"(F|torch)\.relu\(", path.read_text(encoding="utf-8"))]
    large = set()
    for path in paths:
        for call in Loaded(read_program(path)).calls(0):
            if any(t.dtype is torch.float32 and t.numel() >= 64 for t in tensors_in([call.args, call.kwargs])):
                large.add(path)
    assert len(large) >= 3


@pytest.mark.parametrize("name", sorted(INPUT_SETS))
def test_a_format_is_recognised_and_nothing_runs_or_prints(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    program = read_program(FORMATS / name)
    loaded = Loaded(program)
    assert (program.format, len(loaded.calls(0))) == INPUT_SETS[name]
    assert capsys.readouterr().out == ""


def test_every_format_has_an_example() -> None:
    assert {path.name for path in FORMATS.glob("*.py")} == set(INPUT_SETS)
    assert {format for format, _ in INPUT_SETS.values()} == set(SeedFormat)
    printing = [p.name for p in FORMATS.glob("*.py") if "print(" in p.read_text(encoding="utf-8")]
    assert len(printing) == 5, "the foreign examples would show it if they ran"


def test_the_documented_examples_run() -> None:
    examples = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 4
    for number, source in enumerate(examples):
        loaded = Loaded(recognise(source, f"example {number}"))
        function = loaded.instance()
        for call in loaded.calls(0):
            assert tensors_in(function(*call.args, **call.kwargs))


MISTAKES = [
    "def program(x):\n    return x + 1\n",
    "import torch\n",
    "def f(x):\n    return x\n\ndef g(x):\n    return x\n\ndef inputs(rng):\n    yield rng.normal(3)\n",
    "\ndef program(x):\n    return x\ndef inputs(rng, n):\n    yield rng.normal(n)\n",
    "\ndef program(x:\n    return x\n",
    "def program(x):\n    return x\n\ndef inputs(rng):\n    yield from ()\n",
    '# /// eqfuzz\n# source = "onnx"\n# weights = "seed.safetensors"\n# ///\n'
    "def program(x):\n    return x\n\ndef inputs(rng):\n    yield 1\n",
    "import torch\ndef fuzzed_program(a, sentinel):\n    return a\n",
]


def test_the_documented_messages_are_the_real_ones() -> None:
    section = DOCUMENT.read_text(encoding="utf-8").partition("## Common mistakes")[2]
    documented = re.findall(r"\| ``(seed\.py:.*)`` \|\n", section)
    assert len(documented) == len(MISTAKES)
    for source, line in zip(MISTAKES, documented, strict=True):
        with pytest.raises(InvalidSeed) as caught:
            Loaded(recognise(source, "seed.py")).calls(0)
        beginning = line.partition("…")[0].rstrip(" (or")
        assert str(caught.value).startswith(beginning)
