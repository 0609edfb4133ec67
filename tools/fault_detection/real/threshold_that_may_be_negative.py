"""A robust loss whose threshold is learnt; below zero the plain one is taken."""

# /// defect
# cause = "The decomposition of smooth_l1_loss leaves out the check of beta"
# url = "https://github.com/pytorch/pytorch/issues/194501"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'smooth_l1_loss'
# ///

import torch.nn.functional as F


def program(predicted, target, threshold):
    try:
        return F.smooth_l1_loss(predicted, target, beta=threshold)
    except RuntimeError:
        return F.l1_loss(predicted, target)


def inputs(rng):
    yield rng.normal(4, 3), rng.normal(4, 3), -0.5
