"""Columns at regular distances are doubled through windows that leave gaps."""

# /// defect
# cause = "Functionalisation writes zeros between the windows of an unfold whose step is larger than its size"
# url = "https://github.com/pytorch/pytorch/issues/198102"
# torch = ">=2.13"
# kinds = ["wrong-result", "wrong-side-effect"]
# regex = 'unfold'
# ///


def program(counts, offset):
    windows = counts.unfold(1, 1, 3)
    windows.mul_(2).add_(offset)
    return counts, counts.sum(0)


def inputs(rng):
    yield rng.integers(1, 9, 4, 7), 1
    yield rng.integers(1, 9, 4, 7), 5
