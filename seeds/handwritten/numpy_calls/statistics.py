"""Statistics with NumPy inside the program, on arrays made from tensors."""

import numpy as np
import torch


def program(x):
    a = x.cpu().numpy()
    mean = np.mean(a, axis=0)
    centred = a - mean
    covariance = centred.T @ centred / (a.shape[0] - 1)
    spread = np.sqrt(np.diagonal(covariance))
    scaled = np.where(centred > 0, centred / spread, -centred)
    return torch.from_numpy(covariance) * 2, torch.as_tensor(scaled).sum(dim=0), np.max(a, axis=1)


def inputs(rng):
    yield rng.normal(15, 6)
    yield rng.normal(40, 6)
