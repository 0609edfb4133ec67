"""Backends of torch.compile that run each graph in another compiler, as ONNX. A script contains this text."""

import io
import logging
import os
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import torch
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.registry import _COMPILER_FNS, register_backend
from torch._guards import tracing
from torch._subclasses.fake_tensor import unset_fake_temporarily

from eqfuzz.torch_internals.embedded.array_messages import packed, read_message, unpacked, write_message
from eqfuzz.torch_internals.embedded.exporting_backends import UnsupportedGraph, exported
from eqfuzz.torch_internals.embedded.foreign_environments import FOREIGN, foreign_python

_WITHOUT_NAME_IN_NUMPY = (torch.bfloat16, torch.complex32)
_ROUNDED = {"openvino": (torch.float64,)}
"""Dtypes that a compiler takes and computes in another one."""


class ForeignCompilerError(Exception):
    """The other compiler raised; ``str()`` is its message."""


def register_foreign_backends(server: str) -> None:
    """Make ``torch.compile`` know them. ``server`` is the text of the program that runs models."""
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    for name in FOREIGN:
        if name not in _COMPILER_FNS:
            compiler = _compiler(_Server(name, server))
            # The exporter decomposes too, but leaves derivatives of activations, for which it has no translation.
            backend = aot_autograd(fw_compiler=compiler, bw_compiler=compiler, decompositions=core_aten_decompositions)  # type: ignore[arg-type]
            register_backend(backend, name=name)


class _Server:
    """A process that runs models with one compiler; it starts at the first model and ends with this process."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text
        self._process: subprocess.Popen[bytes] | None = None

    def load(self, model: bytes) -> int:
        """The model's number. Raises UnsupportedGraph and ForeignCompilerError."""
        return int(self._ask(b"m", model))

    def run(self, number: int, arrays: Sequence[numpy.ndarray]) -> list[numpy.ndarray]:
        """The outputs of a model. Raises UnsupportedGraph and ForeignCompilerError."""
        return unpacked(self._ask(b"r", packed([number, *arrays])))

    def _ask(self, kind: bytes, content: bytes) -> bytes:
        if self._process is None or self._process.poll() is not None:
            command = [str(foreign_python(self.name)), "-c", self._text, self.name]
            environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
            )
        assert isinstance(self._process.stdin, io.BufferedWriter) and isinstance(
            self._process.stdout, io.BufferedReader
        )
        try:
            write_message(self._process.stdin, kind, content)
            answer = read_message(self._process.stdout)
        except BrokenPipeError:
            answer = None
        if answer is None:
            raise ForeignCompilerError(f"the process of {self.name} ended with status {self._process.wait()}")
        status, result = answer
        if status == b"u":
            raise UnsupportedGraph(f"{self.name} does not support the graph: {result.decode()}")
        if status == b"e":
            raise ForeignCompilerError(f"{self.name}: {result.decode()}")
        return result


def _compiler(server: _Server) -> Callable[..., Any]:
    def compile_graph(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[[list[Any]], Any]:
        whole, results = _with_tensor_outputs(graph)
        shapes = [one.meta["val"] for one in results]
        _refuse_dtypes([*inputs, *shapes], server.name)
        _refuse_random_numbers(whole)
        order = list(_outputs(graph))
        number = None
        if results:
            with unset_fake_temporarily(), tracing(None), torch.no_grad():
                number = server.load(_onnx(exported(whole, inputs)))

        def boxed(arguments: list[Any]) -> Any:
            arrays = [one.detach().resolve_conj().resolve_neg().contiguous().numpy() for one in arguments]
            arguments.clear()
            values = [] if number is None else server.run(number, arrays)
            tensors = dict(zip(results, map(_laid_out, values, shapes), strict=True))
            return [tensors[one] if isinstance(one, torch.fx.Node) else one for one in order]

        boxed._boxed_call = True  # type: ignore[attr-defined]
        return boxed

    return compile_graph


def _outputs(graph: torch.fx.GraphModule) -> Sequence[Any]:
    [output] = graph.graph.find_nodes(op="output")
    return output.args[0]  # type: ignore[return-value]


def _with_tensor_outputs(graph: torch.fx.GraphModule) -> tuple[torch.fx.GraphModule, list[torch.fx.Node]]:
    """A copy that returns each tensor once, and the graph's own nodes of them."""
    results = list(dict.fromkeys(one for one in _outputs(graph) if isinstance(one, torch.fx.Node)))
    copy = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    copy.graph_copy(graph.graph, copies)
    copy.output(tuple(copies[node] for node in results))
    return torch.fx.GraphModule(graph, copy), results


def _refuse_dtypes(values: Sequence[Any], name: str) -> None:
    for value in values:
        if not isinstance(value, torch.Tensor):
            continue
        if value.dtype in _WITHOUT_NAME_IN_NUMPY or (value.dtype.itemsize == 1 and value.is_floating_point()):
            raise UnsupportedGraph(f"the backend does not support {value.dtype}, which numpy does not have")
        if value.is_complex():
            raise UnsupportedGraph(f"the backend does not support {value.dtype}, on which ONNX has no operators")
        if value.dtype in _ROUNDED.get(name, ()):
            raise UnsupportedGraph(f"{name} computes {value.dtype} in another dtype")


def _refuse_random_numbers(graph: torch.fx.GraphModule) -> None:
    for node in graph.graph.nodes:
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            raise UnsupportedGraph(f"the backend does not support random numbers as torch draws them: {node.target}")


def _onnx(program: torch.export.ExportedProgram) -> bytes:
    try:
        model = torch.onnx.export(program, dynamo=True, verbose=False)
        assert model is not None
        return model.model_proto.SerializeToString()
    except Exception as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        first = next(iter(str(cause).splitlines()), "")
        raise UnsupportedGraph(f"torch.onnx does not support the graph: {type(cause).__name__}: {first}") from None


def _laid_out(value: numpy.ndarray, like: torch.Tensor) -> torch.Tensor:
    """The tensor of a result, with the strides that the graph promises where it has their shape."""
    tensor = torch.from_numpy(numpy.array(value))
    if tensor.shape != like.shape or tensor.dtype != like.dtype:
        return tensor
    whole = torch.empty_strided(like.shape, like.stride(), dtype=like.dtype)
    once = whole
    for dim, stride in enumerate(like.stride()):
        if stride == 0:
            once, tensor = once.narrow(dim, 0, min(once.size(dim), 1)), tensor.narrow(dim, 0, min(tensor.size(dim), 1))
    once.copy_(tensor)
    return whole
