"""M: containers of modules taken apart, and other ways to call a module."""

import libcst as cst
import torch

from eqfuzz.rewrite.context.context import Place
from eqfuzz.rewrite.context.submodule import arguments, called, submodule
from eqfuzz.rewrite.facts.preconditions import dtype_in
from eqfuzz.rewrite.facts.shape_preconditions import sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import indented, skip
from eqfuzz.rewrite.source.evaluation_order import held_back
from eqfuzz.rewrite.source.syntax import dotted

ROWS = [dtype_in("x", torch.float32), sizes(x="* 4")]

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


def sequence(call: cst.Call, at: Place) -> int:
    """How many modules the Sequential called has; 0 when another thing is called."""
    module = called(call, at, ["Sequential"])
    if module is None or module.length is None:
        return 0
    if len(call.args) != 1:
        skip("the Sequential is not called with one argument")
    return module.length


@rule(exact="bitwise", where=ROWS, example=SEQUENTIAL)
def sequential_by_loop(call: cst.Call, at: Place):
    """A Sequential is a loop over its modules."""
    if not sequence(call, at):
        return
    reason = held_back(call, at.statement.node)
    if reason is not None:
        skip(reason)
    value, layer = at.new_name("t"), at.new_name("layer")
    loop = f"for {layer} in {at.text(call.func)}:\n    {value} = {layer}({value})"
    yield value, at.ahead(f"{value} = {assigned(call, at)}\n{loop}")


def assigned(call: cst.Call, at: Place) -> str:
    """The one argument, as the right-hand side of an assignment."""
    text = arguments(call, at)
    return f"({text})" if "\n" in text else text


@rule(exact="bitwise", where=ROWS, example=SEQUENTIAL)
def sequential_by_reduce(call: cst.Call, at: Place):
    """A Sequential is a fold over its modules."""
    if sequence(call, at):
        value, layer = at.new_name("t"), at.new_name("layer")
        fold = f"lambda {value}, {layer}: {layer}({value})"
        yield f"{at.path('functools.reduce')}({fold}, {at.text(call.func)}, {arguments(call, at)})"


@rule(exact="bitwise", where=ROWS, example=SEQUENTIAL)
def sequential_child_by_child(call: cst.Call, at: Place):
    """The modules of a Sequential called one inside the other, from the front and from the back."""
    length = sequence(call, at)
    if length:
        m = at.text(call.func)
        for numbers in (range(length), range(-length, 0)):
            text = arguments(call, at)
            for number in numbers:
                text = f"{m}[{number}]({text})"
            yield text


@rule(exact="bitwise", where=ROWS, example=SEQUENTIAL)
def sequential_in_two(call: cst.Call, at: Place):
    """A Sequential split into two, and with its first or its last module called by itself."""
    length, m = sequence(call, at), at.text(call.func)
    if not length:
        return
    if length < 2:
        skip("the Sequential has one module")
    x = arguments(call, at)
    yield f"{m}[1:]({m}[0]({x}))"
    yield f"{m}[-1]({m}[:-1]({x}))"
    if length > 3:
        yield f"{m}[{length // 2}:]({m}[:{length // 2}]({x}))"


@rule(exact="bitwise", where=ROWS, example=SEQUENTIAL)
def sequential_made_anew(call: cst.Call, at: Place):
    """A Sequential made of the modules of another; ``children()`` would leave out what occurs twice."""
    if sequence(call, at):
        yield f"{at.path('torch.nn.Sequential')}(*{at.text(call.func)})({arguments(call, at)})"


@rule(
    exact="bitwise",
    where=ROWS,
    example="""
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(4, 3)

        def forward(self, x):
            return torch.nn.Sequential(self.fc, torch.nn.ReLU(), torch.nn.Softplus(2.0))(x)
    """,
)
def sequential_on_the_spot(call: cst.Call, at: Place):
    """A Sequential made where it is called is its modules called one inside the other."""
    if not isinstance(call.func, cst.Call) or at.resolved(call.func.func) != "torch.nn.Sequential":
        return
    modules = call.func.args
    if not modules or any(m.star or m.keyword is not None for m in modules) or len(call.args) != 1:
        skip("its modules, or its operand, are not given one by one")
    for module in modules:
        drawn = isinstance(module.value, cst.Call) and (at.resolved(module.value.func) or "") not in WITHOUT_PARAMETERS
        if drawn or not isinstance(module.value, (cst.Name, cst.Attribute, cst.Call)):
            skip("a module that is made may draw its parameters, which would come in another order")
        for given in module.value.args if isinstance(module.value, cst.Call) else ():
            at.demand_pure(given.value)
    text = arguments(call, at)
    for module in modules:
        text = f"{at.text(module.value)}({text})"
    yield text


@rule(exact="bitwise", where=ROWS, example=LINEAR)
def called_in_a_sequential(call: cst.Call, at: Place):
    """A module called as the one of a Sequential, and with an Identity behind it."""
    if called(call, at, ()) is not None and len(call.args) == 1:
        path, m, x = at.path("torch.nn.Sequential"), at.text(call.func), arguments(call, at)
        yield f"{path}({m})({x})"
        yield f"{path}({m}, {at.path('torch.nn.Identity')}())({x})"


