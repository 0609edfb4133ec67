"""Calls: how arguments are passed, how the function is found, and helpers put where they are called."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext, constant
from eqfuzz.rewrite.context.data_flow import (
    is_private,
    parameters_of,
    require_calm,
    require_first,
    require_one_text,
    require_ordinary,
    shared_names,
    walk,
)
from eqfuzz.rewrite.facts.preconditions import real, wide
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, edited, skip
from eqfuzz.rewrite.source.purity import is_pure
from eqfuzz.rewrite.source.syntax import dotted

REAL = [real("x", "y"), wide("x", "y")]
SUM = """
def program(x, y):
    return torch.sub(x, y)
"""
KEYWORDS = """
def program(x, y):
    return torch.stack((x, y), dim=0).sum(dim=0, keepdim=True)
"""
METHOD = """
def program(x, y):
    return x.reshape(-1) + torch.sin(y).sum()
"""
CHOICE = """
def program(x, y):
    return torch.sin(x) * y
"""


def callee_text(call: cst.Call, ctx: RewriteContext) -> str:
    """The callee, which is a dotted name: looking it up has no side effects."""
    ctx.tensors(call)
    require_ordinary(ctx)
    name = dotted(call.func)
    if name is None or name.split(".")[0] == "super" or any(is_private(part) for part in name.split(".")):
        skip("the callee is not a plain name")
    return ctx.text(call.func)


def argument_texts(call: cst.Call, ctx: RewriteContext) -> tuple[list[str], dict[str, str]]:
    """The text of positional arguments and of those by keyword."""
    positional: list[str] = []
    keywords: dict[str, str] = {}
    for argument in call.args:
        if argument.star or isinstance(argument.value, (cst.GeneratorExp, cst.NamedExpr, cst.Yield, cst.Await)):
            skip("an argument is starred, a generator, or binds a name")
        text = require_one_text(ctx, argument.value)
        if argument.keyword is None:
            positional.append(text)
        else:
            keywords[argument.keyword.value] = text
    if any(a.keyword is None for a in call.args[len(positional) :]):
        skip("a positional argument follows a keyword argument")
    return positional, keywords


def join_arguments(positional: list[str], keywords: dict[str, str]) -> str:
    return ", ".join([*positional, *(f"{name}={text}" for name, text in keywords.items())])


@rule(exact="bitwise", where=REAL, example=[SUM, KEYWORDS])
def partial_application(call: cst.Call, ctx: RewriteContext):
    """The first argument, or all arguments by keyword, are bound by ``functools.partial``."""
    function = callee_text(call, ctx)
    positional, keywords = argument_texts(call, ctx)
    if not positional:
        skip("the call has no positional argument")
    partial = ctx.path("functools.partial")
    yield f"{partial}({function}, {positional[0]})({join_arguments(positional[1:], keywords)})"
    if keywords and all(is_pure(a.value) for a in call.args):
        yield f"{partial}({join_arguments([function], keywords)})({join_arguments(positional, {})})"


@rule(exact="bitwise", where=REAL, example=[SUM, KEYWORDS])
def starred_arguments(call: cst.Call, ctx: RewriteContext):
    """Positional arguments are passed as a starred tuple or list."""
    function = callee_text(call, ctx)
    positional, keywords = argument_texts(call, ctx)
    if not positional:
        skip("the call has no positional argument")
    items = ", ".join(positional)
    yield f"{function}({join_arguments([f'*({items},)'], keywords)})"
    if len(positional) > 1:
        rest = ", ".join(positional[1:])
        yield f"{function}({join_arguments([positional[0], f'*[{rest}]'], keywords)})"


@rule(exact="bitwise", where=REAL, example=[SUM, METHOD])
def starred_variable(call: cst.Call, ctx: RewriteContext):
    """Positional arguments are packed in a variable, and starred."""
    function = callee_text(call, ctx)
    positional, keywords = argument_texts(call, ctx)
    if not positional or (dotted(call.func) or "").startswith("self."):
        skip("the call has no positional argument, or is a call of a submodule")
    require_first(ctx, call)
    name = ctx.new_name("args")
    yield f"{function}({join_arguments([f'*{name}'], keywords)})", ctx.ahead(f"{name} = ({', '.join(positional)},)")


@rule(exact="bitwise", where=REAL, example=KEYWORDS)
def keyword_dict(call: cst.Call, ctx: RewriteContext):
    """Arguments by keyword are passed as a dict."""
    function = callee_text(call, ctx)
    positional, keywords = argument_texts(call, ctx)
    if not keywords:
        skip("the call has no keyword argument")
    display = "{" + ", ".join(f'"{k}": {v}' for k, v in keywords.items()) + "}"
    yield f"{function}({join_arguments([*positional, f'**{display}'], {})})"
    dictionary = f"{ctx.builtin('dict')}({join_arguments([], keywords)})"
    yield f"{function}({join_arguments([*positional, f'**{dictionary}'], {})})"
    if all(constant(a.value) is not None for a in call.args if a.keyword is not None):
        name = ctx.new_name("kwargs")
        yield f"{function}({join_arguments([*positional, f'**{name}'], {})})", ctx.ahead(f"{name} = {dictionary}")


@rule(exact="bitwise", where=REAL, example=[SUM, METHOD])
def function_by_name(call: cst.Call, ctx: RewriteContext):
    """The function is looked up with ``getattr``."""
    callee_text(call, ctx)
    if not isinstance(call.func, cst.Attribute):
        skip("the callee is not an attribute")
    base, name = ctx.text(call.func.value), call.func.attr.value
    arguments = join_arguments(*argument_texts(call, ctx))
    yield f'{ctx.builtin("getattr")}({base}, "{name}")({arguments})'
    if len(name) > 1:
        yield f'{ctx.builtin("getattr")}({base}, "{name[:1]}" + "{name[1:]}")({arguments})'


@rule(exact="bitwise", where=REAL, example=METHOD)
def method_caller(call: cst.Call, ctx: RewriteContext):
    """A method is called by ``operator.methodcaller``."""
    if not isinstance(call.func, cst.Attribute) or ctx.resolved(call.func) is not None:
        skip("the callee is not a method")
    ctx.tensors(call)
    require_ordinary(ctx)
    ctx.tensors(call.func.value)
    positional, keywords = argument_texts(call, ctx)
    if any(not is_pure(a.value) for a in call.args) or not is_pure(call.func.value):
        skip("the arguments would be evaluated before the object")
    arguments = join_arguments([f'"{call.func.attr.value}"', *positional], keywords)
    caller = f"{ctx.path('operator.methodcaller')}({arguments})"
    yield f"{caller}({require_one_text(ctx, call.func.value)})"


@rule(exact="bitwise", where=REAL, example=[SUM, CHOICE])
def function_in_a_variable(call: cst.Call, ctx: RewriteContext):
    """A function of torch is bound to a variable, of the function or of the module, and called by that name."""
    callee_text(call, ctx)
    path = ctx.resolved(call.func)
    if path is None or not path.startswith("torch."):
        skip("the callee is not a function of torch")
    arguments = join_arguments(*argument_texts(call, ctx))
    name = ctx.new_name("f")
    yield f"{name}({arguments})", ctx.ahead(f"{name} = {ctx.text(call.func)}")
    yield f"{name}({arguments})", ctx.define(f"{name} = {ctx.text(call.func)}")


@rule(exact="bitwise", where=REAL, example=[SUM, CHOICE])
def imported_in_place(call: cst.Call, ctx: RewriteContext):
    """A function of torch is imported in the function that calls it."""
    callee_text(call, ctx)
    path = ctx.resolved(call.func)
    module, _, function = (path or "").rpartition(".")
    if module not in ("torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft"):
        skip("the callee is not a function of a torch module")
    name = ctx.new_name("f")
    yield (
        f"{name}({join_arguments(*argument_texts(call, ctx))})",
        ctx.ahead(f"from {module} import {function} as {name}"),
    )


@rule(exact="bitwise", where=REAL, example=[SUM, CHOICE])
def dispatch_table(call: cst.Call, ctx: RewriteContext):
    """A function of torch is the value of a dict that stands in place or at module level."""
    callee_text(call, ctx)
    path = ctx.resolved(call.func)
    if path is None or not path.startswith("torch."):
        skip("the callee is not a function of torch")
    arguments, key = join_arguments(*argument_texts(call, ctx)), path.rpartition(".")[2]
    yield f'{{"{key}": {ctx.text(call.func)}}}["{key}"]({arguments})'
    name = ctx.new_name("TABLE")
    yield f'{name}["{key}"]({arguments})', ctx.define(f'{name} = {{"{key}": {ctx.text(call.func)}, "none": None}}')


@rule(exact="bitwise", where=REAL, example=KEYWORDS)
def chained_list_argument(call: cst.Call, ctx: RewriteContext):
    """A list or tuple of tensors that a function of torch takes is chained out of its items."""
    callee_text(call, ctx)
    path = ctx.resolved(call.func)
    first = call.args[0].value if call.args else None
    if path is None or not path.startswith("torch.") or not isinstance(first, (cst.List, cst.Tuple)):
        skip("the callee is not a torch function that takes a list")
    items = [e.value for e in first.elements]
    if len(items) < 2 or any(isinstance(e, cst.StarredElement) for e in first.elements):
        skip("the list has fewer than two items, or starred ones")
    for item in items:
        ctx.tensors(item)
    head, tail = require_one_text(ctx, items[0]), ", ".join(require_one_text(ctx, i) for i in items[1:])
    chained = f"{ctx.path('itertools.chain')}([{head}], ({tail},))"
    yield ctx.replace(first, f"{ctx.builtin('list')}({chained})")
    yield ctx.replace(first, f"[{head}, *({tail},)]")
    yield ctx.replace(first, f"[{head}] + [{tail}]")


@rule(exact="bitwise", where=REAL, example=CHOICE)
def set_membership(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """An expression is computed when a word is in a set, where it is."""
    ctx.tensors(node)
    require_ordinary(ctx)
    yield f'{require_one_text(ctx, node)} if "first" in {{"first", "second"}} else None'
    name = ctx.new_name("WORDS")
    definition = f"{name} = {ctx.builtin('frozenset')}(('first', 'second'))"
    yield f'None if "third" in {name} else {require_one_text(ctx, node)}', ctx.define(definition)


@rule(exact="bitwise", where=REAL, example=CHOICE)
def formatted_key(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A value is looked up in a dict by a key that is formatted from the rank of an operand."""
    ctx.tensors(node)
    names = set(parameters_of(ctx, node))
    for operand in walk(node):
        facts = ctx.recorded(operand) if isinstance(operand, cst.Name) and operand.value in names else ()
        if facts and all(f.is_tensor and f.ndim == facts[0].ndim for f in facts):
            key = f'f"{{{operand.value}.dim()}}d"'
            yield f'{{"{facts[0].ndim}d": {require_one_text(ctx, node)}}}[{key}]'
            return
    skip("the expression reads no tensor variable of one rank")


