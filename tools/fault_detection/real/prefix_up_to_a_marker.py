"""Prefixes of a sequence up to markers, which are objects that serve as indices."""

# /// defect
# cause = "Dynamo gives a slice of a tensor an object with __index__ as it is"
# url = "https://github.com/pytorch/pytorch/issues/196172"
# torch = ">=2.13"
# kinds = ["exception-mismatch", "compiler-crash"]
# regex = 'slice indices must be integers'
# ///


class Marker:
    """A place in a sequence."""

    def __init__(self, place):
        self.place = place

    def __index__(self):
        return self.place


def program(sequence, first, second):
    head = sequence[: Marker(first)]
    return head.cumsum(0), sequence[Marker(first) : Marker(second)] * 2


def inputs(rng):
    yield rng.normal(9, 3), 2, 5
