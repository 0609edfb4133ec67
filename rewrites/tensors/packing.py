"""Operands that pass through containers and objects on their way to an operation."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import (
    require_first,
    require_one_text,
    require_ordinary,
    require_same_scope,
    require_unbroken,
    walk,
)
from eqfuzz.rewrite.facts.preconditions import real, wide
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip
from eqfuzz.rewrite.source.python_operators import BINARY, dunder

REAL = [real("x", "y"), wide("x", "y")]
SUM = """
def program(x, y):
    return torch.sin(x) - y
"""

METHODS = {kind: dunder(name) for kind, (name, _) in BINARY.items()}


def operand_texts(node: cst.BinaryOperation, ctx: RewriteContext) -> tuple[str, str, str]:
    """Left operand, operator and right operand as text; both may be evaluated here, one after the other."""
    ctx.tensors(node)
    require_ordinary(ctx)
    if any(isinstance(n, (cst.NamedExpr, cst.Yield, cst.Await)) for n in walk(node)):
        skip("it binds a name or awaits")
    return operand_text(ctx, node.left), operator_text(node), operand_text(ctx, node.right)


def hoistable_operands(node: cst.BinaryOperation, ctx: RewriteContext) -> tuple[str, str, str]:
    """The same where both operands may be evaluated in statements before the one here."""
    parts = operand_texts(node, ctx)
    require_same_scope(ctx)
    require_first(ctx, node)
    return parts


def operand_text(ctx: RewriteContext, operand: cst.BaseExpression) -> str:
    text = require_one_text(ctx, operand)
    bare = isinstance(operand, (cst.Name, cst.Call, cst.Attribute, cst.Subscript, cst.Integer, cst.Float))
    return text if bare or (text.startswith("(") and operand.lpar) else f"({text})"


def operator_text(node: cst.BinaryOperation) -> str:
    return cst.Module([]).code_for_node(node.operator).strip()


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_tuple(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are packed in a tuple or list and taken out by index."""
    left, sign, right = hoistable_operands(node, ctx)
    name = ctx.new_name("pair")
    yield f"{name}[0] {sign} {name}[1]", ctx.ahead(f"{name} = ({left}, {right})")
    yield f"{name}[-2] {sign} {name}[-1]", ctx.ahead(f"{name} = [{left}, {right}]")


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_unpacked_tuple(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are packed and unpacked at once."""
    left, sign, right = hoistable_operands(node, ctx)
    a, b = ctx.new_name("a"), ctx.new_name("b")
    yield f"{a} {sign} {b}", ctx.ahead(f"{a}, {b} = {left}, {right}")
    yield f"{a} {sign} {b}", ctx.ahead(f"[{a}, ({b},)] = [{left}, ({right},)]")


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_starred_target(node: cst.BinaryOperation, ctx: RewriteContext):
    """A starred target takes one of the operands."""
    left, sign, right = hoistable_operands(node, ctx)
    a, b = ctx.new_name("a"), ctx.new_name("rest")
    yield f"{a} {sign} {b}[0]", ctx.ahead(f"{a}, *{b} = ({left}, {right})")
    yield f"{b}[0] {sign} {a}", ctx.ahead(f"*{b}, {a} = ({left}, {right})")


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_swapped_variables(node: cst.BinaryOperation, ctx: RewriteContext):
    """Two variables are bound and then swapped twice."""
    left, sign, right = hoistable_operands(node, ctx)
    a, b = ctx.new_name("a"), ctx.new_name("b")
    yield f"{b} {sign} {a}", ctx.ahead(f"{a}, {b} = {left}, {right}\n{a}, {b} = {b}, {a}")


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_dict(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are values of a dict."""
    left, sign, right = hoistable_operands(node, ctx)
    name = ctx.new_name("given")
    taken = f'{name}["a"] {sign} {name}["b"]'
    yield taken, ctx.ahead(f'{name} = {{"a": {left}, "b": {right}}}')
    yield taken, ctx.ahead(f'{name} = {{**{{"a": {left}}}, "b": {right}}}')
    yield f'{name}.get("a") {sign} {name}.pop("b")', ctx.ahead(f"{name} = {ctx.builtin('dict')}(a={left}, b={right})")


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_dict_comprehension(node: cst.BinaryOperation, ctx: RewriteContext):
    """A dict of both operands is made by a comprehension over pairs."""
    left, sign, right = hoistable_operands(node, ctx)
    name, key, value = ctx.new_name("given"), ctx.new_name("key"), ctx.new_name("value")
    pairs = f'(("a", {left}), ("b", {right}))'
    yield (
        f'{name}["a"] {sign} {name}["b"]',
        ctx.ahead(f"{name} = {{{key}: {value} for {key}, {value} in {pairs}}}"),
    )


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_sorted_dict(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are taken from a dict in the order of its sorted keys."""
    left, sign, right = hoistable_operands(node, ctx)
    name, key, a, b = ctx.new_name("given"), ctx.new_name("key"), ctx.new_name("a"), ctx.new_name("b")
    ordered = f"{ctx.builtin('sorted')}({name}, reverse=True)"
    yield (
        f"{a} {sign} {b}",
        ctx.ahead(f'{name} = {{"p": {left}, "a": {right}}}\n{a}, {b} = ({name}[{key}] for {key} in {ordered})'),
    )


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_dataclass(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are fields of a dataclass."""
    left, sign, right = hoistable_operands(node, ctx)
    kind, name = ctx.new_name("Pair"), ctx.new_name("pair")
    decorator = ctx.path("dataclasses.dataclass")
    for options in ("", "(frozen=True)"):
        yield (
            f"{name}.a {sign} {name}.b",
            ctx.ahead(f"{name} = {kind}({left}, {right})"),
            ctx.define(f"@{decorator}{options}\nclass {kind}:\n    a: object\n    b: object"),
        )


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_named_tuple(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are fields of a named tuple, read by name and by index."""
    left, sign, right = hoistable_operands(node, ctx)
    kind, name = ctx.new_name("Pair"), ctx.new_name("pair")
    yield (
        f"{name}.a {sign} {name}[1]",
        ctx.ahead(f"{name} = {kind}({left}, b={right})"),
        ctx.define(f'{kind} = {ctx.path("collections.namedtuple")}("{kind}", ["a", "b"])'),
    )
    yield (
        f"{name}.a {sign} {name}.b",
        ctx.ahead(f"{name} = {kind}({left}, {right})"),
        ctx.define(f"class {kind}({ctx.path('typing.NamedTuple')}):\n    a: object\n    b: object"),
    )


@rule(exact="bitwise", where=REAL, breaks_graph=True, example=SUM)
def operands_to_namespace(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are attributes of a namespace."""
    require_unbroken(ctx)
    left, sign, right = hoistable_operands(node, ctx)
    name = ctx.new_name("pair")
    definition = f"{name} = {ctx.path('types.SimpleNamespace')}(a={left}, b={right})"
    yield f"{name}.a {sign} {name}.b", ctx.ahead(definition)


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_attributes(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are set as attributes of an object, by statement and by ``setattr``."""
    left, sign, right = hoistable_operands(node, ctx)
    kind, name = ctx.new_name("Pair"), ctx.new_name("pair")
    definition = f"class {kind}:\n    pass"
    yield (
        f"{name}.a {sign} {name}.b",
        ctx.ahead(f"{name} = {kind}()\n{name}.a = {left}\n{name}.b = {right}"),
        ctx.define(definition),
    )
    put = ctx.builtin("setattr")
    yield (
        f'{ctx.builtin("getattr")}({name}, "a") {sign} {name}.b',
        ctx.ahead(f'{name} = {kind}()\n{put}({name}, "a", {left})\n{put}({name}, "b", {right})'),
        ctx.define(definition),
    )


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_slots(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are held in the slots of an object."""
    left, sign, right = hoistable_operands(node, ctx)
    kind, name = ctx.new_name("Pair"), ctx.new_name("pair")
    yield (
        f"{name}.a {sign} {name}.b",
        ctx.ahead(f"{name} = {kind}({left}, {right})"),
        ctx.define(
            f'class {kind}:\n    __slots__ = ("a", "b")\n\n    def __init__(self, a, b):\n'
            f"        self.a = a\n        self.b = b"
        ),
    )


@rule(exact="bitwise", where=REAL, example=SUM)
def operation_to_property(node: cst.BinaryOperation, ctx: RewriteContext):
    """An object holds both operands and computes the result as a property."""
    left, sign, right = operand_texts(node, ctx)
    kind = ctx.new_name("Pair")
    yield (
        f"{kind}({left}, {right}).result",
        ctx.define(
            f"class {kind}:\n    def __init__(self, a, b):\n        self.a = a\n        self.b = b\n\n"
            f"    @property\n    def result(self):\n        return self.a {sign} self.b"
        ),
    )


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_wrapper_objects(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are wrapped in objects whose operator method computes the result."""
    left, sign, right = operand_texts(node, ctx)
    method = METHODS.get(type(node.operator)) or skip("the operator has no method of its own")
    kind = ctx.new_name("Wrapped")
    yield (
        f"{kind}({left}) {sign} {kind}({right})",
        ctx.define(
            f"class {kind}:\n    def __init__(self, value):\n        self.value = value\n\n"
            f"    def {method}(self, other):\n        return self.value {sign} other.value"
        ),
    )


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_deque(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are taken from the ends of a deque."""
    left, sign, right = hoistable_operands(node, ctx)
    name = ctx.new_name("queue")
    definition = f"{name} = {ctx.path('collections.deque')}([{left}, {right}])"
    yield f"{name}.popleft() {sign} {name}.pop()", ctx.ahead(definition)


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_popped_list(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are appended to a list and popped from its front."""
    left, sign, right = hoistable_operands(node, ctx)
    name = ctx.new_name("items")
    filled = f"{name} = []\n{name}.append({left})\n{name}.append({right})"
    yield f"{name}.pop(0) {sign} {name}.pop()", ctx.ahead(filled)
    yield f"{name}[0] {sign} {name}[1]", ctx.ahead(f"{name} = []\n{name} += [{left}]\n{name}.extend(({right},))")


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_iterator(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands come out of one iterator."""
    left, sign, right = hoistable_operands(node, ctx)
    name, take = ctx.new_name("items"), ctx.builtin("next")
    yield f"{take}({name}) {sign} {take}({name})", ctx.ahead(f"{name} = {ctx.builtin('iter')}(({left}, {right}))")


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_reversed_pair(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are taken from a pair in reverse."""
    left, sign, right = hoistable_operands(node, ctx)
    a, b = ctx.new_name("a"), ctx.new_name("b")
    yield f"{a} {sign} {b}", ctx.ahead(f"{b}, {a} = {ctx.builtin('reversed')}([{left}, {right}])")
    yield f"{a} {sign} {b}", ctx.ahead(f"{b}, {a} = ({left}, {right})[::-1]")


@rule(exact="bitwise", where=REAL, example=SUM)
def operation_to_reduce(node: cst.BinaryOperation, ctx: RewriteContext):
    """A list of both operands is reduced by a lambda or by a function of module ``operator``."""
    left, sign, right = operand_texts(node, ctx)
    reduce = ctx.path("functools.reduce")
    yield f"{reduce}(lambda a, b: a {sign} b, [{left}, {right}])"
    method = METHODS.get(type(node.operator))
    if method is not None:
        yield f"{reduce}({ctx.path('operator.' + method)}, ({left}, {right}))"


@rule(exact="bitwise", where=REAL, example=SUM)
def operation_to_map(node: cst.BinaryOperation, ctx: RewriteContext):
    """Lists of one operand each are zipped, or a function is mapped over them."""
    left, sign, right = operand_texts(node, ctx)
    yield f"[a {sign} b for a, b in {ctx.builtin('zip')}([{left}], [{right}])][0]"
    yield f"{ctx.builtin('list')}({ctx.builtin('map')}(lambda a, b: a {sign} b, [{left}], ({right},)))[0]"


@rule(exact="bitwise", where=REAL, example=SUM)
def operands_to_chained_iterables(node: cst.BinaryOperation, ctx: RewriteContext):
    """Both operands are the items of two iterables that are chained."""
    left, sign, right = hoistable_operands(node, ctx)
    a, b = ctx.new_name("a"), ctx.new_name("b")
    chain = ctx.path("itertools.chain")
    yield f"{a} {sign} {b}", ctx.ahead(f"{a}, {b} = {chain}([{left}], ({right},))")
    yield (
        f"{a} {sign} {b}",
        ctx.ahead(f"{a}, {b} = {ctx.builtin('list')}({chain}.from_iterable([[{left}], [{right}]]))"),
    )