@rule(
    exact="bitwise",
    where=REAL,
    example="""
    def mixed(a, b, scale=0.5):
        return a * scale + torch.sin(b)

    def program(x, y):
        return mixed(x, b=torch.cos(y)) - y
    """,
)
def inlined_helper(call: cst.Call, ctx: RewriteContext):
    """A call of a function of the program that only returns an expression is replaced by that expression."""
    if not isinstance(call.func, cst.Name):
        skip("the callee is not a plain name")
    ctx.facts(call)
    require_ordinary(ctx)
    helper = definition_of(call.func.value, ctx)
    result = returned_expression(helper, ctx)
    given_texts = argument_for_each_parameter(helper, call, result, ctx)
    start, end = ctx.syntax.span(result)
    edits = [
        Edit((a - start, b - start), given_texts[name.value])
        for name in variables_in(result)
        if name.value in given_texts
        for a, b in [ctx.syntax.span(name)]
    ]
    text = edited(ctx.syntax.text[start:end], edits)
    if "'''" in text or '"""' in text:
        skip("a string spans several lines")
    yield f"({text})"


def definition_of(name: str, ctx: RewriteContext) -> cst.FunctionDef:
    """The one definition of ``name`` in the program, at module level and never bound otherwise."""
    if name in ctx.locals or name in ctx.syntax.imports or name in shared_names(ctx):
        skip(f"{name} is not only a function at module level")
    helpers = [s for s in ctx.syntax.module.body if isinstance(s, cst.FunctionDef) and s.name.value == name]
    targets = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr, cst.CompFor)
    stored = [
        n
        for t in walk(ctx.syntax.module)
        if isinstance(t, targets)
        for n in walk(t.target)
        if isinstance(n, cst.Name) and n.value == name
    ]
    definitions = [d for d in walk(ctx.syntax.module) if isinstance(d, (cst.FunctionDef, cst.ClassDef))]
    if len(helpers) != 1 or stored or len([d for d in definitions if d.name.value == name]) != 1:
        skip(f"{name} is not defined exactly once at module level")
    return helpers[0]


