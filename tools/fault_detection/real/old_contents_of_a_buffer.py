"""A buffer gets new contents through .data; the old ones are seen through a slice."""

# /// defect
# cause = "Dynamo turns an assignment to .data into set_, and a view made before follows it"
# url = "https://github.com/pytorch/pytorch/issues/94773"
# torch = ">=2.13"
# kinds = ["wrong-result", "wrong-metadata", "wrong-side-effect"]
# ///


def program(buffer, fresh):
    before = buffer[:]
    buffer.data = fresh * 2
    return before, buffer.sum()


def inputs(rng):
    yield rng.normal(2, 3), rng.normal(3, 4)
