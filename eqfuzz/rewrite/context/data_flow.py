"""Data flow around a place: which variables are bound on every path, which a call may change, what may be moved."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import lru_cache

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.source.edit import skip
from eqfuzz.rewrite.source.evaluation_order import held_back
from eqfuzz.rewrite.source.purity import is_pure
from eqfuzz.rewrite.source.syntax import children, dotted, walk

_FRAME_FUNCTIONS = frozenset("locals globals vars dir exec eval".split())
_FRAME_MODULES = frozenset("inspect jit script _getframe currentframe triton numba".split())
"""Code that calls one of these functions, or mentions one of the others, can see its own variables, stack or source."""

_TRACING = frozenset("cond while_loop scan associative_scan map vmap checkpoint export compile".split())

_SCOPES = (cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.ClassDef, cst.FunctionDef)

_HARMLESS_MODULES = (
    "torch.nn.functional.",
    "torch.linalg.",
    "torch.special.",
    "torch.fft.",
    "torch.Tensor.",
    "torch.",
    "math.",
)

_KEEPS_STATE = frozenset(
    """batch_norm instance_norm embedding embedding_bag fractional_max_pool2d fractional_max_pool3d
    scaled_dot_product_attention native_dropout feature_dropout empty empty_like empty_strided new_empty
    new_empty_strided empty_permuted no_grad enable_grad inference_mode compile cond vmap save load from_file
    share_memory retain_grad register_hook item tolist numpy""".split()
)
"""Functions of torch that draw, write, read memory as it is, or leave the tensor world."""

_PLAIN_KINDS = frozenset("tensor int float bool complex str none dtype range ints tuple list device".split())


def own_nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Like ``walk``, but not into nested functions, lambdas and classes."""
    yield node
    for child in children(node):
        if not isinstance(child, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            yield from own_nodes(child)


@lru_cache(maxsize=4096)
def path_to(root: cst.CSTNode, target: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """The nodes from ``root`` down to ``target``, both included; empty when it is not inside."""
    if root is target:
        return (root,)
    pending: list[tuple[cst.CSTNode, tuple[cst.CSTNode, ...]]] = [(root, (root,))]
    while pending:
        node, path = pending.pop()
        for child in children(node):
            if child is target:
                return (*path, child)
            pending.append((child, (*path, child)))
    return ()


def ancestors(ctx: RewriteContext) -> tuple[cst.CSTNode, ...]:
    """What is around the statement here inside its function, from the outside in."""
    function = ctx.statement.function
    return path_to(function, ctx.statement.node)[1:-1]


def require_ordinary(ctx: RewriteContext) -> None:
    """Skip code that inspects its own frame or source: every rewrite would be visible to it."""
    seen = _frame_readers(ctx.syntax.module)
    if seen:
        skip(f"the program may inspect its own variables or source ({seen[0]})")


@lru_cache(maxsize=16)
def _frame_readers(module: cst.Module) -> tuple[str, ...]:
    attributes = {id(node.attr) for node in walk(module) if isinstance(node, cst.Attribute)}
    readers = {
        node.value
        for node in walk(module)
        if isinstance(node, cst.Name)
        and (node.value in _FRAME_MODULES or (node.value in _FRAME_FUNCTIONS and id(node) not in attributes))
    }
    return tuple(sorted(readers))


def require_unbroken(ctx: RewriteContext) -> None:
    """Skip where a graph must not break: some functions of torch trace the functions passed to them as a whole."""
    tracing = sorted(_TRACING & (ctx.syntax.names | ctx.syntax.attributes))
    if tracing:
        skip(f"{tracing[0]} may trace the code here as a whole")


def shared_names(ctx: RewriteContext) -> frozenset[str]:
    """Names that some function of the program declares ``nonlocal`` or ``global``: a call may change them."""
    return _declared(ctx.syntax.module)


@lru_cache(maxsize=16)
def _declared(module: cst.Module) -> frozenset[str]:
    return frozenset(
        item.name.value for node in walk(module) if isinstance(node, (cst.Nonlocal, cst.Global)) for item in node.names
    )


def captured(ctx: RewriteContext) -> frozenset[str]:
    """Names that nested functions, lambdas, classes and generator expressions of the function here mention."""
    return _mentioned_inside(ctx.statement.function)


@lru_cache(maxsize=64)
def _mentioned_inside(function: cst.FunctionDef) -> frozenset[str]:
    holders = (cst.FunctionDef, cst.Lambda, cst.GeneratorExp, cst.ClassDef)
    return frozenset(
        inner.value
        for node in walk(function.body)
        if isinstance(node, holders)
        for inner in walk(node)
        if isinstance(inner, cst.Name)
    )


def require_no_handler(ctx: RewriteContext) -> None:
    """Skip where an exception may be caught inside the function, so that half of a change would be seen."""
    for node in ancestors(ctx):
        if isinstance(node, (cst.Try, cst.TryStar)):
            skip("an exception raised halfway may be caught here")
        if isinstance(node, cst.With):
            for item in node.items:
                path = ctx.resolved(item.item.func) if isinstance(item.item, cst.Call) else None
                if not (path or "").startswith(("torch.", "contextlib.nullcontext")):
                    skip("a context manager may catch an exception raised halfway")


def bound_before(ctx: RewriteContext) -> frozenset[str]:
    """Variables that have a value whenever the statement here begins: parameters, and what always ran before."""
    function = ctx.statement.function
    names = {n.name.value for n in walk(function.params) if isinstance(n, cst.Param)}
    path = path_to(function, ctx.statement.node)
    for parent, child in itertools.pairwise(path):
        if isinstance(parent, (cst.IndentedBlock, cst.SimpleStatementLine)):
            for earlier in parent.body:
                if earlier is child:
                    break
                names |= _bound_by(earlier)
        elif isinstance(parent, cst.For) and child is parent.body:
            names |= _targets(parent.target)
        elif isinstance(parent, cst.With) and child is parent.body:
            names |= {n for i in parent.items if i.asname is not None for n in _targets(i.asname.name)}
    return frozenset(names - _unbound_somewhere(function))


def _bound_by(statement: cst.CSTNode) -> set[str]:
    """Names that have a value whenever ``statement`` is over."""
    match statement:
        case cst.SimpleStatementLine():
            return set().union(*(_bound_by(small) for small in statement.body))
        case cst.Assign():
            return set().union(*(_targets(t.target) for t in statement.targets))
        case cst.AnnAssign():
            return _targets(statement.target) if statement.value is not None else set()
        case cst.AugAssign():
            return _targets(statement.target)
        case cst.FunctionDef() | cst.ClassDef():
            return {statement.name.value}
        case cst.If():
            if not isinstance(statement.orelse, cst.Else):
                return _bound_by(statement.body) & _bound_by(statement.orelse) if statement.orelse else set()
            return _bound_by(statement.body) & _bound_by(statement.orelse.body)
        case cst.IndentedBlock() | cst.SimpleStatementSuite():
            return set().union(*(_bound_by(s) for s in statement.body))
        case cst.Try() if not statement.handlers:
            return _bound_by(statement.body)
        case cst.With():
            return {n for i in statement.items if i.asname is not None for n in _targets(i.asname.name)}
        case _:
            return set()


def _targets(target: cst.CSTNode) -> set[str]:
    match target:
        case cst.Name():
            return {target.value}
        case cst.Tuple() | cst.List():
            return set().union(*(_targets(e.value) for e in target.elements))
        case cst.StarredElement():
            return _targets(target.value)
        case _:
            return set()


@lru_cache(maxsize=64)
def _unbound_somewhere(function: cst.FunctionDef) -> frozenset[str]:
    """Names that a ``del`` or the end of an ``except … as name`` unbinds."""
    unbound: set[str] = set()
    for node in walk(function.body):
        if isinstance(node, cst.Del):
            unbound |= {n.value for n in walk(node) if isinstance(n, cst.Name)}
        elif isinstance(node, cst.ExceptHandler) and node.name is not None:
            unbound |= {n.value for n in walk(node.name) if isinstance(n, cst.Name)}
    return frozenset(unbound)


def require_same_elsewhere(node: cst.CSTNode) -> None:
    """Skip what means something else in another function: ``super()``, ``yield``, ``:=``, ``__private``, late reads."""
    reason = _different_elsewhere(node)
    if reason is not None:
        skip(reason)


@lru_cache(maxsize=4096)
def _different_elsewhere(node: cst.CSTNode) -> str | None:
    for inner in walk(node):
        match inner:
            case cst.NamedExpr() | cst.Yield() | cst.Await() | cst.Lambda() | cst.GeneratorExp():
                return "it binds a name, awaits, or reads its variables later"
            case cst.Name(value=name) if name in ("super", "__class__") or is_private(name):
                return f"{name} means something else in another function"
            case _:
                pass
    return None


def is_private(name: str) -> bool:
    """Whether the name is mangled inside a class."""
    return name.startswith("__") and not name.endswith("__")


def require_one_text(ctx: RewriteContext, node: cst.CSTNode) -> str:
    """The text of ``node``, in parentheses when it has several lines; Skip when indenting it could change a string."""
    text = ctx.text(node)
    if "\n" not in text:
        return text
    if '"""' in text or "'''" in text or "\\\n" in text:
        skip("a string of several lines cannot be indented differently")
    return text if isinstance(node, cst.BaseExpression) and node.lpar else f"({text})"


def parameters_of(ctx: RewriteContext, expression: cst.BaseExpression) -> list[str]:
    """The parameters of a function that computes ``expression`` in its place, in alphabetical order.

    Skip where it would compute something else: reads that are not certain, names that a call may change.
    """
    require_ordinary(ctx)
    require_same_elsewhere(expression)
    names = ctx.variables(expression)
    changing = sorted(shared_names(ctx) & set(names))
    if changing:
        skip(f"a call may change {changing[0]} in between")
    unsure = set(names) - _certain(expression)
    if unsure or any(isinstance(n, (cst.Try, cst.TryStar)) for n in ancestors(ctx)):
        missing = sorted(set(names) - bound_before(ctx) - _bound_between(ctx))
        if missing:
            skip(f"{missing[0]} may have no value yet")
    return names


def _certain(node: cst.CSTNode) -> set[str]:
    """Names that evaluating ``node`` certainly reads."""
    match node:
        case cst.Name():
            return {node.value}
        case cst.IfExp():
            return _certain(node.test)
        case cst.BooleanOperation():
            return _certain(node.left)
        case cst.Comparison():
            return _certain(node.left) | _certain(node.comparisons[0].comparator)
        case cst.ListComp() | cst.SetComp() | cst.DictComp():
            return _certain(node.for_in.iter)
        case cst.Attribute():
            return _certain(node.value)
        case cst.Arg():
            return _certain(node.value)
        case _:
            return set().union(*(_certain(child) for child in children(node)))


def _bound_between(ctx: RewriteContext) -> set[str]:
    """Parameters and comprehension variables that are bound between the statement and the expression here."""
    bound: set[str] = set()
    for node in path_to(ctx.statement.node, ctx.node):
        if isinstance(node, cst.Lambda):
            bound |= {n.name.value for n in walk(node.params) if isinstance(n, cst.Param)}
        elif isinstance(node, (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)):
            bound |= {n for part in walk(node) if isinstance(part, cst.CompFor) for n in _targets(part.target)}
    return bound


def require_same_scope(ctx: RewriteContext) -> None:
    """Skip when the expression here stands in a scope of its own inside the statement."""
    if any(isinstance(node, _SCOPES) for node in path_to(ctx.statement.node, ctx.node)[:-1]):
        skip("the expression is inside another scope")


def require_first(ctx: RewriteContext, expression: cst.BaseExpression) -> None:
    """Skip unless ``expression`` may be evaluated ahead of the statement here."""
    require_ordinary(ctx)
    reason = held_back(expression, ctx.statement.node)
    if reason is not None:
        skip(reason)
    if any(isinstance(n, (cst.NamedExpr, cst.Yield, cst.Await)) for n in walk(expression)):
        skip("it binds a name or awaits")
    if not is_pure(expression) and shared_names(ctx):
        skip("a call may change variables that are read before it")
    start = ctx.syntax.span(expression)[0]
    for node in own_nodes(ctx.statement.node):
        if isinstance(node, cst.Call) and ctx.syntax.span(node)[1] <= start:
            _require_calm_call(ctx, node)


def require_calm(ctx: RewriteContext, expression: cst.BaseExpression) -> None:
    """Skip unless ``expression`` only computes: torch functions and methods on plain tensors and numbers.

    Stricter than purity, which goes by names alone: no object of the program's own takes part.
    """
    ctx.require_pure(expression)
    for node in walk(expression):
        match node:
            case cst.Call():
                _require_calm_call(ctx, node)
            case cst.GeneratorExp() | cst.ListComp() | cst.SetComp() | cst.DictComp() | cst.FormattedString():
                skip("expressions in comprehensions and formatted strings are not supported")
            case cst.BinaryOperation() | cst.UnaryOperation() | cst.Comparison() | cst.Subscript():
                operands = [c for c in children(node) if isinstance(c, cst.BaseExpression)]
                for operand in operands:
                    _require_plain(ctx, operand)
            case _:
                pass


def _require_calm_call(ctx: RewriteContext, call: cst.Call) -> None:
    path = ctx.resolved(call.func)
    if path is not None:
        module = next((m for m in _HARMLESS_MODULES if path.startswith(m)), None)
        name = path.removeprefix(module or "")
        if module is None or "." in name or _may_keep_state(name):
            skip(f"{path} may do more than compute")
    elif isinstance(call.func, cst.Attribute):
        if _may_keep_state(call.func.attr.value):
            skip(f"{call.func.attr.value} may do more than compute")
        _require_plain(ctx, call.func.value)
    elif not isinstance(call.func, cst.Name) or call.func.value in ctx.locals | ctx.syntax.module_names:
        skip("the callee is defined by the program")
    for argument in call.args:
        if argument.star:
            skip("starred arguments are not supported")
        if dotted(argument.value) is None or ctx.resolved(argument.value) is None:
            _require_plain(ctx, argument.value)


def _may_keep_state(name: str) -> bool:
    return name in _KEEPS_STATE or name.startswith(("set_", "use_", "init", "_", "get_", "is_grad")) or "rand" in name


def _require_plain(ctx: RewriteContext, expression: cst.BaseExpression) -> None:
    """Skip unless the operand was a tensor, number, … every time: its operators are then torch's or Python's own."""
    if isinstance(expression, (cst.Tuple, cst.List, cst.SimpleString)) or ctx.resolved(expression) is not None:
        return  # elements are looked at as expressions of their own
    for fact in ctx.facts(expression):
        if fact.kind not in _PLAIN_KINDS:
            skip(f"an operand is {fact.describe()}, whose operators are unknown")


def stores(ctx: RewriteContext, statements: Sequence[cst.CSTNode]) -> set[str]:
    """Variables that the statements bind."""
    return set().union(*(ctx.names(s).stores for s in statements))