def returned_expression(helper: cst.FunctionDef, ctx: RewriteContext) -> cst.BaseExpression:
    """What ``helper`` returns, when that is all that it does and the same text means the same at the call."""
    body = [
        small
        for line in helper.body.body
        for small in (line.body if isinstance(line, cst.SimpleStatementLine) else (line,))
        if not (isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString))
    ]
    if helper.decorators or helper.asynchronous or len(body) != 1 or not isinstance(body[0], cst.Return):
        skip("the function is decorated, or does more than return an expression")
    result = body[0].value or skip("the function returns nothing")
    scopes = (cst.Lambda, cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp)
    for node in walk(result):
        if isinstance(node, (*scopes, cst.NamedExpr, cst.Yield, cst.Await, cst.FormattedString)):
            skip("the expression binds names, reads them later, or awaits")
        if isinstance(node, (cst.Name, cst.Attribute)):
            name = node.value if isinstance(node, cst.Name) else node.attr.value
            if is_private(name) or name == "super":
                skip(f"{name} means something else at the call")
    return result


def variables_in(result: cst.BaseExpression) -> list[cst.Name]:
    """The names that stand for variables in an expression; attributes and keywords do not."""
    reads: list[cst.Name] = []
    pending: list[cst.CSTNode] = [result]
    while pending:
        node = pending.pop()
        if isinstance(node, cst.Name):
            reads.append(node)
        hidden = [node.attr] if isinstance(node, cst.Attribute) else [node.keyword] if isinstance(node, cst.Arg) else []
        pending.extend(c for c in node.children if c not in hidden)
    return reads


