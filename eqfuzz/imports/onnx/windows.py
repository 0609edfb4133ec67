"""Windows of convolutions and pools: kernel, strides, dilations, padding on both sides."""

from __future__ import annotations

import dataclasses

from eqfuzz.imports.onnx.node import OnnxNode
from eqfuzz.imports.text.literals import Unsupported, number_text, sequence


@dataclasses.dataclass(frozen=True)
class PoolingWindow:
    """Sizes along the spatial dimensions, in their order."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.kernel)

    @property
    def is_symmetric(self) -> bool:
        """Whether both sides have the same padding, which torch's functions take."""
        return self.before == self.after and min(self.before, default=0) >= 0

    @property
    def is_padded(self) -> bool:
        return any(self.before) or any(self.after)

    def padding(self) -> str:
        """The argument of ``F.pad``: pairs, the last dimension first."""
        pairs = [p for pair in reversed(tuple(zip(self.before, self.after, strict=True))) for p in pair]
        return sequence(pairs)

    def padded(self, text: str, value: float = 0.0) -> str:
        """The expression padded explicitly."""
        if not self.is_padded:
            return text
        return f"F.pad({text}, {self.padding()}{f', value={number_text(value)}' if value else ''})"


def window_of(node: OnnxNode, kernel: tuple[int, ...]) -> PoolingWindow:
    """The window of a convolution or pool over input 0. Raises Unsupported."""
    rank = len(kernel)
    if not 1 <= rank <= 3:
        raise Unsupported(f"{rank} spatial dimensions")
    strides = tuple(node.attribute("strides") or [1] * rank)
    dilations = tuple(node.attribute("dilations") or [1] * rank)
    pads = node.attribute("pads") or [0] * (2 * rank)
    automatic = node.attribute("auto_pad", "NOTSET")
    before, after = tuple(pads[:rank]), tuple(pads[rank:])
    if automatic == "VALID":
        before = after = (0,) * rank
    elif automatic in ("SAME_UPPER", "SAME_LOWER"):
        before, after = _same(node, kernel, strides, dilations, upper=automatic == "SAME_UPPER")
    return PoolingWindow(kernel, strides, dilations, before, after)


def _same(
    node: OnnxNode, kernel: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...], *, upper: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    before, after = [], []
    for dim, (size, stride, dilation) in enumerate(zip(kernel, strides, dilations, strict=True)):
        length = node.size(0, 2 + dim) if stride != 1 else 1
        results = -(-length // stride)
        total = max((results - 1) * stride + (size - 1) * dilation + 1 - length, 0)
        less, more = total // 2, total - total // 2
        before.append(less if upper else more)
        after.append(more if upper else less)
    return tuple(before), tuple(after)


def equal_or_all(sizes: tuple[int, ...]) -> str:
    """One number where all are equal, else a tuple."""
    return str(sizes[0]) if len(set(sizes)) == 1 else sequence(sizes)
