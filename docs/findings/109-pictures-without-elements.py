"""Interpolation of a picture without elements is NaN.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F

calls = [
    ("nearest", F.interpolate, torch.ones(1, 2, 0), (3,)),
    ("bilinear", lambda x: F.interpolate(x, (3, 3), mode="bilinear"), torch.ones(1, 2, 4, 0)),
    ("bicubic", lambda x: F.interpolate(x, (3, 3), mode="bicubic"), torch.ones(1, 2, 4, 0)),
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
