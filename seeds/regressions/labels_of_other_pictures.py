"""Labels of pictures that are one row too high (docs/findings/108)."""

import torch.nn.functional as F

refuses = True


def program(scores, labels):
    return F.nll_loss(scores.log_softmax(1), labels)


def inputs(rng):
    yield rng.normal(2, 3, 2, 4), rng.integers(0, 3, 2, 1, 4)
