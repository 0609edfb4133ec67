"""Import of ONNX files: good ones become seeds, bad ones give one clear line each."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the package onnx is missing: pip install 'eqfuzz[onnx]'")

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from eqfuzz.imports.models import ImportOptions, NotImported, import_model
from eqfuzz.program.formats import read_program
from eqfuzz.program.load import Loaded


def _model(opset: int = 17, operator: str = "MatMul", domain: str = "") -> onnx.ModelProto:
    """``x @ w`` for a weight of 6 x 5, with a symbolic batch size."""
    weight = numpy_helper.from_array(np.arange(30, dtype=np.float32).reshape(6, 5) / 7, "layer.weight")
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", "layer.weight"], ["y"], domain=domain)],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 5])],
        [weight],
    )
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def _saved(folder: Path, model: onnx.ModelProto, name: str = "product.onnx") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(model.SerializeToString())
    return folder / name


def _problem(path: Path, folder: Path) -> str:
    with pytest.raises(NotImported) as raised:
        import_model(path, folder / "seeds", ImportOptions())
    text = str(raised.value)
    assert "\n" not in text
    assert text.startswith(f"{path}: ")
    assert not (folder / "seeds").exists()
    return text.removeprefix(f"{path}: ")


def test_model_becomes_a_seed_with_weights_beside_it(tmp_path: Path) -> None:
    seed = import_model(_saved(tmp_path, _model()), tmp_path / "seeds", ImportOptions())
    assert seed.path == tmp_path / "seeds" / "product.py"
    assert seed.weights == tmp_path / "seeds" / "product.safetensors"
    loaded = Loaded(read_program(seed.path))
    first, second = loaded.calls(0)
    assert first.args[0].shape == (2, 6)
    assert second.args[0].shape == (3, 6)
    expected = first.args[0].numpy() @ (np.arange(30, dtype=np.float32).reshape(6, 5) / 7)
    np.testing.assert_allclose(loaded.instance()(*first.args).numpy(), expected, rtol=1e-5)


def test_weights_can_be_read_by_safetensors(tmp_path: Path) -> None:
    reader = pytest.importorskip("safetensors.torch", reason="the package safetensors is missing")
    seed = import_model(_saved(tmp_path, _model()), tmp_path / "seeds", ImportOptions())
    (weight,) = reader.load_file(seed.weights).values()
    np.testing.assert_array_equal(weight.numpy(), np.arange(30, dtype=np.float32).reshape(6, 5) / np.float32(7))


def test_drawn_weights_need_no_file(tmp_path: Path) -> None:
    seed = import_model(_saved(tmp_path, _model()), tmp_path / "seeds", ImportOptions(drawn=True))
    assert seed.weights is None
    assert "torch.rand(6, 5) * 4.14" in seed.path.read_text()


def test_gradients_make_weights_parameters(tmp_path: Path) -> None:
    seed = import_model(_saved(tmp_path, _model()), tmp_path / "seeds", ImportOptions(gradients=True))
    assert [name for name, _ in Loaded(read_program(seed.path)).instance().named_parameters()] == ["layer_weight"]


def test_size_of_a_symbol_is_fixed(tmp_path: Path) -> None:
    seed = import_model(_saved(tmp_path, _model()), tmp_path / "seeds", ImportOptions(sizes=(("batch", 9),)))
    (call,) = Loaded(read_program(seed.path)).calls(0)
    assert call.args[0].shape == (9, 6)


def test_same_model_gives_same_bytes(tmp_path: Path) -> None:
    path = _saved(tmp_path, _model())
    first = import_model(path, tmp_path / "one", ImportOptions())
    second = import_model(path, tmp_path / "two", ImportOptions())
    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.weights is not None
    assert second.weights is not None
    assert first.weights.read_bytes() == second.weights.read_bytes()


def test_cut_off_file_is_refused(tmp_path: Path) -> None:
    path = _saved(tmp_path, _model())
    path.write_bytes(path.read_bytes()[:-40])
    assert "cannot be decoded" in _problem(path, tmp_path)


def test_text_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_text("import torch\n" * 40)
    assert "no ONNX model" in _problem(path, tmp_path)


def test_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.touch()
    assert "no ONNX model: it has no graph" in _problem(path, tmp_path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    assert _problem(tmp_path / "absent.onnx", tmp_path) == "No such file or directory"


def test_device_is_refused(tmp_path: Path) -> None:
    assert _problem(Path("/dev/zero"), tmp_path) == "no file"


def test_old_opset_is_refused_with_what_to_do(tmp_path: Path) -> None:
    assert _problem(_saved(tmp_path, _model(6)), tmp_path).startswith("opset 6: opsets 7 to ")


def test_newer_opset_is_refused_with_what_to_do(tmp_path: Path) -> None:
    assert "install a newer onnx" in _problem(_saved(tmp_path, _model(999)), tmp_path)


def test_unsupported_operators_are_named_with_their_counts(tmp_path: Path) -> None:
    problem = _problem(_saved(tmp_path, _model(operator="FusedThing", domain="com.example")), tmp_path)
    assert problem == "unsupported operators: com.example.FusedThing (1)"


def test_invalid_graph_is_refused(tmp_path: Path) -> None:
    model = _model()
    model.graph.node[0].input[0] = "nothing"
    assert "not valid" in _problem(_saved(tmp_path, model), tmp_path)


def _with_external(folder: Path, location: str, length: int = 120) -> Path:
    model = _model()
    tensor = model.graph.initializer[0]
    onnx.external_data_helper.set_external_data(tensor, location, 0, length)
    tensor.ClearField("raw_data")
    return _saved(folder, model)


def test_external_data_in_the_folder_is_read(tmp_path: Path) -> None:
    path = _with_external(tmp_path / "model", "weights.bin")
    (tmp_path / "model" / "weights.bin").write_bytes(np.arange(30, dtype=np.float32).tobytes())
    seed = import_model(path, tmp_path / "seeds", ImportOptions())
    assert Loaded(read_program(seed.path)).instance().state_dict()["layer_weight"].flatten().tolist() == [*range(30)]


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/passwd", "link.bin"])
def test_external_data_outside_of_the_folder_is_refused(tmp_path: Path, location: str) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(120))
    path = _with_external(tmp_path / "model", location)
    (tmp_path / "model" / "link.bin").symlink_to(tmp_path / "secret.bin")
    assert "outside of its folder" in _problem(path, tmp_path)


def test_missing_external_data_is_named(tmp_path: Path) -> None:
    path = _with_external(tmp_path / "model", "weights.bin")
    assert "weights.bin: No such file" in _problem(path, tmp_path)


def test_cut_off_external_data_is_refused(tmp_path: Path) -> None:
    path = _with_external(tmp_path / "model", "weights.bin")
    (tmp_path / "model" / "weights.bin").write_bytes(bytes(60))
    assert "weights.bin is cut off" in _problem(path, tmp_path)


def test_constant_that_would_fill_the_memory_stays_code(tmp_path: Path) -> None:
    sizes = numpy_helper.from_array(np.array([2**20, 2**20], np.int64), "sizes")
    graph = helper.make_graph(
        [helper.make_node("ConstantOfShape", ["sizes"], ["huge"]), helper.make_node("Add", ["x", "huge"], ["y"])],
        "bomb",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", "columns"])],
        [sizes],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    seed = import_model(_saved(tmp_path, model, "bomb.onnx"), tmp_path / "seeds", ImportOptions())
    assert "torch.full((1048576, 1048576), 0.0, dtype=torch.float32)" in seed.path.read_text()


def test_seed_without_its_weights_is_invalid(tmp_path: Path) -> None:
    from eqfuzz.program.program import InvalidSeed

    seed = import_model(_saved(tmp_path, _model()), tmp_path / "seeds", ImportOptions())
    assert seed.weights is not None
    seed.weights.unlink()
    with pytest.raises(InvalidSeed, match=r"its weights are missing: put product\.safetensors beside it"):
        read_program(seed.path)


def test_shape_of_an_expansion_to_computed_sizes_is_known(tmp_path: Path) -> None:
    """NNSmith's models compute the sizes by nodes, which ONNX's shape inference does not follow."""

    def constant(name: str, values: list[int]) -> onnx.TensorProto:
        return numpy_helper.from_array(np.array(values, np.int64), name)

    nodes = [
        helper.make_node("Equal", ["ones", "flags"], ["is_kept"]),
        helper.make_node("Where", ["is_kept", "ones", "wanted"], ["sizes"]),
        helper.make_node("Expand", ["x", "sizes"], ["large"]),
        helper.make_node("Resize", ["large", "", "", "target"], ["y"], mode="linear"),
    ]
    graph = helper.make_graph(
        nodes,
        "expansion",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [26])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b", "c", "d"])],
        [
            constant("ones", [1, 1, 1, 1]),
            constant("flags", [-1, -1, -1, -1]),
            constant("wanted", [2, 1, 1, 26]),
            constant("target", [2, 1, 4, 4]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    seed = import_model(_saved(tmp_path, model, "expansion.onnx"), tmp_path / "seeds", ImportOptions())
    assert "F.interpolate(expand1, size=(4, 4)" in seed.path.read_text(encoding="utf-8")
