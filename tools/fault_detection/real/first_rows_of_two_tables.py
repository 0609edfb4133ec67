"""The first rows of two tables, read by generators that log when they are closed."""

# /// defect
# cause = "Dynamo does not close generators that are dropped before their end"
# url = "https://github.com/pytorch/pytorch/pull/157149"
# torch = ">=2.13"
# kinds = ["wrong-result", "wrong-side-effect"]
# ///

import torch


def rows(table, closed):
    try:
        for row in table:
            yield row
    finally:
        closed.append(tuple(table.shape))


def program(left, right, closed):
    first = next(rows(left, closed))
    second = next(rows(right, closed))
    return torch.tanh(first) + second * len(closed)


def inputs(rng):
    yield rng.normal(3, 4), rng.normal(2, 4), []
