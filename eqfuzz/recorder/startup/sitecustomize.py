"""Python runs this when it starts in a process that is recorded; then the ``sitecustomize`` that it stands before."""

import importlib
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_PACKAGE = _HERE.parent
_NAME = "eqfuzz_recorder"
"""What ``eqfuzz.recorder`` is called here: the interpreter need not have eqfuzz."""


def _run_own() -> None:
    spec = importlib.util.spec_from_file_location(
        _NAME, _PACKAGE / "__init__.py", submodule_search_locations=[str(_PACKAGE)]
    )
    assert spec is not None
    sys.modules[_NAME] = importlib.util.module_from_spec(spec)
    importlib.import_module(f"{_NAME}.tracer").trace()


def _run_next() -> None:
    path = [entry for entry in sys.path if Path(entry).resolve() != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_run_own()
_run_next()
