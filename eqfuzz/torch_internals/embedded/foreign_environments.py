"""Where compilers that are no part of torch are installed. A script contains this text."""

import os
from pathlib import Path

FOREIGN = ("onnxruntime", "openvino", "tvm_relax")
"""Backends that run graphs in another compiler: ONNX Runtime, OpenVINO, TVM."""


def foreign_python(name: str) -> Path:
    """The interpreter of a compiler's environment, whether or not it exists; ``EQFUZZ_NAME_PYTHON`` names another."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get(f"EQFUZZ_{name.upper()}_PYTHON") or cache / "eqfuzz" / "backends" / name / "bin/python")
