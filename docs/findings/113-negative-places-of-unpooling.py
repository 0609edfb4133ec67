"""`max_unpool` takes negative places from the end.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F

calls = [
    ("max_unpool1d", F.max_unpool1d, torch.ones(1, 1, 3), torch.tensor([[[0, 3, -2]]]), 2),
    ("max_unpool2d", F.max_unpool2d, torch.ones(1, 1, 1, 1), torch.tensor([[[[-2]]]]), 2),
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
