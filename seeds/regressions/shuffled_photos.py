"""Photos, channels last, whose channels are shuffled (docs/findings/127)."""

import torch
import torch.nn.functional as F


def program(x):
    return F.channel_shuffle(x, 3)


def inputs(rng):
    yield (rng.normal(2, 6, 4, 4).to(memory_format=torch.channels_last),)
