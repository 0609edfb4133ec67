"""Runs ONNX models where another compiler is installed: ``python -c TEXT NAME``. A script contains this text.

It needs numpy and that compiler. A model is a message ``m``, answered by its number; that number and arrays are a
message ``r``, answered by arrays. Other answers are ``u``, not supported, and ``e``, an error, with a text.
"""

import os
import sys
from collections.abc import Callable, Sequence

import numpy

from eqfuzz.torch_internals.embedded.array_messages import packed, read_message, unpacked, write_message

Run = Callable[[Sequence[numpy.ndarray]], Sequence[numpy.ndarray]]


def serve() -> None:
    """Answer until the input ends. What a compiler prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    load, refusals = COMPILERS[sys.argv[1]]
    models: list[Run] = []
    while message := read_message(sys.stdin.buffer):
        kind, content = message
        try:
            if kind == b"m":
                models.append(load(content))
                answer = b"m", str(len(models) - 1).encode()
            else:
                number, *arrays = unpacked(content)
                answer = b"r", packed(models[int(number)](arrays))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            refused = any(refusal in text for refusal in refusals)
            answer = b"u" if refused else b"e", text.encode()
        write_message(answers, *answer)


def _onnxruntime(model: bytes) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    return lambda arrays: session.run(None, dict(zip(names, arrays, strict=True)))  # type: ignore[return-value]


def _openvino(model: bytes) -> Run:
    import openvino  # type: ignore[import-not-found]

    options = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.compile_model(openvino.Core().read_model(model), "CPU", options)
    return lambda arrays: list(compiled(list(arrays)).to_tuple())


def _tvm_relax(model: bytes) -> Run:
    import onnx
    import tvm  # type: ignore[import-not-found]
    from tvm import relax  # type: ignore[import-not-found]
    from tvm.relax.frontend.onnx import from_onnx  # type: ignore[import-not-found]

    module = from_onnx(onnx.load_from_string(model), keep_params_in_input=False)
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())

    def run(arrays: Sequence[numpy.ndarray]) -> list[numpy.ndarray]:
        results = machine["main"](*[tvm.runtime.tensor(one) for one in arrays])
        return [one.numpy() for one in ([results] if hasattr(results, "numpy") else results)]

    return run


COMPILERS = {
    "onnxruntime": (_onnxruntime, ("NotImplemented:",)),
    "openvino": (_openvino, ("OpConversionFailure", "not supported", "NotImplemented")),
    "tvm_relax": (
        _tvm_relax,
        ("OpNotImplemented", "NotImplementedError", "not supported", "during conversion", "only applies to float"),
    ),
}
"""For each compiler what loads a model, and what it says of one that it does not take."""

if __name__ == "__main__":
    serve()
