"""`split_cat_to_slices_pass` joins pieces along the dimension of the split.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch

PASSES = {"normalization_pass": {}, "split_cat_to_slices_pass": {}}


def f(x):
    first, *others = torch.split(x, 1, dim=1)
    return torch.cat([*others, first], dim=0)


x = torch.arange(24.0).reshape(2, 12)
eager = f(x)
compiled = torch.compile(f, options={"pre_grad_fusion_options": PASSES})(x)
print("eager:   ", eager.shape)
print("compiled:", compiled.shape)
raise SystemExit(not (eager.shape == compiled.shape and eager.equal(compiled)))
