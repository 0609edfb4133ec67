"""Rows visited in an order that Python's generator shuffles anew at every call."""

# /// defect
# cause = "Dynamo runs random.shuffle once, while it traces, and bakes the order in"
# url = "https://github.com/pytorch/pytorch/issues/197085"
# torch = ">=2.13"
# kinds = ["wrong-result", "wrong-side-effect"]
# ///

import random

import torch


def program(rows, weight):
    order = list(range(rows.shape[0]))
    random.shuffle(order)
    visited = torch.stack([rows[i] * (place + 1) for place, i in enumerate(order)])
    return visited @ weight, order


def inputs(rng):
    yield rng.normal(7, 5), rng.normal(5, 3)
