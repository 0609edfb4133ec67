"""Reads ONNX models that nothing is known about. Runs in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto, external_data_helper, inliner, shape_inference

from eqfuzz.imports.onnx.registry import translations
from eqfuzz.imports.text.literals import Unsupported

OLDEST_OPSET = 7
MOST_NODES = 20_000


class InvalidModel(Exception):
    """A file is no model that can be read. ``str()`` says why, without the file's name."""


def parse(path: Path) -> onnx.ModelProto:
    """The model in a file, without the data that lie in other files. Raises InvalidModel."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidModel(f"cannot be read: {error.strerror}") from None
    if content.startswith(b"version https://git-lfs"):
        raise InvalidModel("a pointer of Git LFS, not the model: run `git lfs pull`")
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError:
        raise InvalidModel("no ONNX model, or cut off: its protocol buffer cannot be decoded") from None
    if not model.HasField("graph") or not model.opset_import:
        raise InvalidModel("no ONNX model: it has no graph or no opset")
    return model


def opset_of(model: onnx.ModelProto) -> int:
    """The opset of the model's own operators. Raises InvalidModel for one that is too old or too new."""
    versions = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    if not versions:
        raise InvalidModel("it uses no operators of ONNX itself")
    newest = onnx.defs.onnx_opset_version()
    if not OLDEST_OPSET <= versions[0] <= newest:
        hint = "install a newer onnx" if versions[0] > newest else "convert it with onnx.version_converter"
        raise InvalidModel(f"opset {versions[0]}: opsets {OLDEST_OPSET} to {newest} are read; {hint}")
    return versions[0]


def external_names(model: onnx.ModelProto) -> list[str]:
    """Names of the files with weights that the model refers to, in order. Raises InvalidModel."""
    names: dict[str, None] = {}
    for tensor in external_data_helper._get_all_tensors(model):
        if external_data_helper.uses_external_data(tensor):
            location = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
            if not location:
                raise InvalidModel(f"the tensor {tensor.name!r} lies in another file, which is not named")
            names.setdefault(location)
    return list(names)


def load_external(model: onnx.ModelProto, paths: Mapping[str, Path]) -> None:
    """Put the data of other files into the model; ``paths`` are theirs by name. Raises InvalidModel."""
    for tensor in external_data_helper._get_all_tensors(model):
        if not external_data_helper.uses_external_data(tensor):
            continue
        entries = {entry.key: entry.value for entry in tensor.external_data}
        path = paths[entries["location"]]
        try:
            offset, length = int(entries.get("offset", 0)), int(entries["length"]) if "length" in entries else None
            if offset < 0 or (length is not None and length < 0):
                raise ValueError
            with path.open("rb") as file:
                file.seek(offset)
                data = file.read(length if length is not None else -1)
        except ValueError:
            raise InvalidModel(f"the tensor {tensor.name!r} has no valid place in {path.name}") from None
        except OSError as error:
            raise InvalidModel(f"{path.name}: {error.strerror}") from None
        if length is not None and len(data) != length:
            raise InvalidModel(f"{path.name} is cut off: the tensor {tensor.name!r} ends behind its end")
        tensor.raw_data = data
        tensor.data_location = TensorProto.DEFAULT
        del tensor.external_data[:]


def prepared(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its functions inlined, and with the types of values. Raises InvalidModel and Unsupported."""
    if len(model.graph.node) > MOST_NODES:
        raise Unsupported(f"{len(model.graph.node)} nodes: {MOST_NODES} are read at most")
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise InvalidModel(f"not valid: {_first_line(error)}") from None
    try:
        model = inliner.inline_local_functions(model)
        model = _with_known_operators(shape_inference.infer_shapes(model, data_prop=True))
        return shape_inference.infer_shapes(model, data_prop=True)
    except (RuntimeError, shape_inference.InferenceError, onnx.checker.ValidationError) as error:
        raise InvalidModel(f"not valid: {_first_line(error)}") from None


def _with_known_operators(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with ONNX's definition in place of operators that have one and no translation."""
    unknown = {
        node.op_type
        for node in model.graph.node
        if node.domain in ("", "ai.onnx") and node.op_type not in translations()
    }
    defined = [(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas() if _is_defined(schema)]
    chosen = [(domain, name) for domain, name in defined if domain == "" and name in unknown]
    if not chosen:
        return model
    try:
        return inliner.inline_selected_functions(model, chosen, inline_schema_functions=True)
    except RuntimeError:  # types that it needs are not known: the operators are reported as unsupported
        return model


def _is_defined(schema: onnx.defs.OpSchema) -> bool:
    # onnx's stubs leave both out
    return schema.has_function or schema.has_context_dependent_function  # pyright: ignore[reportAttributeAccessIssue]


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