def argument_for_each_parameter(
    helper: cst.FunctionDef, call: cst.Call, result: cst.BaseExpression, ctx: RewriteContext
) -> dict[str, str]:
    """The text that stands for each parameter; Skip where evaluating it in place would differ."""
    p = helper.params
    if p.kwonly_params or p.posonly_params or isinstance(p.star_arg, cst.Param) or p.star_kwarg:
        skip("its parameters are not all plain")
    names = [param.name.value for param in p.params]
    values: dict[str, cst.BaseExpression] = {}
    for index, argument in enumerate(call.args):
        if argument.star or (argument.keyword is None and index >= len(names)):
            skip("an argument is starred")
        values[argument.keyword.value if argument.keyword is not None else names[index]] = argument.value
    for param in p.params:
        if param.name.value not in values:
            if param.default is None or constant(param.default) is None:
                skip(f"the default of {param.name.value} is not a constant")
            values[param.name.value] = param.default
    used = [n.value for n in variables_in(result)]
    if outside := sorted((set(used) - set(names)) & ctx.locals):
        skip(f"{outside[0]} means something else at the call")
    changing = shared_names(ctx)
    calm = True
    for name, value in values.items():
        if isinstance(value, cst.Name) and value.value not in changing:
            continue
        if constant(value) is None:
            calm = False
            require_calm(ctx, value)
            if used.count(name) > 1 or isinstance(value, cst.Tuple):
                skip(f"{name} is used several times, and its argument is not a name")
    if not calm:
        require_calm(ctx, result)
    return {name: parenthesised(ctx, value) for name, value in values.items()}


def parenthesised(ctx: RewriteContext, value: cst.BaseExpression) -> str:
    text = require_one_text(ctx, value)
    plain = (cst.Name, cst.Call, cst.Subscript, cst.Attribute, cst.List, cst.SimpleString)
    bare = isinstance(value, plain)
    return text if bare or value.lpar or "\n" in text else f"({text})"
