"""Samples taken at fixed distances in memory from a signal that was shifted in place."""

# /// defect
# cause = "Functionalisation gives what was mutated contiguous strides, which as_strided_copy then reads by"
# url = "https://github.com/pytorch/pytorch/issues/133512"
# torch = ">=2.13"
# kinds = ["wrong-result"]
# regex = 'as_strided_copy'
# ///

import torch


def program(signal, shift):
    signal.add_(shift)
    samples = torch.as_strided_copy(signal, (3,), (2,))
    return samples * 3, samples.sum()


def inputs(rng):
    yield rng.integers(-9, 10, 12)[::2], 4
