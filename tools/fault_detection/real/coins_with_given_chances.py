"""Coins that fall as their chances say, all of them 0 or 1; a chance above 1 is refused."""

# /// defect
# cause = "The lowering of bernoulli leaves out the check that probabilities lie between 0 and 1"
# url = "https://github.com/pytorch/pytorch/issues/185246"
# torch = ">=2.13"
# kinds = ["wrong-result", "exception-mismatch"]
# regex = 'Expected p_in'
# ///

import torch


def program(chances, stakes):
    heads = torch.bernoulli(chances)
    return heads * stakes, heads.sum()


def inputs(rng):
    yield rng.choice([0.0, 1.0], 6), rng.normal(6)
    yield rng.choice([0.0, 1.0], 6) * 1.5, rng.normal(6)
