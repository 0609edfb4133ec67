"""`as_strided` beyond the end of its storage reads what lies in memory there.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch

calls = [
    ("as_strided", lambda x: torch.as_strided(x, (3, 4), (2, 1)) + 0, torch.ones(7)),
    ("as_strided_copy", torch.as_strided_copy, torch.ones(7), (3, 4), (2, 1)),
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
