"""Votes are added up per candidate; a vote for no candidate (-1) must be refused."""

# /// defect
# cause = "index_add is decomposed into index_put, which takes negative indices that index_add refuses"
# url = "https://github.com/pytorch/pytorch/issues/185885"
# torch = ">=2.13"
# kinds = ["wrong-result", "exception-mismatch"]
# regex = 'index out of range'
# ///

import torch


def program(tally, candidates, weights):
    counted = torch.index_add(tally, 0, candidates, weights)
    return counted, counted / counted.sum()


def inputs(rng):
    yield torch.ones(5), torch.tensor([0, 2, 2, 4]), rng.uniform(4)
    yield torch.ones(5), torch.tensor([0, 2, -1, 4]), rng.uniform(4)
