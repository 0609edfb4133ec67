"""`repeat_interleave` fits its result to a wrong `output_size`.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch

calls = [
    ("too large", lambda x, n: torch.repeat_interleave(x, n, output_size=6), torch.ones(3), torch.tensor([1, 2, 1])),
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
