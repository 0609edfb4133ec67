"""`index_add`, `index_copy` and `put` convert a source of another dtype.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch

calls = [
    ("index_add", torch.index_add, torch.zeros(3, dtype=torch.long), 0, torch.tensor([0]), torch.tensor([1.7])),
    ("index_copy", torch.index_copy, torch.zeros(3, dtype=torch.long), 0, torch.tensor([0]), torch.tensor([1.7])),
    ("put", torch.put, torch.zeros(3, dtype=torch.long), torch.tensor([0]), torch.tensor([1.7])),
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
