"""Operands of different dtypes, which eager refuses, are promoted.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F

calls = [
    ("mv", torch.mv, torch.ones(2, 3), torch.ones(3).double()),
    ("cross", torch.cross, torch.ones(2, 3), torch.ones(2, 3).double()),
    ("heaviside", torch.heaviside, torch.ones(2), torch.ones(2).double()),
    ("layer_norm", torch.layer_norm, torch.randn(2, 3), (3,), torch.ones(3).double()),
    ("nll_loss", F.nll_loss, torch.randn(2, 3), torch.tensor([0, 1]), torch.ones(3).double()),
]
accepted = 0
for name, call, *arguments in calls:
    ends = []
    for run in (call, torch.compile(call)):
        try:
            ends.append(f"returns {run(*arguments)}")
        except Exception as error:
            ends.append(f"raises {type(error).__name__}: {error}".partition("\n")[0])
    print(f"{name}\n  eager:    {ends[0]}\n  compiled: {ends[1]}")
    accepted += ends[0].startswith("raises") and ends[1].startswith("returns")
raise SystemExit(accepted > 0)
