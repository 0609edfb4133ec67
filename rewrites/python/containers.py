"""Containers of modules taken apart or made, and other ways to call a module."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.submodule import arguments, called, submodule
from eqfuzz.rewrite.facts.composite_preconditions import float32_rows
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import indented, skip
from eqfuzz.rewrite.source.evaluation_order import held_back
from eqfuzz.rewrite.source.syntax import dotted

SEQUENTIAL = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))

    def forward(self, x):
        y = self.net(x * 2)
        return y + 1
"""
LIST = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
LINEAR = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x) + 1
"""
COUNTED = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(x.reshape(-1, 4)), self.norm.running_mean.clone(), self.norm.num_batches_tracked + 0
"""
WITHOUT_PARAMETERS = frozenset(
    f"torch.nn.{name}"
    for name in """Identity ReLU ReLU6 GELU SiLU ELU SELU Mish Tanh Sigmoid Softplus Softsign LeakyReLU Hardtanh
    Hardswish LogSigmoid Softmax LogSoftmax Flatten MaxPool1d MaxPool2d AvgPool1d AvgPool2d""".split()
)

STATEFUL = ("RNN", "LSTM", "GRU", "MultiheadAttention", "TransformerEncoder", "TransformerEncoderLayer")
"""Modules that look at their own parameters in more ways than reading them."""


def length_of_sequential(call: cst.Call, ctx: RewriteContext) -> int:
    """How many modules the Sequential called has; 0 when another thing is called."""
    module = called(call, ctx, ["Sequential"])
    if module is None or module.length is None:
        return 0
    if len(call.args) != 1:
        skip("the Sequential is not called with one argument")
    return module.length


@rule(exact="bitwise", where=float32_rows("x"), example=SEQUENTIAL)
def sequential_by_loop(call: cst.Call, ctx: RewriteContext):
    """A Sequential is a loop over its modules."""
    if not length_of_sequential(call, ctx):
        return
    reason = held_back(call, ctx.statement.node)
    if reason is not None:
        skip(reason)
    value, layer = ctx.new_name("t"), ctx.new_name("layer")
    loop = f"for {layer} in {ctx.text(call.func)}:\n    {value} = {layer}({value})"
    yield value, ctx.ahead(f"{value} = {assignment_of_argument(call, ctx)}\n{loop}")


def assignment_of_argument(call: cst.Call, ctx: RewriteContext) -> str:
    """The one argument, as the right-hand side of an assignment."""
    text = arguments(call, ctx)
    return f"({text})" if "\n" in text else text


@rule(exact="bitwise", where=float32_rows("x"), example=SEQUENTIAL)
def sequential_by_reduce(call: cst.Call, ctx: RewriteContext):
    """A Sequential is a fold over its modules."""
    if length_of_sequential(call, ctx):
        value, layer = ctx.new_name("t"), ctx.new_name("layer")
        fold = f"lambda {value}, {layer}: {layer}({value})"
        yield f"{ctx.path('functools.reduce')}({fold}, {ctx.text(call.func)}, {arguments(call, ctx)})"


@rule(exact="bitwise", where=float32_rows("x"), example=SEQUENTIAL)
def sequential_child_by_child(call: cst.Call, ctx: RewriteContext):
    """The modules of a Sequential called one inside the other, from the front and from the back."""
    length = length_of_sequential(call, ctx)
    if length:
        m = ctx.text(call.func)
        for numbers in (range(length), range(-length, 0)):
            text = arguments(call, ctx)
            for number in numbers:
                text = f"{m}[{number}]({text})"
            yield text


@rule(exact="bitwise", where=float32_rows("x"), example=SEQUENTIAL)
def sequential_in_two(call: cst.Call, ctx: RewriteContext):
    """A Sequential split into two, and with its first or its last module called by itself."""
    length, m = length_of_sequential(call, ctx), ctx.text(call.func)
    if not length:
        return
    if length < 2:
        skip("the Sequential has one module")
    x = arguments(call, ctx)
    yield f"{m}[1:]({m}[0]({x}))"
    yield f"{m}[-1]({m}[:-1]({x}))"
    if length > 3:
        yield f"{m}[{length // 2}:]({m}[:{length // 2}]({x}))"


@rule(exact="bitwise", where=float32_rows("x"), example=SEQUENTIAL)
def sequential_made_anew(call: cst.Call, ctx: RewriteContext):
    """A Sequential made of the modules of another; ``children()`` would leave out what occurs twice."""
    if length_of_sequential(call, ctx):
        yield f"{ctx.path('torch.nn.Sequential')}(*{ctx.text(call.func)})({arguments(call, ctx)})"


