"""The same expression computed inside a function: module-level, nested, lambda, method, module, generator."""

import libcst as cst

from eqfuzz.rewrite.context.context import Place
from eqfuzz.rewrite.context.data_flow import (
    demand_calm,
    demand_first,
    demand_one_text,
    demand_ordinary,
    demand_same_scope,
    demand_unbroken,
    given,
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


def _taken(node: cst.BaseExpression, at: Place, *, least: int = 1) -> tuple[list[str], str]:
    """The variables of a tensor expression and its text, when a function that is given them computes the same."""
    at.tensors(node)
    names = given(at, node)
    if len(names) < least:
        skip(f"it has fewer than {least} variables")
    return names, demand_one_text(at, node)


def _listed(names: list[str]) -> str:
    return ", ".join(names)


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def outlined_function(node: cst.BinaryOperation | cst.Call, at: Place):
    """An expression is moved into a function at module level."""
    names, text = _taken(node, at)
    name = at.new_name("part")
    yield f"{name}({_listed(names)})", at.define(f"def {name}({_listed(names)}):\n    return {text}")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def outlined_nested_function(node: cst.BinaryOperation | cst.Call, at: Place):
    """An expression is moved into a function that is defined where it is used, and is given its variables."""
    names, text = _taken(node, at)
    name = at.new_name("part")
    yield f"{name}({_listed(names)})", at.ahead(f"def {name}({_listed(names)}):\n    return {text}")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def outlined_closure(node: cst.BinaryOperation | cst.Call, at: Place):
    """An expression is moved into a nested function that reads its variables from the function around."""
    _, text = _taken(node, at)
    demand_same_scope(at)
    name = at.new_name("part")
    yield f"{name}()", at.ahead(f"def {name}():\n    return {text}")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def lambda_called_at_once(node: cst.BinaryOperation | cst.Call, at: Place):
    """An expression becomes the body of a lambda that is called where it stands."""
    names, text = _taken(node, at)
    yield f"(lambda {_listed(names)}: {text})({_listed(names)})"


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def lambda_with_defaults(node: cst.BinaryOperation | cst.Call, at: Place):
    """The variables of a lambda that is called at once are the defaults of its parameters."""
    names, text = _taken(node, at)
    yield f"(lambda {_listed([f'{n}={n}' for n in names])}: {text})()"


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def closure_factory(node: cst.BinaryOperation | cst.Call, at: Place):
    """A function that is given one variable returns the function that is given the others."""
    (first, *rest), text = _taken(node, at, least=2)
    name, inner = at.new_name("make"), at.new_name("step")
    yield (
        f"{name}({first})({_listed(rest)})",
        at.define(
            f"def {name}({first}):\n    def {inner}({_listed(rest)}):\n        return {text}\n\n    return {inner}"
        ),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def stored_through_nonlocal(statement: cst.Assign | cst.Return, at: Place):
    """A nested function stores the value into a variable of the function around it."""
    node = statement.value
    if not isinstance(node, (cst.BinaryOperation, cst.Call)):
        skip("the value is neither an operation nor a call")
    at.tensors(node)
    demand_ordinary(at)
    given(at, node)
    text = demand_one_text(at, node)
    name, value = at.new_name("step"), at.new_name("result")
    yield (
        at.replace(node, value),
        at.ahead(f"{value} = None\n\ndef {name}():\n    nonlocal {value}\n    {value} = {text}\n\n{name}()"),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def decorated_function(node: cst.BinaryOperation | cst.Call, at: Place):
    """The function that computes an expression passes through a decorator that adds nothing."""
    names, text = _taken(node, at)
    name, decorator, wrapper = at.new_name("part"), at.new_name("plain"), at.new_name("wrapper")
    wraps = at.path("functools.wraps")
    yield (
        f"{name}({_listed(names)})",
        at.define(
            f"def {decorator}(function):\n    @{wraps}(function)\n    def {wrapper}(*args, **kwargs):\n"
            f"        return function(*args, **kwargs)\n\n    return {wrapper}\n\n\n"
            f"@{decorator}\ndef {name}({_listed(names)}):\n    return {text}"
        ),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def variadic_function(node: cst.BinaryOperation | cst.Call, at: Place):
    """A function takes its arguments as ``*args`` and unpacks them."""
    names, text = _taken(node, at)
    name, args = at.new_name("part"), at.new_name("args")
    yield (
        f"{name}({_listed(names)})",
        at.define(f"def {name}(*{args}):\n    ({_listed(names)},) = {args}\n    return {text}"),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def keyword_function(node: cst.BinaryOperation | cst.Call, at: Place):
    """A function takes its arguments as ``**kwargs`` and looks them up."""
    names, text = _taken(node, at)
    name, kwargs = at.new_name("part"), at.new_name("kwargs")
    passed = _listed([f"{n}={n}" for n in names])
    looked_up = "".join(f'    {n} = {kwargs}["{n}"]\n' for n in names)
    yield f"{name}({passed})", at.define(f"def {name}(**{kwargs}):\n{looked_up}    return {text}")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def mutable_default(node: cst.BinaryOperation | cst.Call, at: Place):
    """A nested function counts its calls in a list that is the default of a parameter."""
    names, text = _taken(node, at)
    name, seen = at.new_name("part"), at.new_name("seen")
    yield (
        f"{name}({_listed(names)})",
        at.ahead(f"def {name}({_listed(names)}, {seen}=[0]):\n    {seen}[0] += 1\n    return {text}"),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def method_of_a_class(node: cst.BinaryOperation | cst.Call, at: Place):
    """An object holds the first variable and has a method that is given the others."""
    (first, *rest), text = _taken(node, at, least=2)
    name, own, method = at.new_name("Part"), at.new_name("own"), at.new_name("compute")
    yield (
        f"{name}({first}).{method}({_listed(rest)})",
        at.define(
            f"class {name}:\n    def __init__({own}, {first}):\n        {own}.held = {first}\n\n"
            f"    def {method}({own}, {_listed(rest)}):\n        {first} = {own}.held\n        return {text}"
        ),
    )


@rule(exact="bitwise", where=REAL, breaks_graph=True, example=EXAMPLES)
def local_class(node: cst.BinaryOperation | cst.Call, at: Place):
    """A class that is defined where it is used has a static method that computes the expression."""
    names, text = _taken(node, at)
    demand_unbroken(at)
    name, method = at.new_name("Part"), at.new_name("compute")
    yield (
        f"{name}.{method}({_listed(names)})",
        at.ahead(f"class {name}:\n    @staticmethod\n    def {method}({_listed(names)}):\n        return {text}"),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def class_method(node: cst.BinaryOperation | cst.Call, at: Place):
    """A class method computes the expression and is called on the class or on an object."""
    names, text = _taken(node, at)
    name, own, method = at.new_name("Part"), at.new_name("own"), at.new_name("compute")
    definition = f"class {name}:\n    @classmethod\n    def {method}({_listed([own, *names])}):\n        return {text}"
    yield f"{name}.{method}({_listed(names)})", at.define(definition)
    yield f"{name}().{method}({_listed(names)})", at.define(definition)


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def callable_object(node: cst.BinaryOperation | cst.Call, at: Place):
    """An object with ``__call__``, made once at module level, computes the expression."""
    names, text = _taken(node, at)
    kind, name, own = at.new_name("Part"), at.new_name("part"), at.new_name("own")
    yield (
        f"{name}({_listed(names)})",
        at.define(
            f"class {kind}:\n    def __call__({_listed([own, *names])}):\n        return {text}\n\n\n{name} = {kind}()"
        ),
    )


def _module(names: list[str], text: str, at: Place) -> tuple[str, str]:
    """The name and definition of a module class without parameters that computes ``text``."""
    if {"register_module_forward_hook", "register_module_forward_pre_hook"} & (at.syntax.names | at.syntax.attributes):
        skip("a hook may see every module that is called")
    kind, own = at.new_name("Part"), at.new_name("own")
    forward = f"    def forward({_listed([own, *names])}):\n        return {text}"
    return kind, f"class {kind}({at.path('torch.nn.Module')}):\n{forward}"


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def module_made_before(node: cst.BinaryOperation | cst.Call, at: Place):
    """A module without parameters, made once at module level, computes the expression."""
    names, text = _taken(node, at)
    kind, definition = _module(names, text, at)
    name = at.new_name("part")
    yield f"{name}({_listed(names)})", at.define(f"{definition}\n\n\n{name} = {kind}()")


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def module_made_in_place(node: cst.BinaryOperation | cst.Call, at: Place):
    """A module without parameters is made and called where the expression stood."""
    names, text = _taken(node, at)
    kind, definition = _module(names, text, at)
    yield f"{kind}()({_listed(names)})", at.define(definition)


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def first_of_a_generator(node: cst.BinaryOperation | cst.Call, at: Place):
    """A generator function yields the expression, and its first item is taken."""
    names, text = _taken(node, at)
    demand_calm(at, node)  # a StopIteration would come out as another exception
    name = at.new_name("parts")
    definition = at.define(f"def {name}({_listed(names)}):\n    yield {text}")
    yield f"{at.builtin('next')}({name}({_listed(names)}))", definition
    yield f"{at.builtin('list')}({name}({_listed(names)}))[0]", definition


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def delegated_generator(node: cst.BinaryOperation | cst.Call, at: Place):
    """A generator function yields from another, and what it yields is unpacked."""
    names, text = _taken(node, at)
    demand_calm(at, node)
    demand_first(at, node)
    name, outer, value = at.new_name("parts"), at.new_name("all_parts"), at.new_name("value")
    yield (
        value,
        at.ahead(f"({value},) = {outer}({_listed(names)})"),
        at.define(
            f"def {name}({_listed(names)}):\n    yield {text}\n\n\n"
            f"def {outer}({_listed(names)}):\n    yield from {name}({_listed(names)})"
        ),
    )


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def passed_through_identity(node: cst.BinaryOperation | cst.Call, at: Place):
    """A value passes through a function that returns its argument."""
    at.tensors(node)
    demand_ordinary(at)
    text = demand_one_text(at, node)
    name = at.new_name("same")
    yield f"{name}({text})", at.define(f"def {name}(value):\n    return value")
    yield f"(lambda value: value)({text})"


@rule(exact="bitwise", where=REAL, example=EXAMPLES)
def computed_by_finally(node: cst.BinaryOperation | cst.Call, at: Place):
    """A function returns the value from a ``try`` whose ``finally`` counts."""
    names, text = _taken(node, at)
    name, left = at.new_name("part"), at.new_name("left")
    yield (
        f"{name}({_listed(names)})",
        at.define(
            f"def {name}({_listed(names)}):\n    {left} = 1\n    try:\n        return {text}\n"
            f"    finally:\n        {left} -= 1"
        ),
    )
