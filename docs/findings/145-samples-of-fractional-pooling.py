"""`fractional_max_pool3d` takes the random samples of depth for those of width.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x, samples):
    return torch.nn.functional.fractional_max_pool3d(x, 2, output_size=(4, 4, 4), _random_samples=samples)


x = torch.arange(6.0**3).reshape(1, 1, 6, 6, 6)
samples = torch.tensor([[[0.1, 0.1, 0.5]]])
right, compiled = f(x, samples), torch.compile(f)(x, samples)
print("eager:   ", right[0, 0, :, 2, 0])
print("compiled:", compiled[0, 0, :, 2, 0])
raise SystemExit(not torch.equal(right, compiled))