@rule(exact="bitwise", where=ROWS, example=LINEAR)
def called_from_a_list(call: cst.Call, at: Place):
    """A module called as the only item of a ModuleList."""
    if called(call, at, ()) is not None:
        yield f"{at.path('torch.nn.ModuleList')}([{at.text(call.func)}])[0]({arguments(call, at)})"


@rule(exact="bitwise", where=ROWS, example=LINEAR)
def called_by_its_forward(call: cst.Call, at: Place):
    """A module without hooks is its ``forward``, bound or of its class."""
    if called(call, at, ()) is not None:
        m, x = at.text(call.func), arguments(call, at)
        yield f"{m}.forward({x})"
        yield f"{at.builtin('type')}({m}).forward({m}, {x})"


@rule(exact="bitwise", where=ROWS, example=LINEAR)
def called_by_name(call: cst.Call, at: Place):
    """A submodule found by its name."""
    if called(call, at, ()) is None:
        return
    path, x = dotted(call.func) or "", arguments(call, at)
    owner, _, name = path.rpartition(".")
    if name.startswith("__"):
        skip("the name is private to the class")
    yield f"{at.builtin('getattr')}({owner}, {name!r})({x})"


@rule(exact="bitwise", where=ROWS, example=[LINEAR, COUNTED])
def functional_call(call: cst.Call, at: Place):
    """A module called with its own parameters and buffers given."""
    module = called(call, at, ())
    if module is None:
        return
    if module.kind in STATEFUL or module.length is not None:
        skip(f"{module.kind} may hold its parameters in other ways, too")
    m, given, as_dict = at.text(call.func), arguments(call, at), at.builtin("dict")
    parameters = f"{{**{as_dict}({m}.named_parameters()), **{as_dict}({m}.named_buffers())}}"
    yield f"{at.path('torch.func.functional_call')}({m}, {parameters}, ({given},))"


def modules_in_turn(loop: cst.For, at: Place) -> int:
    """The number of modules that a loop goes over, from a ModuleList or Sequential that stays the same."""
    container = submodule(loop.iter, at, ["ModuleList", "Sequential"])
    if container is None or container.length is None:
        return 0
    if not isinstance(loop.target, cst.Name):
        skip("a module is not stored in one name")
    if loop.asynchronous is not None:
        skip("the loop is asynchronous")
    return container.length


@rule(exact="bitwise", where=ROWS, example=LIST)
def modules_by_index(loop: cst.For, at: Place):
    """A loop over modules as a loop over their numbers."""
    if modules_in_turn(loop, at):
        number, m = at.new_name("i"), at.text(loop.iter)
        count, through = at.builtin("len"), at.builtin("range")
        body = f"{at.text(loop.target)} = {m}[{number}]\n{at.block(loop.body)}"
        yield f"for {number} in {through}({count}({m})):\n{indented(body)}{otherwise(loop, at)}"


@rule(exact="bitwise", where=ROWS, example=LIST)
def modules_numbered(loop: cst.For, at: Place):
    """A loop over modules as one over a list of them, or over modules with their numbers."""
    if not modules_in_turn(loop, at):
        return
    m, name, rest = at.text(loop.iter), at.text(loop.target), indented(at.block(loop.body)) + otherwise(loop, at)
    number = at.new_name("i")
    yield f"for {name} in {at.builtin('list')}({m}):\n{rest}"
    yield f"for {number}, {name} in {at.builtin('enumerate')}({m}):\n{rest}"
    numbers = f"{at.builtin('range')}({at.builtin('len')}({m}))"
    yield f"for {number}, {name} in {at.builtin('zip')}({numbers}, {m}):\n{rest}"


@rule(exact="bitwise", where=ROWS, example=LIST)
def modules_unrolled(loop: cst.For, at: Place):
    """A loop over modules turn by turn."""
    length = modules_in_turn(loop, at)
    if not length:
        return
    if loop.orelse is not None or leaves_early(loop.body):
        skip("the loop may end before its last turn")
    if length > 12:
        skip("the loop has many turns")
    m, name, body = at.text(loop.iter), at.text(loop.target), at.block(loop.body)
    yield "\n".join(f"{name} = {m}[{number}]\n{body}" for number in range(length))


def otherwise(loop: cst.For, at: Place) -> str:
    """The ``else`` of a loop."""
    return "" if loop.orelse is None else f"\nelse:\n{indented(at.block(loop.orelse.body))}"


def leaves_early(node: cst.CSTNode) -> bool:
    """Whether a ``break`` or ``continue`` of the loop that has this body may run."""
    if isinstance(node, (cst.Break, cst.Continue)):
        return True
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
        return False
    if isinstance(node, (cst.For, cst.While)):
        return node.orelse is not None and leaves_early(node.orelse)
    return any(leaves_early(child) for child in node.children)
