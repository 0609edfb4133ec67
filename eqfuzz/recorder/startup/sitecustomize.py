"""Python runs this when it starts in a process that is recorded; then the ``sitecustomize`` that it stands before."""

import importlib
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow to import
_PACKAGE = os.path.dirname(_HERE)  # noqa: PTH120
_NAME = "eqfuzz_recorder"
"""What ``eqfuzz.recorder`` is called here: the interpreter need not have eqfuzz."""


def _run_own() -> None:
    file = os.path.join(_PACKAGE, "__init__.py")  # noqa: PTH118
    spec = importlib.util.spec_from_file_location(_NAME, file, submodule_search_locations=[_PACKAGE])
    assert spec is not None
    sys.modules[_NAME] = importlib.util.module_from_spec(spec)
    importlib.import_module(f"{_NAME}.tracer").trace()


def _run_next() -> None:
    path = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_run_own()
_run_next()
