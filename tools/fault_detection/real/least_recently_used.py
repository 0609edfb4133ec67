"""A lookup in a small cache of embeddings, which moves what was used to the end."""

# /// defect
# cause = "Dynamo does not replay OrderedDict.move_to_end on a dictionary that it was given"
# url = "https://github.com/pytorch/pytorch/issues/198189"
# torch = ">=2.13"
# kinds = ["wrong-side-effect"]
# regex = 'move_to_end'
# ///

import collections

import torch


def program(cache, name, x):
    cache.move_to_end(name)
    scale, shift = cache[name]
    return torch.tanh(x) * scale + shift


def inputs(rng):
    entries = {"small": (0.5, 1), "medium": (1.0, 2), "large": (2.0, 3)}
    yield collections.OrderedDict(entries), "small", rng.normal(4, 6)
    yield collections.OrderedDict(entries), "medium", rng.normal(4, 6)
