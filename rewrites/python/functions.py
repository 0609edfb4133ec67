"""The same expression computed inside a function: module-level, nested, lambda, method, module, generator."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import (
    parameters_of,
    require_calm,
    require_first,
    require_one_text,
    require_ordinary,
    require_same_scope,
    require_unbroken,
)
from eqfuzz.rewrite.facts.preconditions import real, wide
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip

SUM = """
def program(x, y):
    return torch.sin(x) + y
"""

LOOP = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 0.5

    def forward(self, x, y):
        total = x
        for k in range(2):
            total = total * self.scale + torch.sin(y) * k
        return total
"""

EXAMPLES = [SUM, LOOP]
REAL = [real("x", "y"), wide("x", "y")]


def parameters_and_text(node: cst.BaseExpression, ctx: RewriteContext, *, least: int = 1) -> tuple[list[str], str]:
    """The variables of a tensor expression and its text, when a function that is given them computes the same."""
    ctx.tensors(node)
    names = parameters_of(ctx, node)
    if len(names) < least:
        skip(f"it has fewer than {least} variables")
    return names, require_one_text(ctx, node)


def listed(names: list[str]) -> str:
    return ", ".join(names)


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def outlined_function(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """An expression is moved into a function at module level."""
    names, text = parameters_and_text(node, ctx)
    name = ctx.new_name("part")
    yield f"{name}({listed(names)})", ctx.define(f"def {name}({listed(names)}):\n    return {text}")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def outlined_nested_function(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """An expression is moved into a function that is defined where it is used, and is given its variables."""
    names, text = parameters_and_text(node, ctx)
    name = ctx.new_name("part")
    yield f"{name}({listed(names)})", ctx.ahead(f"def {name}({listed(names)}):\n    return {text}")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def outlined_closure(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """An expression is moved into a nested function that reads its variables from the function around."""
    _, text = parameters_and_text(node, ctx)
    require_same_scope(ctx)
    name = ctx.new_name("part")
    yield f"{name}()", ctx.ahead(f"def {name}():\n    return {text}")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def lambda_called_at_once(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """An expression becomes the body of a lambda that is called where it stands."""
    names, text = parameters_and_text(node, ctx)
    yield f"(lambda {listed(names)}: {text})({listed(names)})"


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def lambda_with_defaults(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """The variables of a lambda that is called at once are the defaults of its parameters."""
    names, text = parameters_and_text(node, ctx)
    yield f"(lambda {listed([f'{n}={n}' for n in names])}: {text})()"


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def closure_factory(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A function that is given one variable returns the function that is given the others."""
    (first, *rest), text = parameters_and_text(node, ctx, least=2)
    name, inner = ctx.new_name("make"), ctx.new_name("step")
    yield (
        f"{name}({first})({listed(rest)})",
        ctx.define(
            f"def {name}({first}):\n    def {inner}({listed(rest)}):\n        return {text}\n\n    return {inner}"
        ),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def stored_through_nonlocal(statement: cst.Assign | cst.Return, ctx: RewriteContext):
    """A nested function stores the value into a variable of the function around it."""
    node = statement.value
    if not isinstance(node, (cst.BinaryOperation, cst.Call)):
        skip("the value is neither an operation nor a call")
    ctx.tensors(node)
    require_ordinary(ctx)
    parameters_of(ctx, node)
    text = require_one_text(ctx, node)
    name, value = ctx.new_name("step"), ctx.new_name("result")
    yield (
        ctx.replace(node, value),
        ctx.ahead(f"{value} = None\n\ndef {name}():\n    nonlocal {value}\n    {value} = {text}\n\n{name}()"),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def decorated_function(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """The function that computes an expression passes through a decorator that adds nothing."""
    names, text = parameters_and_text(node, ctx)
    name, decorator, wrapper = ctx.new_name("part"), ctx.new_name("plain"), ctx.new_name("wrapper")
    wraps = ctx.path("functools.wraps")
    yield (
        f"{name}({listed(names)})",
        ctx.define(
            f"def {decorator}(function):\n    @{wraps}(function)\n    def {wrapper}(*args, **kwargs):\n"
            f"        return function(*args, **kwargs)\n\n    return {wrapper}\n\n\n"
            f"@{decorator}\ndef {name}({listed(names)}):\n    return {text}"
        ),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def variadic_function(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A function takes its arguments as ``*args`` and unpacks them."""
    names, text = parameters_and_text(node, ctx)
    name, args = ctx.new_name("part"), ctx.new_name("args")
    yield (
        f"{name}({listed(names)})",
        ctx.define(f"def {name}(*{args}):\n    ({listed(names)},) = {args}\n    return {text}"),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def keyword_function(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A function takes its arguments as ``**kwargs`` and looks them up."""
    names, text = parameters_and_text(node, ctx)
    name, kwargs = ctx.new_name("part"), ctx.new_name("kwargs")
    passed = listed([f"{n}={n}" for n in names])
    looked_up = "".join(f'    {n} = {kwargs}["{n}"]\n' for n in names)
    yield f"{name}({passed})", ctx.define(f"def {name}(**{kwargs}):\n{looked_up}    return {text}")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def mutable_default(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A nested function counts its calls in a list that is the default of a parameter."""
    names, text = parameters_and_text(node, ctx)
    name, seen = ctx.new_name("part"), ctx.new_name("seen")
    yield (
        f"{name}({listed(names)})",
        ctx.ahead(f"def {name}({listed(names)}, {seen}=[0]):\n    {seen}[0] += 1\n    return {text}"),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def method_of_a_class(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """An object holds the first variable and has a method that is given the others."""
    (first, *rest), text = parameters_and_text(node, ctx, least=2)
    name, own, method = ctx.new_name("Part"), ctx.new_name("own"), ctx.new_name("compute")
    yield (
        f"{name}({first}).{method}({listed(rest)})",
        ctx.define(
            f"class {name}:\n    def __init__({own}, {first}):\n        {own}.held = {first}\n\n"
            f"    def {method}({own}, {listed(rest)}):\n        {first} = {own}.held\n        return {text}"
        ),
    )


@rule(exact="bitwise", where=REAL, breaks_graph=True, example=EXAMPLES)
def local_class(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A class that is defined where it is used has a static method that computes the expression."""
    names, text = parameters_and_text(node, ctx)
    require_unbroken(ctx)
    name, method = ctx.new_name("Part"), ctx.new_name("compute")
    yield (
        f"{name}.{method}({listed(names)})",
        ctx.ahead(f"class {name}:\n    @staticmethod\n    def {method}({listed(names)}):\n        return {text}"),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def class_method(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A class method computes the expression and is called on the class or on an object."""
    names, text = parameters_and_text(node, ctx)
    name, own, method = ctx.new_name("Part"), ctx.new_name("own"), ctx.new_name("compute")
    definition = f"class {name}:\n    @classmethod\n    def {method}({listed([own, *names])}):\n        return {text}"
    yield f"{name}.{method}({listed(names)})", ctx.define(definition)
    yield f"{name}().{method}({listed(names)})", ctx.define(definition)


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def callable_object(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """An object with ``__call__``, made once at module level, computes the expression."""
    names, text = parameters_and_text(node, ctx)
    kind, name, own = ctx.new_name("Part"), ctx.new_name("part"), ctx.new_name("own")
    yield (
        f"{name}({listed(names)})",
        ctx.define(
            f"class {kind}:\n    def __call__({listed([own, *names])}):\n        return {text}\n\n\n{name} = {kind}()"
        ),
    )


def module_class(names: list[str], text: str, ctx: RewriteContext) -> tuple[str, str]:
    """The name and definition of a module class without parameters that computes ``text``."""
    if {"register_module_forward_hook", "register_module_forward_pre_hook"} & (
        ctx.syntax.names | ctx.syntax.attributes
    ):
        skip("a hook may see every module that is called")
    kind, own = ctx.new_name("Part"), ctx.new_name("own")
    forward = f"    def forward({listed([own, *names])}):\n        return {text}"
    return kind, f"class {kind}({ctx.path('torch.nn.Module')}):\n{forward}"


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def module_made_before(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A module without parameters, made once at module level, computes the expression."""
    names, text = parameters_and_text(node, ctx)
    kind, definition = module_class(names, text, ctx)
    name = ctx.new_name("part")
    yield f"{name}({listed(names)})", ctx.define(f"{definition}\n\n\n{name} = {kind}()")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def module_made_in_place(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A module without parameters is made and called where the expression stood."""
    names, text = parameters_and_text(node, ctx)
    kind, definition = module_class(names, text, ctx)
    yield f"{kind}()({listed(names)})", ctx.define(definition)


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def first_of_a_generator(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A generator function yields the expression, and its first item is taken."""
    names, text = parameters_and_text(node, ctx)
    require_calm(ctx, node)  # a StopIteration would come out as another exception
    name = ctx.new_name("parts")
    definition = ctx.define(f"def {name}({listed(names)}):\n    yield {text}")
    yield f"{ctx.builtin('next')}({name}({listed(names)}))", definition
    yield f"{ctx.builtin('list')}({name}({listed(names)}))[0]", definition


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def delegated_generator(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A generator function yields from another, and what it yields is unpacked."""
    names, text = parameters_and_text(node, ctx)
    require_calm(ctx, node)
    require_first(ctx, node)
    name, outer, value = ctx.new_name("parts"), ctx.new_name("all_parts"), ctx.new_name("value")
    yield (
        value,
        ctx.ahead(f"({value},) = {outer}({listed(names)})"),
        ctx.define(
            f"def {name}({listed(names)}):\n    yield {text}\n\n\n"
            f"def {outer}({listed(names)}):\n    yield from {name}({listed(names)})"
        ),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def passed_through_identity(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A value passes through a function that returns its argument."""
    ctx.tensors(node)
    require_ordinary(ctx)
    text = require_one_text(ctx, node)
    name = ctx.new_name("same")
    yield f"{name}({text})", ctx.define(f"def {name}(value):\n    return value")
    yield f"(lambda value: value)({text})"


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def computed_by_finally(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A function returns the value from a ``try`` whose ``finally`` counts."""
    names, text = parameters_and_text(node, ctx)
    name, left = ctx.new_name("part"), ctx.new_name("left")
    yield (
        f"{name}({listed(names)})",
        ctx.define(
            f"def {name}({listed(names)}):\n    {left} = 1\n    try:\n        return {text}\n"
            f"    finally:\n        {left} -= 1"
        ),
    )
