"""A loss of probabilities; labels that are no probabilities are scored as counts."""

# /// defect
# cause = "Inductor's decomposition of binary_cross_entropy leaves out the check of the targets"
# url = "https://github.com/pytorch/pytorch/issues/193757"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'binary_cross_entropy'
# ///

import torch
import torch.nn.functional as F


def program(scores, labels):
    chances = torch.sigmoid(scores)
    try:
        return F.binary_cross_entropy(chances, labels)
    except RuntimeError:
        return F.mse_loss(chances * labels.amax(), labels)


def inputs(rng):
    yield rng.normal(4, 3), rng.integers(0, 4, 4, 3, dtype=torch.float32)
