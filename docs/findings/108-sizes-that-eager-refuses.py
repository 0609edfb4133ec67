"""Sizes that eager refuses are broadcast.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F

calls = [
    ("nll_loss", F.nll_loss, torch.randn(2, 3, 2, 4), torch.zeros(2, 1, 4).long()),
    ("soft_margin_loss", F.soft_margin_loss, torch.ones(5), torch.ones(5, 5)),
    ("conv_transpose1d", F.conv_transpose1d, torch.ones(1, 2, 5), torch.ones(1, 2, 3, 3)),
    ("index_select", torch.index_select, torch.tensor(3.0), 0, torch.tensor([0, 0])),
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
