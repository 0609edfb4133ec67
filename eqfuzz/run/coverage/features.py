"""Features of a compiled cell: numbers that stand for short sentences about what the compiler did.

A feature is the hash of a sentence such as ``token at::vec::maximum`` or ``pair aten.mm > aten.relu``. The same program
gives the same features in every process, in whatever order cells come. ``docs/reference/feedback.md`` lists the kinds.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from eqfuzz.torch_internals.dynamo import compilation_metrics, dynamo_counts
from eqfuzz.torch_internals.inductor import code_hook, graph_hook, inductor_counts
from eqfuzz.torch_internals.operators import OperatorBase, OpOverload
from eqfuzz.torch_internals.options import without_graph_caches

Counts = Mapping[str, Mapping[str, int]]

_BY_KEY = ("frames", "stats", "aot_autograd", "inductor", "aten_mm_info", "graph_break")
"""Groups of counters whose keys count; of the others, which are keyed by names of the program, only the sum."""

_OF_THE_RUN = re.compile(r"cache|bench|bundler|precompile")
"""Counters of cache hits and of times."""

_COMPILATION = ("guard_count", "shape_env_guard_count", "graph_op_count", "graph_input_count", "ir_count")


class FeatureCollector:
    """Collects the features of what is compiled meanwhile. For one use."""

    def __init__(self) -> None:
        self._sentences: set[str] = set()
        self._codes: list[str] = []
        self._broken: Exception | None = None

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Context without graph caches: a hit would skip passes, and depend on what ran before."""
        counted, measured = dynamo_counts(), inductor_counts()
        with without_graph_caches(), graph_hook(self._take_graph), code_hook(self._codes.append):
            yield
        if self._broken is not None:
            raise self._broken
        self._sentences.update(counter_sentences(_added(counted, dynamo_counts())))
        self._sentences.update(
            _amount(f"metric {name}", n - measured.get(name, 0)) for name, n in inductor_counts().items()
        )
        for metrics in compilation_metrics():
            self._sentences.update(compilation_sentences(metrics))
        for code in self._codes:
            self._sentences.update(f"token {token}" for token in tokens(code))

    @property
    def features(self) -> list[int]:
        """In ascending order, below 2**63."""
        return sorted({feature(sentence) for sentence in self._sentences if sentence})

    def _take_graph(self, graph: torch.fx.Graph) -> None:
        try:
            self._sentences.update(graph_sentences(graph))
        except Exception as error:  # an exception here would count as the compiler's
            self._broken = error


@functools.lru_cache(2**16)
def feature(sentence: str) -> int:
    """A hash below 2**63, the same in every process."""
    return int.from_bytes(hashlib.blake2b(sentence.encode(), digest_size=8).digest(), "big") >> 1


def counter_sentences(counts: Counts) -> Iterator[str]:
    """Sentences of Dynamo's counters, which include AOTAutograd's, Inductor's and matches of patterns."""
    for group, members in counts.items():
        if group not in _BY_KEY:
            yield _amount(f"counter {group}", sum(members.values()))
            continue
        amounts: dict[str, int] = {}
        for key, amount in members.items():
            name = reason(key)
            amounts[name] = amounts.get(name, 0) + amount
        for name, amount in amounts.items():
            if not _OF_THE_RUN.search(name):
                yield _amount(f"counter {group} {name}", amount)


