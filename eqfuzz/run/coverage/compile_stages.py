"""The output of each stage of the compiler in a form that can be compared. No kernel is built or run.

Each stage's graph is written as a table of distinct operations that its outputs need, so that names, common
subexpressions, dead code and the order of inputs do not count. Generated code counts without names and comments.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program
from eqfuzz.rewrite.rules.compile_depth import CompileStage
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.inductor import code_hook, compile_with_inductor
from eqfuzz.torch_internals.operators import OpOverload
from eqfuzz.torch_internals.options import patched

Stages = dict[CompileStage, str]
"""A digest per stage, all of the graphs of a program together."""


class NotCompiled(Exception):
    """Dynamo or Inductor does not compile the program as one graph; ``str()`` is its message."""


class _StagesFinished(Exception):
    """Raised in place of building the generated code."""


def stages(program: Program, call: Call) -> Stages:
    """The digest of every stage for one call. Raises NotCompiled."""
    texts: dict[CompileStage, list[str]] = {level: [] for level in CompileStage if level is not CompileStage.NOWHERE}

    def keep(level: CompileStage) -> Callable[[Graph], None]:
        return lambda graph: texts[level].append(canonical(graph))

    def backend(module: GraphModule, examples: list[torch.Tensor]) -> Callable[..., Any]:
        texts[CompileStage.DYNAMO].append(canonical(module.graph))
        return compile_with_inductor(module, examples)

    def on_code(code: str) -> None:
        texts[CompileStage.CODE].append(nameless(code))
        texts[CompileStage.KERNEL].extend(sorted(nameless(kernel) for kernel in _KERNEL.findall(code)))
        raise _StagesFinished

    settings = {
        "joint_custom_pre_pass": keep(CompileStage.ATEN),
        "post_grad_custom_post_pass": keep(CompileStage.POST_GRAD),
        "force_disable_caches": True,
        "compile_threads": 1,
    }
    forget_compiled_code()
    compiled = torch.compile(Loaded(program).instance(), backend=backend, fullgraph=True)
    mine = call.copy()
    try:
        with patched(inductor=settings), code_hook(on_code), torch.no_grad():
            compiled(*mine.args, **mine.kwargs)
    except Exception as error:  # many exceptions are possible; what matters is whether the code was generated before
        if not texts[CompileStage.CODE] and not _caused_by(error, _StagesFinished):
            raise NotCompiled(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}") from error
    return {level: hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16] for level, parts in texts.items()}


def last_difference(left: Stages, right: Stages) -> CompileStage:
    """The last stage at which two programs differ."""
    return max((level for level, digest in left.items() if right[level] != digest), default=CompileStage.NOWHERE)


def canonical(graph: Graph) -> str:
    """The operations that the graph's outputs and effects need, each once, in an order that is independent of names."""
    numbers: dict[Node, int] = {}
    lines: dict[str, int] = {}

    def visit(node: Node) -> int:
        pending = [node]
        while pending:
            current = pending[-1]
            missing = [n for n in current.all_input_nodes if n not in numbers]
            if missing:
                pending.extend(reversed(missing))
                continue
            pending.pop()
            if current not in numbers:
                line = _line(current, numbers, len(lines))
                numbers[current] = lines.setdefault(line, len(lines))
        return numbers[node]

    for node in graph.nodes:
        if node.op == "output" or (node.op != "placeholder" and node.is_impure()):
            visit(node)
    return "\n".join(lines)


def _line(node: Node, numbers: dict[Node, int], place: int) -> str:
    if node.op == "placeholder":
        return f"input {place}"
    of = lambda n: f"%{numbers[n]}"  # noqa: E731
    args, kwargs = map_arg(node.args, of), map_arg(node.kwargs, of)
    return f"{node.op} {_target(node)} {args} {sorted(kwargs.items())}"


def _target(node: Node) -> str:
    if isinstance(node.target, str):
        return node.target
    module, name = getattr(node.target, "__module__", ""), getattr(node.target, "__name__", repr(node.target))
    return str(node.target) if isinstance(node.target, OpOverload) else f"{module}.{name}"


_KERNEL = re.compile(r"'''(.*?)'''", re.DOTALL)
_COMMENT = re.compile(r"#.*?$|//.*?$", re.MULTILINE)
_NAMED = re.compile(r"\b(buf|arg|primals_|tmp|cpp_fused|in_ptr|out_ptr|in_out_ptr|kernel|c[a-z0-9]{50,})_?\w*")


def nameless(code: str) -> str:
    """``code`` without comments and blank lines, its generated names numbered by first use."""
    numbers: dict[str, str] = {}
    text = _COMMENT.sub("", code)
    text = _NAMED.sub(lambda m: numbers.setdefault(m.group(0), f"{m.group(1)[:3]}{len(numbers)}"), text)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _caused_by(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False
