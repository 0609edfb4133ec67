"""What a mask leaves of the scores: its complement is written as 1 - mask where that is allowed."""

# /// defect
# cause = "The lowering of sub leaves out the check that neither operand is bool"
# url = "https://github.com/pytorch/pytorch/issues/195674"
# torch = ">=2.13"
# kinds = ["wrong-result", "exception-mismatch"]
# ///


def program(scores, mask):
    kept = scores * (1 - mask)
    return kept, kept.sum(dim=1)


def inputs(rng):
    yield rng.normal(3, 5), rng.integers(0, 2, 3, 5)
    yield rng.normal(3, 5), rng.booleans(3, 5)
