"""The lowering of ``abs`` gives its operand back."""

import torch
from torch._inductor.lowering import lowerings

MET_BY = r"\babs\(|\babsolute\("


def plant():
    clone = lowerings[torch.ops.aten.clone.default]
    original = lowerings[torch.ops.aten.abs.default]
    lowerings[torch.ops.aten.abs.default] = lambda x: original(x) if x.get_dtype().is_complex else clone(x)


plant()
