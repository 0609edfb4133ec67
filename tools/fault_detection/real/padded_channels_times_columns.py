"""Gated features stored channels last are padded in two directions and multiplied."""

# /// defect
# cause = "A reduction that is tiled in two dimensions stores whole vectors in the tail of a row"
# url = "https://github.com/pytorch/pytorch/issues/196681"
# torch = ">=2.13"
# kinds = ["process-crash", "wrong-result"]
# regex = '\bpad\b'
# ///

import torch
import torch.nn.functional as F


def program(x):
    gated = x * 0.5 * (torch.erf(x * 0.7071) + 1)
    columns = F.pad(gated.permute(3, 2, 1, 0), (0, 0, 0, 58), value=0.5)
    rows = F.pad(gated, (0, 0, 0, 0, 0, 58), value=0.5)
    return rows @ columns


def inputs(rng):
    yield (rng.normal(1, 8, 66, 66).contiguous(memory_format=torch.channels_last),)
