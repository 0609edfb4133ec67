"""Handwritten programs that each reach one part of the compiler, by the name of the part."""

import textwrap

_HEAD = "import torch\nfrom torch.nn import functional as F\n\n\n"
_ONE = "\n\n\ndef inputs(rng):\n    yield rng.normal(8, 16),\n"
_TWO = "\n\n\ndef inputs(rng):\n    yield rng.normal(8, 16), rng.normal(8, 16)\n"
_GRAD = "\n\n\ndef inputs(rng):\n    yield rng.normal(8, 16, requires_grad=True),\n"
_HEADS = "\n\n\ndef inputs(rng):\n    yield tuple(rng.normal(2, 4, 8, 16) for _ in range(3))\n"


def _seed(body: str, inputs: str = _ONE, arguments: str = "x") -> str:
    return f"{_HEAD}def program({arguments}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}{inputs}"


REACHING = {
    "pass:post_grad.pointless_cumsum_replacement": _seed("return x + torch.cumsum(torch.ones(8, 16), 1)"),
    "pass:post_grad.repeat_noop": _seed("return x.repeat(1, 1) * 2"),
    "pass:post_grad.slice_noop": _seed("return torch.ops.aten.slice.Tensor(x * 2, 0, 0, 8) + 1"),
    "pass:post_grad.constant_pad_nd": _seed("return F.pad(x * 2, (0, 0)) + 1"),
    "pass:post_grad.pow_noop": _seed("return torch.ops.aten.pow.Tensor_Scalar(x, 1) * 2"),
    "pass:post_grad.int_noop": _seed("return torch.floor(x.to(torch.int32)) + 1"),
    "pass:post_grad.splitwithsizes_cat_replace": _seed(
        "a, b, c = torch.split(x * 2, [2, 5, 9], dim=1)\nreturn torch.cat([a, b, c], dim=1) + 1"
    ),
    "pass:post_grad.cat_splitwithsizes_replace": _seed(
        "a, b = torch.split(torch.cat([x * 2, y + 1], dim=1), [16, 16], dim=1)\nreturn a * b", _TWO, "x, y"
    ),
    "pass:post_grad.cat_slice_cat": _seed(
        "a = torch.cat([x * 2, y], dim=1)\nreturn torch.cat([a, a[:, :3]], dim=1)", _TWO, "x, y"
    ),
    "pass:post_grad.addmm": _seed("return x + x.t()[:8, :8] @ y * 1.0 + (x @ y.t()) @ y", _TWO, "x, y"),
    "pass:joint_graph.pointless_convert": _seed("return x.to(torch.float64).to(torch.float32) + 1"),
    "pass:joint_graph.pointless_view_pair": _seed("return (x * 2).view(16, 8).view(8, 16) + 1"),
    "pass:joint_graph.pointless_permute_pair": _seed("return (x * 2).permute(1, 0).permute(1, 0) + 1"),
    "pass:joint_graph.mul_softmax_pattern": _seed("return torch.softmax(x * 3.0, dim=-1)"),
    "pass:joint_graph.div_softmax_pattern": _seed("return torch.softmax(x / 3.0, dim=-1)"),
    "pass:joint_graph.constant_fold_uniform_value": _seed("return x + (torch.full((8, 16), 2.0) * 3 + 1)"),
    "pass:fuse_attention._sfdp_replacement_1": _seed(
        "return ((q @ k.transpose(-2, -1)) / 4.0).softmax(dim=-1) @ v", _HEADS, "q, k, v"
    ),
    "pass:fuse_attention._sfdp_replacement_2": _seed(
        "return ((q @ k.transpose(-2, -1)) * 0.25).softmax(dim=-1) @ v", _HEADS, "q, k, v"
    ),
    "pass:reinplace.reinplace_inplaceable_ops_core": _seed(
        "a = x * 2\na.index_put_((y,), torch.ones(3, 16), accumulate=True)\nreturn a",
        "\n\n\ndef inputs(rng):\n    yield rng.normal(8, 16), rng.integers(0, 8, 3)\n",
        "x, y",
    ),
    "lowering:lowering.cat": _seed("return torch.cat([x, x * 2]) + 1"),
    "lowering:lowering.constant_pad_nd": _seed("return F.pad(x, (1, 2), value=3.0)"),
    "lowering:lowering.cumsum": _seed("return torch.cumsum(x, 1)"),
    "lowering:lowering.sort_stable": _seed("return torch.sort(x, dim=1, stable=True)[0] + 1"),
    "lowering:lowering.gather": _seed(
        "return torch.gather(x, 1, y)",
        "\n\n\ndef inputs(rng):\n    yield rng.normal(8, 16), rng.integers(0, 16, 8, 3)\n",
        "x, y",
    ),
    "lowering:bmm.tuned_bmm": _seed("return torch.bmm(x[None].expand(3, 8, 16), x.t()[None].expand(3, 16, 8))"),
    "lowering:conv.convolution": _seed("return F.conv1d(x[None], torch.ones(4, 8, 3))"),
    "lowering:lowering.avg_pool2d_backward": _seed("return F.avg_pool2d(x[None, None], 2)", _GRAD),
    "tracker:lists.RangeVariable": _seed("r = range(2, 9, 3)\nreturn x * r[1] + len(r)"),
    "tracker:lists.DequeVariable": _seed(
        "from collections import deque\nd = deque([x], maxlen=2)\nd.append(x * 2)\nreturn d[0] + d[-1]"
    ),
    "tracker:iter.ZipVariable": _seed("return sum(a * b for a, b in zip([x, x + 1], [2, 3]))"),
    "tracker:iter.CountIteratorVariable": _seed(
        "import itertools\nc = itertools.count(3)\nreturn x * next(c) + next(c)"
    ),
    "tracker:sets.SetVariable": _seed("s = {1, 2}\ns.add(5)\nreturn x * len(s)"),
    "tracker:tensor.NumpyNdarrayVariable": "import numpy as np\n"
    + _seed("a = x.numpy()\nreturn torch.from_numpy(np.tanh(a) * 2)"),
    "tracker:misc.SuperVariable": (
        _HEAD + "class Base(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n\n\n"
        "class Program(Base):\n    def forward(self, x):\n        return super().forward(x) + 1" + _ONE
    ),
    "tracker:ctx_manager.GradModeVariable": _seed("with torch.no_grad():\n    y = x * 2\nreturn y + x", _GRAD),
    "tracker:user_defined.NamedTupleVariable": _seed(
        "from collections import namedtuple\nP = namedtuple('P', 'a b')\np = P(x, x + 1)\nreturn p.a * p.b"
    ),
    "tracker:user_defined.DefaultDictVariable": _seed(
        "from collections import defaultdict\nd = defaultdict(int)\nd['a'] += 2\nreturn x * d['a'] + d['b']"
    ),
    "tracker:higher_order_ops.CondHigherOrderVariable": _seed(
        "return torch.cond(x.sum() > 0, lambda a: a * 2, lambda a: a - 1, (x,))"
    ),
}

PLAIN = _seed("return x + 1")
"""A program that reaches none of them."""
