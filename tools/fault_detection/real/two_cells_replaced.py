"""Two cells of a table that is stored by columns are replaced by their flat number."""

# /// defect
# cause = "Inductor's decomposition of put gives contiguous strides whatever its input has"
# url = "https://github.com/pytorch/pytorch/issues/198364"
# torch = ">=2.13"
# kinds = ["wrong-metadata"]
# regex = 'put'
# ///

import torch


def program(table, places, values):
    return table.put(places, values), table.sum(0)


def inputs(rng):
    yield rng.normal(6, 5).t(), torch.tensor([0, 7]), rng.normal(2)
