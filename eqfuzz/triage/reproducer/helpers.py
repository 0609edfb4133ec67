"""Helper functions of reproducers, as source text, and the modules that they import."""

from __future__ import annotations

import re

TEXTS = {
    "printed": """\
with contextlib.redirect_stdout(io.StringIO()) as text:
    {invocation}
seen = text.getvalue().splitlines()""",
    "warned": """\
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    {invocation}
seen = [f"{{w.category.__name__}}: {{w.message}}" for w in caught if w.filename == __file__]""",
}
"""How printed and warned lines are collected, by the path of the evidence."""

MODULES = (
    *("base64", "collections", "contextlib", "copy", "dataclasses", "enum", "io", "numpy", "random", "re", "resource"),
    *("subprocess", "sys", "types", "warnings", "zlib"),
)


def modules_in(text: str) -> set[str]:
    """The modules besides torch that a script has to import for ``text``, which is its own and not the program's."""
    return {module for module in MODULES if re.search(rf"(?<![\w.]){module}\.", text)}


SHARED = '''
def shared(a, b):
    """How two tensors share memory, None where they do not."""
    (first, one), (second, two) = [(s.data_ptr(), s.nbytes()) for s in (a.untyped_storage(), b.untyped_storage())]
    if first >= second + two or second >= first + one:
        return None
    starts = [t.data_ptr() for t in (a, b)]
    sizes = [t.element_size() * (1 + sum((n - 1) * k for n, k in zip(t.shape, t.stride()))) for t in (a, b)]
    ends = [start + size for start, size in zip(starts, sizes)]
    return starts[0] < ends[1] and starts[1] < ends[0], starts[1] - starts[0]
'''

TENSORS = '''
def tensors(value):
    """Every tensor of a nested value, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if dataclasses.is_dataclass(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        value = list(value.values())
    if type(value).__module__ == __name__ and not isinstance(value, (list, tuple, collections.deque)):
        value = [held for _, held in sorted(getattr(value, "__dict__", {}).items())]
    return [t for item in value for t in tensors(item)] if isinstance(value, (list, tuple, collections.deque)) else []
'''

COTANGENT = '''
def cotangent(output):
    """A fixed gradient for an output, different for each element."""
    numbers = torch.arange(output.numel(), dtype=torch.float64, device=output.device) * 0.6180339887498949 % 1 + 0.5
    return numbers.reshape(output.shape).to(output.dtype)
'''
