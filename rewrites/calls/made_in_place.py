"""Containers of modules that are made where they are called."""

import libcst as cst
import torch

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.submodule import called
from eqfuzz.rewrite.facts.preconditions import dtype_in
from eqfuzz.rewrite.facts.shape_preconditions import sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip

ROWS = [dtype_in("x", torch.float32), sizes(x="* 4")]
PLAIN = frozenset("Identity ReLU Tanh Sigmoid GELU SiLU Softplus Softsign Mish".split())
"""Modules without parameters: making one draws no random numbers, so nobody can tell when it is made."""

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


def is_settled(expression: cst.BaseExpression, ctx: RewriteContext) -> bool:
    """Whether it is a submodule of the program that stays the same."""
    call = cst.Call(expression)
    return called(call, ctx, ()) is not None


def one_argument(call: cst.Call) -> cst.BaseExpression:
    """The only argument of a call. Raises Skip."""
    if len(call.args) != 1 or call.args[0].star or call.args[0].keyword is not None:
        skip("not called with one argument")
    return call.args[0].value


@rule(exact="bitwise", where=ROWS, example=NESTED)
def calls_in_a_sequential(call: cst.Call, ctx: RewriteContext):
    """Two modules called one inside the other are a Sequential that is made there."""
    inner = one_argument(call)
    if not isinstance(inner, cst.Call) or not (is_plain(call.func, ctx) or is_settled(call.func, ctx)):
        return
    if not (is_plain(inner.func, ctx) or is_settled(inner.func, ctx)):
        return
    argument = ctx.text(one_argument(inner))
    yield f"{ctx.path('torch.nn.Sequential')}({ctx.text(inner.func)}, {ctx.text(call.func)})({argument})"