@rule(
    exact="bitwise",
    where=float32_rows("x"),
    example="""
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(4, 3)

        def forward(self, x):
            return torch.nn.Sequential(self.fc, torch.nn.ReLU(), torch.nn.Softplus(2.0))(x)
    """,
)
def sequential_on_the_spot(call: cst.Call, ctx: RewriteContext):
    """A Sequential made where it is called is its modules called one inside the other."""
    if not isinstance(call.func, cst.Call) or ctx.resolved(call.func.func) != "torch.nn.Sequential":
        return
    modules = call.func.args
    if not modules or any(m.star or m.keyword is not None for m in modules) or len(call.args) != 1:
        skip("the modules or the operand are not passed as separate arguments")
    for module in modules:
        drawn = isinstance(module.value, cst.Call) and (ctx.resolved(module.value.func) or "") not in WITHOUT_PARAMETERS
        if drawn or not isinstance(module.value, (cst.Name, cst.Attribute, cst.Call)):
            skip("constructing a module may draw parameters, which would be drawn in another order")
        for argument in module.value.args if isinstance(module.value, cst.Call) else ():
            ctx.require_pure(argument.value)
    text = arguments(call, ctx)
    for module in modules:
        text = f"{ctx.text(module.value)}({text})"
    yield text


@rule(exact="bitwise", where=float32_rows("x"), example=LINEAR)
def called_in_a_sequential(call: cst.Call, ctx: RewriteContext):
    """A module called as the one of a Sequential, and with an Identity behind it."""
    if called(call, ctx, ()) is not None and len(call.args) == 1:
        path, m, x = ctx.path("torch.nn.Sequential"), ctx.text(call.func), arguments(call, ctx)
        yield f"{path}({m})({x})"
        yield f"{path}({m}, {ctx.path('torch.nn.Identity')}())({x})"


@rule(exact="bitwise", where=float32_rows("x"), example=LINEAR)
def called_from_a_list(call: cst.Call, ctx: RewriteContext):
    """A module called as the only item of a ModuleList."""
    if called(call, ctx, ()) is not None:
        yield f"{ctx.path('torch.nn.ModuleList')}([{ctx.text(call.func)}])[0]({arguments(call, ctx)})"


@rule(exact="bitwise", where=float32_rows("x"), example=LINEAR)
def called_by_its_forward(call: cst.Call, ctx: RewriteContext):
    """A module without hooks is its ``forward``, bound or of its class."""
    if called(call, ctx, ()) is not None:
        m, x = ctx.text(call.func), arguments(call, ctx)
        yield f"{m}.forward({x})"
        yield f"{ctx.builtin('type')}({m}).forward({m}, {x})"


@rule(exact="bitwise", where=float32_rows("x"), example=LINEAR)
def called_by_name(call: cst.Call, ctx: RewriteContext):
    """A submodule found by its name."""
    if called(call, ctx, ()) is None:
        return
    path, x = dotted(call.func) or "", arguments(call, ctx)
    owner, _, name = path.rpartition(".")
    if name.startswith("__"):
        skip("the name is private to the class")
    yield f"{ctx.builtin('getattr')}({owner}, {name!r})({x})"


@rule(exact="bitwise", where=float32_rows("x"), example=[LINEAR, COUNTED])
def functional_call(call: cst.Call, ctx: RewriteContext):
    """A module called with its own parameters and buffers given."""
    module = called(call, ctx, ())
    if module is None:
        return
    if module.kind in STATEFUL or module.length is not None:
        skip(f"{module.kind} may hold other parameters")
    m, passed, as_dict = ctx.text(call.func), arguments(call, ctx), ctx.builtin("dict")
    parameters = f"{{**{as_dict}({m}.named_parameters()), **{as_dict}({m}.named_buffers())}}"
    yield f"{ctx.path('torch.func.functional_call')}({m}, {parameters}, ({passed},))"


def modules_iterated(loop: cst.For, ctx: RewriteContext) -> int:
    """The number of modules that a loop goes over, from a ModuleList or Sequential that stays the same."""
    container = submodule(loop.iter, ctx, ["ModuleList", "Sequential"])
    if container is None or container.length is None:
        return 0
    if not isinstance(loop.target, cst.Name):
        skip("a module is not stored in one name")
    if loop.asynchronous is not None:
        skip("the loop is asynchronous")
    return container.length


