"""Submodules of the program: modules from torch.nn that code reaches as ``self.name``."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.source.edit import skip
from eqfuzz.rewrite.source.syntax import HOOKS, dotted

_CHANGERS = ("__getattr__", "__getattribute__", "setattr", "delattr", "add_module", "register_module")
_RESIZERS = ("append", "extend", "insert", "pop", "clear", "update")


def called(call: cst.Call, ctx: RewriteContext, kinds: Collection[str]) -> Fact | None:
    """The fact of the submodule that is called, when it was one of ``kinds`` every time (see ``submodule``)."""
    return submodule(call.func, ctx, kinds)


def submodule(expression: cst.BaseExpression, ctx: RewriteContext, kinds: Collection[str]) -> Fact | None:
    """The fact of ``self.name``, when it was a module of one of ``kinds``, configured alike, every time.

    Kinds are names of classes in torch.nn; empty for all of them. Raises Skip where calling it does more than its
    ``forward``, or where the attribute may be another module the next time that it is read.
    """
    if not (dotted(expression) or "").startswith("self."):
        return None
    visits = ctx.facts(expression)
    for fact in visits:
        if not fact.origin.startswith("torch.nn.modules.") or (kinds and fact.kind not in kinds):
            return None
    first = visits[0]
    for fact in visits:
        if fact.hooked:
            skip(f"calling the {fact.kind} does more than its forward")
        if (fact.kind, fact.attributes, fact.length) != (first.kind, first.attributes, first.length):
            skip(f"the {first.kind} is not configured alike every time")
    reason = _unsettled(ctx.syntax.module, expression)
    if reason is not None:
        skip(reason)
    return first


def arguments(call: cst.Call, ctx: RewriteContext) -> str:
    """The arguments of a call as text. Raises Skip unless there are some, all of them positional."""
    if not call.args or any(a.star or a.keyword is not None for a in call.args):
        skip("the module is not called with positional arguments only")
    return ", ".join(ctx.text(a.value) for a in call.args)


def _unsettled(module: cst.Module, expression: cst.BaseExpression) -> str | None:
    """Why an attribute may not be the same object whenever it is read."""
    changing = _changing_attributes(module)
    for name in (dotted(expression) or "").split(".")[1:]:
        if name in changing:
            return f"the attribute {name} is stored, or computed, by the code under test"
    for name in _CHANGERS:
        if name in changing:
            return f"attributes may change through {name}"
    return None


@lru_cache(maxsize=64)
def _changing_attributes(module: cst.Module) -> frozenset[str]:
    """Names of functions, of attributes that the code under test stores, and those of _CHANGERS that it calls."""
    return frozenset(_changes(module))


def _changes(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.FunctionDef():
            yield node.name.value
            if node.name.value in HOOKS:
                return
        case cst.AssignTarget() | cst.AugAssign() | cst.AnnAssign() | cst.For() | cst.NamedExpr():
            yield from _attributes(node.target)
        case cst.AsName():
            yield from _attributes(node.name)
        case cst.Del():
            yield from _attributes(node.target)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=method))) if method in _RESIZERS:
            yield from _attributes(node.func)
        case cst.Call() if (name := (dotted(node.func) or "").rpartition(".")[2]) in _CHANGERS:
            yield name
        case _:
            pass
    for child in node.children:
        yield from _changes(child)


def _attributes(node: cst.CSTNode) -> Iterator[str]:
    if isinstance(node, cst.Attribute):
        yield node.attr.value
    for child in node.children:
        yield from _attributes(child)


@dataclasses.dataclass(frozen=True)
class FunctionalForm:
    """A function in ``torch.nn.functional`` and what it takes after the module's own arguments.

    ``positional`` and ``keywords`` are attributes of the module; a positional one that is no identifier is an
    expression, in which ``{m}`` stands for the module.
    """

    function: str
    positional: tuple[str, ...]
    keywords: tuple[str, ...]

    def text(self, module: str, arguments: str) -> str:
        """The arguments of the call as text."""
        own = [f"{module}.{name}" if name.isidentifier() else name.format(m=module) for name in self.positional]
        return ", ".join([arguments, *own, *(f"{name}={module}.{name}" for name in self.keywords)])


def functional(function: str, *positional: str, keywords: str = "") -> FunctionalForm:
    """The form ``function(x, m.POSITIONAL, KEYWORD=m.KEYWORD)``; ``keywords`` are separated by spaces."""
    return FunctionalForm(function, positional, tuple(keywords.split()))


def function_called(call: cst.Call, ctx: RewriteContext, forms: Mapping[str, FunctionalForm]) -> Iterator[str]:
    """The function behind the submodule that is called, by the form for the submodule's class."""
    module = called(call, ctx, forms)
    if module is None:
        return
    form = forms[module.kind]
    passed = form.text(ctx.text(call.func), arguments(call, ctx))
    yield f"{ctx.path(f'torch.nn.functional.{form.function}')}({passed})"


def model(forward: str, **modules: str) -> str:
    """An example of a rule: a module with these submodules whose ``forward`` returns the expression over ``x``."""
    lines = "\n".join(f"        self.{name} = {text}" for name, text in modules.items())
    return (
        "class Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"{lines}\n\n    def forward(self, x):\n        return {forward}\n"
    )
