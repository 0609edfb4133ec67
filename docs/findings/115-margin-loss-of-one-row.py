"""`multilabel_margin_loss` of one row without reduction has a dimension.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(scores, labels):
    return torch.nn.functional.multilabel_margin_loss(scores, labels, reduction="none")


scores, labels = torch.tensor([0.1, 0.7, -0.3, 0.4]), torch.tensor([1, 3, -1, 0])
eager, compiled = f(scores, labels), torch.compile(f)(scores, labels)
print("eager:   ", tuple(eager.shape))
print("compiled:", tuple(compiled.shape))
raise SystemExit(eager.shape != compiled.shape)
