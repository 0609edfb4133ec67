"""Backends of torch.compile that export each graph. A script that reproduces a finding contains this text."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.registry import _COMPILER_FNS, register_backend
from torch._guards import tracing
from torch._subclasses.fake_tensor import unset_fake_temporarily


class UnsupportedGraph(Exception):
    """``torch.export`` does not take the graph; ``str()`` is its message."""


def register_exporting_backends() -> None:
    """Make ``torch.compile`` know the backends ``export`` and ``aot_inductor``."""
    for name, compile_exported in (("export", _decomposed), ("aot_inductor", _compiled_ahead)):
        if name not in _COMPILER_FNS:
            compiler = _compiler(compile_exported)
            register_backend(aot_autograd(fw_compiler=compiler, bw_compiler=compiler), name=name)


def _compiler(compile_exported: Callable[[torch.export.ExportedProgram], Callable[..., Any]]) -> Callable[..., Any]:
    def compile_graph(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[[list[Any]], Any]:
        with unset_fake_temporarily(), tracing(None), torch.no_grad():
            run = compile_exported(exported(graph, inputs))

        def boxed(arguments: list[Any]) -> Any:
            taken = [one.detach() if isinstance(one, torch.Tensor) else one for one in arguments]
            arguments.clear()
            with torch.no_grad():
                return list(run(*taken))

        boxed._boxed_call = True  # type: ignore[attr-defined]
        return boxed

    return compile_graph


def exported(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> torch.export.ExportedProgram:
    """The graph as ``torch.export`` has it. Raises UnsupportedGraph."""
    if not all(isinstance(one, torch.Tensor) for one in inputs):
        raise UnsupportedGraph("the backend does not support a graph that takes sizes")
    examples = tuple(map(_zeros_like, inputs))
    try:
        return torch.export.export(graph, examples, strict=False)
    except Exception as error:
        raise UnsupportedGraph(f"torch.export does not support the graph: {type(error).__name__}: {error}") from None


def _zeros_like(value: torch.Tensor) -> torch.Tensor:
    """Zeros with the strides and the offset of a tensor, whose elements may share memory; graphs refer to both."""
    offset = int(value.storage_offset())
    ends = [(size - 1) * stride for size, stride in zip(value.size(), value.stride(), strict=True)]
    flat = torch.zeros(offset + sum(ends) + 1 if value.numel() else 0, dtype=value.dtype, device=value.device)
    return flat.as_strided(value.size(), value.stride(), offset if value.numel() else 0)


def _decomposed(program: torch.export.ExportedProgram) -> Callable[..., Any]:
    return program.run_decompositions().module()


def _compiled_ahead(program: torch.export.ExportedProgram) -> Callable[..., Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = torch._inductor.aoti_compile_and_package(program, package_path=str(Path(folder) / "model.pt2"))
        return torch._inductor.aoti_load_package(path)
