"""A rule: an executable equation or a generator, with preconditions and a declared exactness."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import libcst as cst

from eqfuzz.rewrite.facts.preconditions import Precondition
from eqfuzz.rewrite.rules.declarations import family_of, shortened
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.sorts import SORTS, sort_named_by


class RuleError(Exception):
    """A rule that is not well formed; ``str()`` names file and line."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rule:
    """A rewrite that keeps a program's meaning: an equation, or a generator, see ``eqfuzz.rewrite.rules.generator``.

    Attributes:
        name: ``family/function``.
        function: The decorated function.
        sorts: What each parameter of an equation may bind; empty for a generator.
        exact: How equal both sides are.
        where: Preconditions, over the parameters of an equation or of a generator's ``examples``.
        source: Where the rule is published; empty for nowhere.
        gradients: Whether both sides have equal gradients.
        layout: Whether the rewrite changes how later float kernels round (strides, splits), which weakens a derivation
            to ``ulp``.
        breaks_graph: Whether Dynamo cannot keep one graph.
        reverse: Whether an equation is applied from right to left.
        nodes: The libcst classes that a generator handles; empty for an equation.
        examples: The programs that a generator is proved on.
    """

    name: str
    function: Callable[..., Any]
    sorts: dict[str, str]
    exact: Exactness
    where: tuple[Precondition, ...]
    source: str
    gradients: bool
    layout: bool
    breaks_graph: bool
    reverse: bool = False
    nodes: tuple[type[cst.CSTNode], ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def is_generator(self) -> bool:
        return bool(self.nodes)

    @property
    def family(self) -> str:
        return self.name.split("/")[0]

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.function) or ""

    @property
    def place(self) -> str:
        """``file:line`` of its declaration, the file relative where it lies below the working folder."""
        code = self.function.__code__
        return f"{shortened(Path(code.co_filename))}:{code.co_firstlineno}"

    @property
    def effect(self) -> Exactness:
        """What applying it does to a derivation's exactness."""
        return Exactness.ULP.compose(self.exact) if self.layout else self.exact


def rule(
    *,
    exact: str,
    where: Sequence[Precondition | Sequence[Precondition]] = (),
    source: str = "",
    gradients: bool = True,
    layout: bool = False,
    breaks_graph: bool = False,
    both_ways: bool = False,
    example: str | Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated function a rule.

    An equation returns ``left, right``, and left may be rewritten to right. Its parameters stand for operands;
    annotate one with a sort (``k: Number``, see ``sorts``) when it is not a tensor. ``both_ways`` also rewrites right
    to left.

    A generator's first parameter is annotated with libcst nodes, and ``example`` gives one or more programs that it is
    proved on: each defines ``program`` or a module ``Model``, whose parameters are annotated like those of an equation.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        path, line = inspect.getsourcefile(function) or "", function.__code__.co_firstlineno
        nodes = _nodes(function, f"{path}:{line}")
        examples = (example,) if isinstance(example, str) else tuple(example)
        if bool(nodes) != bool(examples):
            raise RuleError(f"{path}:{line}: a generator needs an example, and an equation is its own")
        declared = Rule(
            name=f"{family_of(Path(path))}/{function.__name__}",
            function=function,
            sorts={} if nodes else sorts_of(function),
            exact=Exactness(exact),
            where=tuple(p for part in where for p in ((part,) if isinstance(part, Precondition) else part)),
            source=source,
            gradients=gradients,
            layout=layout,
            breaks_graph=breaks_graph,
            nodes=nodes,
            examples=tuple(textwrap.dedent(text).strip() + "\n" for text in examples),
        )
        function.rules = [declared]  # type: ignore[attr-defined]
        if both_ways:
            back = dataclasses.replace(declared, name=declared.name + "_back", reverse=True)
            function.rules.append(back)  # type: ignore[attr-defined]
        return function

    return declare


def sorts_of(function: Callable[..., Any]) -> dict[str, str]:
    """What each parameter of ``function`` may bind. Raises RuleError for an annotation that is no sort."""
    return {p.name: _sort(p) for p in inspect.signature(function).parameters.values() if p.name != "self"}


def _nodes(function: Callable[..., Any], place: str) -> tuple[type[cst.CSTNode], ...]:
    """The libcst classes that the first parameter is annotated with; none for an equation."""
    parameters = list(inspect.signature(function).parameters.values())
    annotation = parameters[0].annotation if parameters else None
    if isinstance(annotation, str) and annotation not in SORTS:  # under `from __future__ import annotations`
        annotation = eval(annotation, function.__globals__)
    annotated = get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    classes = tuple(c for c in annotated if isinstance(c, type) and issubclass(c, cst.CSTNode))
    if classes and (len(classes) != len(annotated) or len(parameters) != 2):
        raise RuleError(f"{place}: a generator takes a libcst node and a RewriteContext")
    return classes


def _sort(parameter: inspect.Parameter) -> str:
    if parameter.annotation is parameter.empty:
        return "Tensor"
    sort = sort_named_by(parameter.annotation)
    if sort not in SORTS:
        raise RuleError(f"parameter {parameter.name}: unknown sort {sort!r}; one of {', '.join(SORTS)}")
    return sort
