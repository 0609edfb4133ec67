"""Integer stocks are raised by orders times units, in place."""

# /// defect
# cause = "Dynamo replaces addcmul_ of integers by a fused multiply-add, which computes in float32"
# url = "https://github.com/pytorch/pytorch/pull/176866"
# torch = ">=2.13"
# kinds = ["wrong-metadata", "wrong-result", "wrong-side-effect"]
# regex = 'fma'
# ///


def program(stock, orders, units):
    stock.addcmul_(orders, units, value=1)
    return stock * 2, stock.sum()


def inputs(rng):
    yield rng.integers(0, 50, 6), rng.integers(0, 9, 6), rng.integers(1, 4, 6)
