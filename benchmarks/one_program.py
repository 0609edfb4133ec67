"""Runs one program without eqfuzz: the cost of a fuzzer that starts a Python process per program.

Reads ``{"source": …, "backward": …}`` from stdin; the program takes two 16 × 16 float32 tensors and returns two.
"""

import json
import sys
from typing import Any

import numpy as np
import torch
import torch._inductor.config as inductor_config


def main() -> None:
    request = json.load(sys.stdin)
    namespace: dict[str, object] = {}
    exec(compile(request["source"], "random.py", "exec"), namespace)
    program: Any = namespace["program"]
    rng = np.random.default_rng(0)
    x, y = (torch.from_numpy(rng.standard_normal((16, 16)).astype(np.float32)) for _ in range(2))
    for tensor in (x, y):
        tensor.requires_grad_(request["backward"])
    inductor_config.fallback_random = True  # type: ignore[attr-defined]
    for function in (program, torch.compile(program)):
        outputs = function(x, y)
        if request["backward"]:
            (outputs[0].sum() + outputs[1].sum()).backward()


if __name__ == "__main__":
    main()
