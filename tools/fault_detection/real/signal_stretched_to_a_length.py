"""A signal is stretched to a fixed length; one without samples is refused."""

# /// defect
# cause = "The decomposition of nearest upsampling leaves out the check that no size is 0"
# url = "https://github.com/pytorch/pytorch/issues/197095"
# torch = ">=2.13"
# kinds = ["wrong-result", "exception-mismatch"]
# regex = 'sizes should be greater than'
# ///

import torch.nn.functional as F


def program(signal, gain):
    loud = signal * gain
    return F.interpolate(loud, size=6, mode="nearest")


def inputs(rng):
    yield rng.normal(2, 3, 4), 0.5
    yield rng.normal(2, 3, 0), 0.5
