"""A helper that notes the shapes it sees in a list that its class closes over."""

# /// defect
# cause = "Dynamo drops what a method of an object made while tracing does to a list of its closure"
# url = "https://github.com/pytorch/pytorch/issues/197896"
# torch = ">=2.13"
# kinds = ["wrong-side-effect"]
# regex = 'append'
# ///

import torch


def make_tracker():
    seen = []

    class Tracker:
        def note(self, name, tensor):
            seen.append((name, tuple(tensor.shape)))
            return tensor

    return Tracker, seen


Tracker, SEEN = make_tracker()


def program(x, weight):
    tracker = Tracker()
    hidden = tracker.note("hidden", torch.relu(x @ weight))
    return tracker.note("mean", hidden.mean(0))


def inputs(rng):
    yield rng.normal(4, 6), rng.normal(6, 3)
