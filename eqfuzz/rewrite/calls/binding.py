"""Calls of torch's operators in program text: which operator is called, and which argument is which parameter."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import libcst as cst

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
    """What is passed for one parameter; several ``nodes`` are the items of one list (``x.permute(1, 0)``)."""

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
        """The operand that has its place before all others: of ``x.f(…)``, and of ``torch.Tensor.f(x, …)``."""
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
        """The arguments in the order of the parameters. Raises Skip where somebody could tell."""
        if not self.in_order:
            require_all_pure(ctx, self.arguments)
        names = [p.name for p in self.signature.parameters]
        return tuple(sorted(self.arguments, key=lambda a: names.index(a.name)))

    def passed(
        self, ctx: RewriteContext, arguments: Sequence[Argument], parameters: Sequence[Parameter], own: str = ""
    ) -> str:
        """``arguments`` as they stand between brackets, for a callee with these positional ``parameters``.

        By position as long as that is possible and they were written so, then by keyword. ``own`` is what the callee
        calls the parameter ``input``.
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
    """The call of a torch operator that ``call`` is; None when it is another one. Raises Skip when it is unclear."""
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
        skip("starred arguments are not followed")
    positional = [a.value for a in call.args if a.keyword is None]
    keywords = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
    if receiver is not None:
        positional.insert(0, receiver)
    if operator.is_method and not positional:
        skip("a method without a tensor")
    best: dict[bool, list[tuple[Signature, dict[str, Argument]]]] = {True: [], False: []}
    for signature in operator.signatures:
        found = bind(signature, positional, keywords, ctx, bool(operator.aten), operator.is_method)
        if found is not None:
            exact = [_fit(ctx, a) for a in found.values()]
            if None not in exact:
                best[all(exact)].append((signature, found))
    fitting = best[True] or best[False]
    if not fitting:
        skip(f"no signature of {operator.path} fits the arguments")
    arguments = fitting[0][1]
    if any({n: a.nodes for n, a in f.items()} != {n: a.nodes for n, a in arguments.items()} for _, f in fitting):
        skip(f"several signatures of {operator.path} fit the arguments")
    names = frozenset(NUMPY_NAMES.get(k, k) if k not in arguments else k for k in keywords)
    signatures = tuple(s for s, _ in fitting)
    return BoundCall(operator, signatures, tuple(arguments.values()), names, receiver is not None)


def renamed_for(bound: BoundCall, target: TorchOperator) -> BoundCall | None:
    """The call with the parameter names of another function of the same behaviour; None where it lacks one."""
    for signature in target.signatures:
        names = correspondence(bound.signature, signature)
        pairs = [(a, signature.named(names.get(a.name, ""))) for a in bound.arguments]
        found = [dataclasses.replace(a, parameter=p) for a, p in pairs if p is not None]
        needed = {p.name for p in signature.parameters if p.default is REQUIRED}
        if len(found) == len(pairs) and needed <= {a.name for a in found}:
            keywords = frozenset(names[name] for name in bound.keywords)
            return BoundCall(target, (signature,), tuple(found), keywords, bound.is_method_call)
    return None


def bind(
    signature: Signature,
    positional: Sequence[cst.BaseExpression],
    keywords: Mapping[str, cst.BaseExpression],
    ctx: RewriteContext,
    is_native: bool,
    is_method: bool,
) -> dict[str, Argument] | None:
    """Arguments by parameter name in order of evaluation, or None where the signature does not take them."""
    parameters = list(signature.positional)
    if is_method and signature.receiver:
        parameters.sort(key=lambda p: p.name != signature.receiver)
    found: dict[str, Argument] = {}
    rest = list(positional)
    open_list = is_method and is_native and len(parameters) == 2 and parameters[1].type == "int[]" and len(rest) > 1
    if open_list and all(f.kind == "int" for node in rest[1:] for f in ctx.facts(node)):
        receiver, items = parameters
        found = {
            receiver.name: Argument(receiver, (rest[0],)),
            items.name: Argument(items, tuple(rest[1:]), packed=True),
        }
        rest = []
    if len(rest) > len(parameters):
        return None
    for parameter, node in zip(parameters, rest, strict=False):
        found[parameter.name] = Argument(parameter, (node,))
    for keyword, node in keywords.items():
        parameter = signature.named(keyword)
        if parameter is None and is_native:
            parameter = signature.named(NUMPY_NAMES.get(keyword, ""))
        if parameter is None or parameter.name in found:
            return None
        found[parameter.name] = Argument(parameter, (node,))
    if any(p.default is REQUIRED and p.name not in found for p in signature.parameters):
        return None
    return found


def is_tensor(ctx: RewriteContext, node: cst.BaseExpression) -> bool:
    """Whether ``node`` ran and was a plain tensor every time."""
    visits = ctx.visits(node)
    return bool(visits) and all(f.is_tensor for f in visits)


def _fit(ctx: RewriteContext, argument: Argument) -> bool | None:
    """Whether the values seen have exactly the parameter's type (True), may stand for it (False), or neither."""
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
    """The text of an argument, in brackets only where it needs them between commas."""
    needs = isinstance(node, (cst.NamedExpr, cst.Lambda, cst.Yield, cst.GeneratorExp, cst.Tuple))
    return f"({ctx.syntax.text_of(node)})" if needs else ctx.syntax.text_of(node)


def _root(node: cst.CSTNode) -> cst.CSTNode:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node