@rule(exact="bitwise", where=float32_rows("x"), example=LIST)
def modules_by_index(loop: cst.For, ctx: RewriteContext):
    """A loop over modules as a loop over their numbers."""
    if modules_iterated(loop, ctx):
        number, m = ctx.new_name("i"), ctx.text(loop.iter)
        count, through = ctx.builtin("len"), ctx.builtin("range")
        body = f"{ctx.text(loop.target)} = {m}[{number}]\n{ctx.block(loop.body)}"
        yield f"for {number} in {through}({count}({m})):\n{indented(body)}{else_clause(loop, ctx)}"


@rule(exact="bitwise", where=float32_rows("x"), example=LIST)
def modules_numbered(loop: cst.For, ctx: RewriteContext):
    """A loop over modules as one over a list of them, or over modules with their numbers."""
    if not modules_iterated(loop, ctx):
        return
    m, name, rest = ctx.text(loop.iter), ctx.text(loop.target), indented(ctx.block(loop.body)) + else_clause(loop, ctx)
    number = ctx.new_name("i")
    yield f"for {name} in {ctx.builtin('list')}({m}):\n{rest}"
    yield f"for {number}, {name} in {ctx.builtin('enumerate')}({m}):\n{rest}"
    numbers = f"{ctx.builtin('range')}({ctx.builtin('len')}({m}))"
    yield f"for {number}, {name} in {ctx.builtin('zip')}({numbers}, {m}):\n{rest}"


@rule(exact="bitwise", where=float32_rows("x"), example=LIST)
def modules_unrolled(loop: cst.For, ctx: RewriteContext):
    """A loop over modules iteration by iteration."""
    length = modules_iterated(loop, ctx)
    if not length:
        return
    if loop.orelse is not None or leaves_early(loop.body):
        skip("the loop may end before its last iteration")
    if length > 12:
        skip("the loop has too many iterations")
    m, name, body = ctx.text(loop.iter), ctx.text(loop.target), ctx.block(loop.body)
    yield "\n".join(f"{name} = {m}[{number}]\n{body}" for number in range(length))


def else_clause(loop: cst.For, ctx: RewriteContext) -> str:
    """The ``else`` of a loop."""
    return "" if loop.orelse is None else f"\nelse:\n{indented(ctx.block(loop.orelse.body))}"


def leaves_early(node: cst.CSTNode) -> bool:
    """Whether a ``break`` or ``continue`` of the loop that has this body may run."""
    if isinstance(node, (cst.Break, cst.Continue)):
        return True
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
        return False
    if isinstance(node, (cst.For, cst.While)):
        return node.orelse is not None and leaves_early(node.orelse)
    return any(leaves_early(child) for child in node.children)


PLAIN = frozenset("Identity ReLU Tanh Sigmoid GELU SiLU Softplus Softsign Mish".split())
"""Modules without parameters: making one draws no random numbers, so that it does not matter when it is made."""

NESTED = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 5)
        self.out = torch.nn.Linear(5, 3)

    def forward(self, x):
        return self.out(self.fc(x * 2)) + 1
"""


def is_plain(expression: cst.BaseExpression, ctx: RewriteContext) -> bool:
    """Whether a module without parameters is made here, with its defaults."""
    if not isinstance(expression, cst.Call) or expression.args:
        return False
    package, _, name = (ctx.resolved(expression.func) or "").rpartition(".")
    return package == "torch.nn" and name in PLAIN


def is_stable_submodule(expression: cst.BaseExpression, ctx: RewriteContext) -> bool:
    """Whether it is a submodule of the program that stays the same."""
    call = cst.Call(expression)
    return called(call, ctx, ()) is not None


def one_argument(call: cst.Call) -> cst.BaseExpression:
    """The only argument of a call. Raises Skip."""
    if len(call.args) != 1 or call.args[0].star or call.args[0].keyword is not None:
        skip("not called with one argument")
    return call.args[0].value


@rule(exact="bitwise", where=float32_rows("x"), example=NESTED)
def calls_in_a_sequential(call: cst.Call, ctx: RewriteContext):
    """Two modules called one inside the other are a Sequential that is made there."""
    inner = one_argument(call)
    if not isinstance(inner, cst.Call) or not (is_plain(call.func, ctx) or is_stable_submodule(call.func, ctx)):
        return
    if not (is_plain(inner.func, ctx) or is_stable_submodule(inner.func, ctx)):
        return
    argument = ctx.text(one_argument(inner))
    yield f"{ctx.path('torch.nn.Sequential')}({ctx.text(inner.func)}, {ctx.text(call.func)})({argument})"
