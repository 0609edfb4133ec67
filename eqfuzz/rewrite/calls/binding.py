"""Calls of torch's operators in program text, resolved with the facts of their arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import libcst as cst

from eqfuzz.rewrite.calls.arguments import bind
from eqfuzz.rewrite.calls.operators import (
    METHODS,
    NUMPY_NAMES,
    REQUIRED,
    Parameter,
    Signature,
    TorchOperator,
    correspondence,
    fits,
    operator_at,
)
from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.source.edit import skip


@dataclasses.dataclass(frozen=True)
class Argument:
    """The argument for one parameter; several ``nodes`` are the items of one list (``x.permute(1, 0)``)."""

    parameter: Parameter
    nodes: tuple[cst.BaseExpression, ...]
    packed: bool = False

    @property
    def name(self) -> str:
        return self.parameter.name

    @property
    def node(self) -> cst.BaseExpression:
        return self.nodes[0]

    def text(self, ctx: RewriteContext) -> str:
        texts = [argument_text(ctx, node) for node in self.nodes]
        if not self.packed:
            return texts[0]
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


@dataclasses.dataclass(frozen=True)
class BoundCall:
    """A call of ``operator``; ``signatures`` are those that it may mean, which agree on the names of the arguments.

    ``arguments`` stand in order of evaluation, that of a method's receiver is the first. ``keywords`` are the names of
    those written by keyword.
    """

    operator: TorchOperator
    signatures: tuple[Signature, ...]
    arguments: tuple[Argument, ...]
    keywords: frozenset[str]
    is_method_call: bool

    @property
    def leading(self) -> Argument | None:
        """The receiver, evaluated before the other arguments: ``x`` in ``x.f(…)`` and ``torch.Tensor.f(x, …)``."""
        return self.arguments[0] if self.operator.is_method else None

    @property
    def signature(self) -> Signature:
        return self.signatures[0]

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)

    @property
    def in_order(self) -> bool:
        """Whether the arguments are evaluated in the order of the parameters."""
        names = [p.name for p in self.signature.parameters]
        places = [names.index(a.name) for a in self.arguments]
        return places == sorted(places)

    def reordered(self, ctx: RewriteContext) -> tuple[Argument, ...]:
        """The arguments in the order of the parameters. Raises Skip where the order of side effects would change."""
        if not self.in_order:
            require_all_pure(ctx, self.arguments)
        names = [p.name for p in self.signature.parameters]
        return tuple(sorted(self.arguments, key=lambda a: names.index(a.name)))

    def passed(
        self, ctx: RewriteContext, arguments: Sequence[Argument], parameters: Sequence[Parameter], own: str = ""
    ) -> str:
        """``arguments`` as text between parentheses, for a callee with these positional ``parameters``.

        An argument that is by position in the program stays so as long as that is possible; the others are passed by
        keyword. ``own`` is the callee's name for the parameter ``input``.
        """
        texts: list[str] = []
        places = iter(parameters)
        by_position = True
        for argument in arguments:
            here = next(places, None) if by_position else None
            by_position = here is not None and here.name == argument.name and argument.name not in self.keywords
            name = own if own and argument.name == "input" else argument.name
            texts.append(argument.text(ctx) if by_position else f"{name}={argument.text(ctx)}")
        return ", ".join(texts)


def require_all_pure(ctx: RewriteContext, arguments: Iterable[Argument]) -> None:
    for argument in arguments:
        for node in argument.nodes:
            ctx.require_pure(node)


def bound_at(call: cst.Call, ctx: RewriteContext) -> BoundCall | None:
    """``call`` as a call of a torch operator; None for other calls. Raises Skip where several meanings are possible."""
    path, receiver = ctx.resolved(call.func), None
    if path is None:
        if not isinstance(call.func, cst.Attribute):
            return None
        operator = operator_at(f"{METHODS}.{call.func.attr.value}")
        receiver = call.func.value
        if operator is None or not is_tensor(ctx, receiver):
            return None
    else:
        if cst.ensure_type(_root(call.func), cst.Name).value in ctx.syntax.module_names:
            return None
        operator = operator_at(path)
        if operator is None:
            return None
    if any(a.star for a in call.args):
        skip("starred arguments are not analysed")
    positional = [a.value for a in call.args if a.keyword is None]
    keywords = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
    if receiver is not None:
        positional.insert(0, receiver)
    if operator.is_method and not positional:
        skip("the method is called without a tensor")
    best: dict[bool, list[tuple[Signature, dict[str, Argument]]]] = {True: [], False: []}
    for signature in operator.signatures:
        candidate = _arguments(signature, positional, keywords, ctx, is_method=operator.is_method)
        if candidate is not None:
            exact = [_fit(ctx, a) for a in candidate.values()]
            if None not in exact:
                best[all(exact)].append((signature, candidate))
    fitting = best[True] or best[False]
    if not fitting:
        skip(f"no signature of {operator.path} fits the arguments")
    arguments = fitting[0][1]
    if any({n: a.nodes for n, a in f.items()} != {n: a.nodes for n, a in arguments.items()} for _, f in fitting):
        skip(f"several signatures of {operator.path} fit the arguments")
    names = frozenset(NUMPY_NAMES.get(k, k) if k not in arguments else k for k in keywords)
    signatures = tuple(s for s, _ in fitting)
    return BoundCall(operator, signatures, tuple(arguments.values()), names, receiver is not None)


def _arguments(
    signature: Signature,
    positional: Sequence[cst.BaseExpression],
    keywords: Mapping[str, cst.BaseExpression],
    ctx: RewriteContext,
    *,
    is_method: bool,
) -> dict[str, Argument] | None:
    """Arguments by parameter name in order of evaluation; None where the signature does not take them."""

    def are_ints(nodes: Sequence[cst.BaseExpression]) -> bool:
        return bool(nodes) and all(fact.kind == "int" for node in nodes for fact in ctx.facts(node))

    values = bind(signature, positional, keywords, is_method=is_method, are_items=are_ints)
    if values is None:
        return None
    return {
        p.name: Argument(p, value if isinstance(value, tuple) else (value,), packed=isinstance(value, tuple))
        for name, value in values.items()
        if (p := signature.named(name)) is not None
    }


def renamed_for(bound: BoundCall, target: TorchOperator) -> BoundCall | None:
    """The call by the parameter names of an equivalent function; None where that lacks a parameter."""
    for signature in target.signatures:
        names = correspondence(bound.signature, signature)
        pairs = [(a, signature.named(names.get(a.name, ""))) for a in bound.arguments]
        renamed = [dataclasses.replace(a, parameter=p) for a, p in pairs if p is not None]
        required = {p.name for p in signature.parameters if p.default is REQUIRED}
        if len(renamed) == len(pairs) and required <= {a.name for a in renamed}:
            keywords = frozenset(names[name] for name in bound.keywords)
            return BoundCall(target, (signature,), tuple(renamed), keywords, bound.is_method_call)
    return None


def is_tensor(ctx: RewriteContext, node: cst.BaseExpression) -> bool:
    """Whether ``node`` ran and was a plain tensor every time."""
    visits = ctx.visits(node)
    return bool(visits) and all(f.is_tensor for f in visits)


def _fit(ctx: RewriteContext, argument: Argument) -> bool | None:
    """Whether all values have exactly the parameter's type (True), can stand for it (False), or neither (None)."""
    kind = argument.parameter.type
    if not kind or argument.packed:
        return True
    if kind == "Tensor[]":
        return _is_tensor_list(ctx, argument.node)
    levels = {fits(kind, fact) for fact in ctx.facts(argument.node)}
    return levels.pop() if len(levels) == 1 else None


def _is_tensor_list(ctx: RewriteContext, node: cst.BaseExpression) -> bool | None:
    if isinstance(node, (cst.Tuple, cst.List)):
        return all(is_tensor(ctx, e.value) for e in node.elements) or None
    return all(f.kind in ("tuple", "list") and bool(f.length) for f in ctx.facts(node)) or None


def argument_text(ctx: RewriteContext, node: cst.BaseExpression) -> str:
    """The text of an argument, in parentheses only where it needs them between commas."""
    needs = isinstance(node, (cst.NamedExpr, cst.Lambda, cst.Yield, cst.GeneratorExp, cst.Tuple))
    return f"({ctx.syntax.text_of(node)})" if needs else ctx.syntax.text_of(node)


def _root(node: cst.CSTNode) -> cst.CSTNode:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node
