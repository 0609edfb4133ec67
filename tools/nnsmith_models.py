"""Random ONNX models of NNSmith, as seeds: ``python tools/nnsmith_models.py --count 40 --out DIR``.

It runs in an environment of its own, with ``pip install nnsmith torch onnx``; NNSmith's packages are from 2023. Then
``eqfuzz seeds import DIR --drawn --out seeds`` makes seeds of them. NNSmith's own command calls torch's exporter with
arguments that the newer one does not take, and asks it about each operator first, which takes minutes; this takes the
operators as they are declared and skips a model that cannot be exported. ``--kernel 3`` takes models with a convolution
of that size, for the pools of ``eqfuzz seeds select``. The same seeds give the same models.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Write the models; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python tools/nnsmith_models.py", description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="how many models (default: %(default)s)")
    parser.add_argument("--start", type=int, default=0, help="first random seed (default: %(default)s)")
    parser.add_argument("--nodes", type=int, default=8, help="operators of a model at most (default: %(default)s)")
    parser.add_argument(
        "--elements", type=int, default=2**12, help="numbers of a tensor at most (default: %(default)s)"
    )
    parser.add_argument("--kernel", type=int, metavar="N", help="only models with a convolution, of kernel size N")
    parser.add_argument("--out", type=Path, required=True, help="folder of the models")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    if options.kernel is not None:
        _fix_kernel_size(options.kernel)
    seed, written = options.start, 0
    while written < options.count:
        file = options.out / f"nnsmith_{seed:04}.onnx"
        problem = _write(seed, options.nodes, options.elements, file, convolution=options.kernel is not None)
        print(f"{file}" if not problem else f"seed {seed}: {problem}", flush=True)
        written += not problem
        seed += 1
    return 0


def _fix_kernel_size(size: int) -> None:
    from nnsmith.abstract.arith import nnsmith_eq
    from nnsmith.abstract.op import NCHWConv2d

    require = NCHWConv2d.requires

    def requires(self, input_shapes):
        sizes = self.kernel_h_size, self.kernel_w_size
        return [*require(self, input_shapes), *(nnsmith_eq(one, size) for one in sizes)]

    NCHWConv2d.requires = requires


def _write(seed: int, nodes: int, elements: int, file: Path, *, convolution: bool) -> str:
    """Write the model of a random seed; returns why there is none, in one line, or nothing."""
    import torch
    from nnsmith.abstract.dtype import DType
    from nnsmith.graph_gen import model_gen
    from nnsmith.materialize import Model

    torch.manual_seed(seed)
    kind = Model.init("torch", "cpu")
    operators = [operator for operator in kind.operators() if not operator.limit_domain]
    floats = [DType.float32, DType.int64, DType.bool]
    try:
        generated = model_gen(
            opset=operators,
            method="symbolic-cinit",
            seed=seed,
            max_elem_per_tensor=elements,
            max_nodes=nodes,
            timeout_ms=10_000,
            dtype_choices=floats,
        )
        network = kind.from_gir(generated.make_concrete()).torch_model
        if convolution and not any(isinstance(module, torch.nn.Conv2d) for module in network.modules()):
            return "no convolution"
        network.eval()
        inputs = {name: torch.ones(kind.shape, dtype=kind.dtype.torch()) for name, kind in network.input_like.items()}
        torch.onnx.export(
            network,
            (inputs,) if not inputs else tuple(inputs.values()),
            file,
            input_names=list(inputs),
            opset_version=17,
            dynamo=False,
        )
    except Exception as error:  # of a generator and an exporter that refuse each other's models in many ways
        file.unlink(missing_ok=True)
        return f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