def compilation_sentences(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Sentences of Dynamo's metrics of one attempt at a frame: its size, and why it was restarted or failed."""
    for name in _COMPILATION:
        yield _amount(f"frame {name}", metrics.get(name) or 0)
    for name in ("fail_type", "recompile_reason", "cudagraph_skip_reason"):
        if metrics.get(name):
            yield f"frame {name} {reason(str(metrics[name]))}"
    for why in metrics.get("restart_reasons") or ():
        yield f"frame restart {reason(str(why))}"


def reason(text: str) -> str:
    """A message without details of one program: its first line, without numbers, quotations and comments."""
    first = text.strip().partition("\n")[0].partition("  #")[0]
    quoted = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|<[^<>]*>", "_", first)
    return re.sub(r"0x[0-9a-f]+|\d+", "0", quoted)[:160].strip()


def graph_sentences(graph: torch.fx.Graph) -> Iterator[str]:
    """The operators of a graph, each with its dtype and its layout, and the pairs of which one feeds the other."""
    for node in graph.nodes:
        name = _operator(node)
        if not name:
            continue
        yield f"operator {node.target}" if isinstance(node.target, OpOverload) else f"operator {name}"
        value = node.meta.get("val")
        for tensor in value if isinstance(value, list | tuple) else (value,):
            if isinstance(tensor, torch.Tensor):
                yield f"dtype {name} {tensor.dtype}"
                yield f"layout {name} {_layout(tensor)}"
        for argument in node.all_input_nodes:
            source = argument
            while not _operator(source) and source.op == "call_function" and source.all_input_nodes:
                source = source.all_input_nodes[0]
            before = _operator(source)
            if before:
                yield f"pair {before} > {name}"


def _operator(node: torch.fx.Node) -> str:
    """``aten.add``, or the name of a higher-order operator; empty for other functions, such as taking an item."""
    if node.op != "call_function":
        return ""
    if isinstance(node.target, OpOverload):
        return str(node.target.overloadpacket)
    if isinstance(node.target, OperatorBase):
        return node.target.name()
    return ""


def _layout(tensor: torch.Tensor) -> str:
    if tensor.layout is not torch.strided:
        return str(tensor.layout)
    sizes, strides = list(tensor.shape), list(tensor.stride())
    if not all(type(number) is int for number in (*sizes, *strides)):
        return "symbolic"  # to compare it would add a guard
    return layout(sizes, strides)


def layout(sizes: Sequence[int], strides: Sequence[int]) -> str:
    """``empty``, ``contiguous``, ``permuted`` (dense in another order), ``expanded`` (a stride is 0) or ``gaps``."""
    if 0 in sizes:
        return "empty"
    axes = [(stride, size) for size, stride in zip(sizes, strides, strict=True) if size > 1]
    if any(stride == 0 for stride, _ in axes):
        return "expanded"
    if _is_dense(reversed(axes)):
        return "contiguous"
    return "permuted" if _is_dense(sorted(axes)) else "gaps"


def _is_dense(axes: Iterable[tuple[int, int]]) -> bool:
    """Whether each axis, from the inner one on, strides over exactly what is inside it."""
    inside = 1
    for stride, size in axes:
        if stride != inside:
            return False
        inside *= size
    return True


_COMMENT = re.compile(r"(?m)^\s*#(?!pragma).*$|//.*$")
_TOKEN = re.compile(
    r"(?<![\w.])[A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*(?:<[\w:, *]*>)?"  # a name, and the types that it is made for
    r"|(?<=\s)(?:[-+*/%&|^?]|<<|>>|[<>=!]=|&&|\|\|)(?=\s)"  # an operator
)
_KERNEL = re.compile(r"\b(cpp|triton)_[a-z]*_?fused\w*")
_NUMBERED = re.compile(
    r"(?<![A-Za-z0-9])(tmp|buf|arg|ptr|acc|x|y|z|r|s|u|i|ps|ks|op|zuf|zui|constant|param|data|kernel)\d+(?![A-Za-z0-9])"
)
_NUMBER = re.compile(r"(?<![A-Za-z_0-9])\d+\w*|(?:_\d+)+(?![A-Za-z0-9])")


def tokens(code: str) -> set[str]:
    """The distinct names and operators of generated code, without comments, numbers, and the numbers in its own names.

    C++ names keep their template arguments: ``at::vec::convert<float,1,half,1>`` is ``at::vec::convert<float,,half,>``.
    """
    return {_plain(token) for token in set(_TOKEN.findall(_KERNEL.sub("kernel", _COMMENT.sub("", code))))}


@functools.lru_cache(2**16)
def _plain(token: str) -> str:
    return _NUMBER.sub("", _NUMBERED.sub(r"\1", token)).replace(" ", "")


def _amount(name: str, number: int) -> str:
    """``name`` with the order of magnitude of a positive number, in powers of two; empty for none."""
    return f"{name} {number.bit_length()}" if number > 0 else ""


def _added(before: Counts, after: Counts) -> Counts:
    return {
        group: {key: amount - before.get(group, {}).get(key, 0) for key, amount in members.items()}
        for group, members in after.items()
    }
