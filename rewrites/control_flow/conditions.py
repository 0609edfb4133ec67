"""How a choice is made: connectives, chained comparisons, tables of functions, match, torch.where, and torch.cond."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext, constant
from eqfuzz.rewrite.context.data_flow import path_to, require_one_text, walk
from eqfuzz.rewrite.context.loop_control import (
    fresh,
    require_plain,
    require_unshared,
)
from eqfuzz.rewrite.context.meta_evaluation import MetaEvaluator
from eqfuzz.rewrite.context.patterns import assigned, only_statement, values_of
from eqfuzz.rewrite.facts.composite_preconditions import equal_matrices
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import indented, skip

CONNECTED = """
def program(x, y, k: Int):
    if k > 0 and x.dim() > 1:
        x = x + y
    while k < 2 or y.dim() > 9:
        k += 1
        y = y * 2
    if k and (k < 3 or x.dim()) and y.dim(): x = x - y
    return x * k
"""


@rule(exact="bitwise", where=[floating("x", "y")], example=CONNECTED)
def negated_connective(statement: cst.If | cst.While, ctx: RewriteContext):
    """``a and b`` holds when neither ``not a`` nor ``not b`` does, and ``a or b`` when not both do."""
    test = statement.test
    if not isinstance(test, cst.BooleanOperation):
        return
    other = "or" if isinstance(test.operator, cst.And) else "and"
    left, right = require_one_text(ctx, test.left), require_one_text(ctx, test.right)
    yield ctx.replace(test, f"not (not ({left}) {other} not ({right}))")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y, k: Int):
        n = k and x.dim()
        m = n or y.dim()
        return x * n + y * m, k or None
    """,
)
def connective_to_conditional(both: cst.BooleanOperation, ctx: RewriteContext):
    """``a and b`` is ``b if a else a`` and ``a or b`` is ``a if a else b``, for a variable ``a``."""
    if not isinstance(both.left, cst.Name):
        skip("the left side would be evaluated twice")
    left, right = ctx.text(both.left), ctx.text(both.right)
    require_unshared(ctx, [both.left.value])
    is_and = isinstance(both.operator, cst.And)
    yield f"({right}) if {left} else {left}" if is_and else f"{left} if {left} else ({right})"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y, k: Int):
        if 0 < k <= 3:
            x = x + y
        return x * (-5 < k < x.dim())
    """,
)
def chain_of_comparisons(chain: cst.Comparison, ctx: RewriteContext):
    """``a < b < c`` is ``a < b and b < c``, for a variable or literal ``b``."""
    if len(chain.comparisons) != 2:
        return
    first = chain.comparisons[0]
    if first.comparator.lpar or not isinstance(first.comparator, (cst.Name, cst.Integer, cst.Float)):
        skip("the middle would be evaluated twice")
    middle = ctx.text(first.comparator)
    if any(isinstance(n, cst.NamedExpr) for n in walk(chain)):
        skip("a walrus inside binds a name")
    require_unshared(ctx, [middle])
    start = ctx.syntax.span(chain)[0]
    left = ctx.syntax.text[start : ctx.syntax.span(first.comparator)[1]]
    right = ctx.syntax.text[ctx.syntax.span(first.comparator)[0] : ctx.syntax.span(chain)[1]]
    yield f"{left} and {right}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y, k: Int):
        r = torch.sin(x) if k > 0 else x - y
        return r * (2 if isinstance(k, float) else 3)
    """,
)
def chosen_from_a_table(choice: cst.IfExp, ctx: RewriteContext):
    """A conditional expression is a call of one of two functions, taken from a tuple or a dictionary."""
    facts = ctx.facts(choice.test)
    if any(f.kind != "bool" for f in facts):
        skip(f"the condition is {facts[0].describe()}, not True or False")
    require_plain(choice.body)
    require_plain(choice.orelse)
    first, second, test = (require_one_text(ctx, e) for e in (choice.body, choice.orelse, choice.test))
    yield f"(lambda: {second}, lambda: {first})[{test}]()"
    yield f"{{True: lambda: {first}, False: lambda: {second}}}[{test}]()"


KEYED = """
def program(x, y, k: Int):
    if k == 1:
        r = x + y
    elif k == 2:
        r = x - y
    elif k == -1: r = x * 2
    else:
        r = x * y
    if k == 3:
        return r, x
    else:
        return r
"""


def literal_cases(branch: cst.If, ctx: RewriteContext) -> tuple[str, list[tuple[str, cst.BaseSuite]], cst.Else | None]:
    """Variable, cases by literal, and last ``else`` of a chain that compares one int or string with literals."""
    cases: list[tuple[str, cst.BaseSuite]] = []
    keys: set[int | str] = set()
    name: cst.Name | None = None
    link: cst.If | cst.Else | None = branch
    while isinstance(link, cst.If):
        test = link.test
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
            skip("a condition is no comparison of a variable")
        (comparison,) = test.comparisons
        if not isinstance(comparison.operator, cst.Equal) or (name is not None and name.value != test.left.value):
            skip("not all conditions compare one variable for equality")
        key = constant(comparison.comparator)
        if key is None or key.kind not in ("int", "str"):
            skip("a variable is not compared with an int or string literal")
        name = name or test.left
        keys.add(key.value)
        cases.append((ctx.text(comparison.comparator), link.body))
        link = link.orelse
    assert name is not None
    if any(f.kind not in ("int", "str") for f in ctx.facts(name)):
        skip(f"{name.value} is no int or string")
    if len(keys) != len(cases):
        skip("a literal occurs twice")
    return name.value, cases, link


@rule(exact="bitwise", where=[floating("x", "y")], example=KEYED)
def dictionary_dispatch(branch: cst.If, ctx: RewriteContext):
    """A chain that chooses a value by a key looks up in a dictionary which function to call."""
    name, cases, rest = literal_cases(branch, ctx)
    if rest is None:
        skip("the branch has no else")
    bodies = [only_statement(body) for body in (*(b for _, b in cases), rest.body)]
    heads, values = set(), []
    for body in bodies:
        assignment = assigned(body)
        value = body.value if isinstance(body, cst.Return) else assignment[1] if assignment is not None else None
        if value is None:
            skip("a branch does more than compute a value")
        heads.add(f"{assignment[0]} =" if assignment is not None else "return")
        require_plain(value)
        text = require_one_text(ctx, value)
        values.append(f"({text})" if isinstance(value, cst.Tuple) else text)
    if len(heads) != 1:
        skip("the branches do not give a value to the same variable")
    table = ", ".join(f"{key}: lambda: {value}" for (key, _), value in zip(cases, values, strict=False))
    yield f"{heads.pop()} {{{table}}}.get({name}, lambda: {values[-1]})()"


@rule(exact="bitwise", where=[floating("x", "y")], example=KEYED)
def chain_to_match(branch: cst.If, ctx: RewriteContext):
    """A chain that compares one int or string with literals is a match statement."""
    name, cases, rest = literal_cases(branch, ctx)
    arms = "\n".join(f"case {key}:\n{indented(ctx.block(body))}" for key, body in cases)
    last = f"\ncase _:\n{indented(ctx.block(rest.body))}" if rest is not None else ""
    yield f"match {name}:\n{indented(arms + last)}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y, k: Int):
        match x.dim():
            case 0 | 1:
                x = x + y
            case 2:
                x = x - y
            case _:
                x = x * 2
        match k:
            case -1 | None: x = x + 1
            case True:
                x = x + 2
        return x
    """,
)
def match_to_chain(statement: cst.Match, ctx: RewriteContext):
    """A match statement over literals compares its subject with one after the other."""
    subject = fresh(ctx, "subject")
    arms: list[str] = []
    for number, case in enumerate(statement.cases):
        if case.guard is not None:
            skip("a case has a guard")
        pattern = case.pattern
        if isinstance(pattern, cst.MatchAs) and pattern.pattern is None and pattern.name is None:
            if number + 1 != len(statement.cases) or not number:
                skip("the case for everything is not the last of several")
            head = "else"
        else:
            parts = [e.pattern for e in pattern.patterns] if isinstance(pattern, cst.MatchOr) else [pattern]
            head = f"{'elif' if arms else 'if'} {' or '.join(pattern_condition(subject, part, ctx) for part in parts)}"
        arms.append(f"{head}:\n{indented(ctx.block(case.body))}")
    yield f"{subject} = {require_one_text(ctx, statement.subject)}\n" + "\n".join(arms)


def pattern_condition(subject: str, pattern: cst.MatchPattern, ctx: RewriteContext) -> str:
    """The condition that a literal pattern stands for."""
    if isinstance(pattern, cst.MatchSingleton):
        return f"{subject} is {pattern.value.value}"
    if not isinstance(pattern, cst.MatchValue) or constant(pattern.value) is None:
        skip("a pattern is no literal")
    return f"{subject} == {ctx.text(pattern.value)}"


BOTH_LINEAR = """
def program(x, y, k: Int):
    if k > 0:
        r = x + y
    else:
        r = x - y
    return r * (2 if k else 1)
"""

ONE_ELEMENT = """
def program(x, y):
    r = x + 2 * y if x.sum() > 0 else x - y
    if y.numel() == 1 and y or (x * 0).sum():
        return r + x
    else:
        return r - y
"""

NO_GRADIENT = """
def program(x, y, k: Int):
    z = x.detach()
    if k > 0:
        z = torch.sin(z) * z
    else:
        z = torch.exp(z) - 1
    return z + y
"""


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example=[BOTH_LINEAR, ONE_ELEMENT, NO_GRADIENT],
)
def choice_to_where(choice: cst.If | cst.IfExp, ctx: RewriteContext):
    """Two branches that compute one tensor are both computed, and torch.where takes one.

    Both must have the same dtype, shape and strides, which is seen by computing both without values; where gradients
    are needed, only sums and multiples by literals, whose gradient at zero is zero.
    """
    head, first, second = values_of(choice)
    if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in path_to(ctx.statement.node, ctx.node)[:-1]):
        skip("the expression is evaluated later")
    shadow = MetaEvaluator(ctx, choice)
    shadow.require_equal(first, second)
    test = require_one_text(ctx, choice.test)
    facts = ctx.facts(choice.test)
    if all(f.kind == "bool" for f in facts):
        condition = f"{ctx.path('torch.tensor')}({test})"
    elif all(f.is_tensor and f.numel == 1 for f in facts):
        condition = f"({test}).reshape(()) != 0"
    else:
        skip(f"the condition is {facts[0].describe()}")
    one, two = require_one_text(ctx, first), require_one_text(ctx, second)
    yield f"{head}{ctx.path('torch.where')}({condition}, {one}, {two})"


@rule(
    exact="bitwise",
    where=[equal_matrices("x", "y")],
    example=[
        """
        def program(x, y):
            if x.sum() > 0:
                r = x + 2 * y
            else:
                r = x - y
            return r
        """,
        """
        def program(x, y):
            return x + y if bool((x.sum() > y.sum()).item()) else x - 1
        """,
    ],
)
def choice_to_cond(choice: cst.If | cst.IfExp, ctx: RewriteContext):
    """Two branches on a tensor of one element that compute one tensor are both handed to torch.cond.

    Both must look the same from outside (see ``choice_to_where``).
    """
    head, first, second = values_of(choice)
    if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in path_to(ctx.statement.node, ctx.node)[:-1]):
        skip("the expression is evaluated later")
    for part in (choice.test, first, second):
        require_plain(part)
    condition = condition_tensor(ctx, choice.test)
    shadow = MetaEvaluator(ctx, choice)
    shadow.require_equal(first, second)
    names = shadow.tensors(first, second)
    parameters, operands = ", ".join(names), "".join(f"{name}, " for name in names)
    one, two = (f"lambda {parameters}: {require_one_text(ctx, e)}" for e in (first, second))
    test = f"({require_one_text(ctx, condition)}).reshape(()) != 0"
    yield f"{head}{ctx.path('torch.cond')}({test}, {one}, {two}, ({operands}))"


def condition_tensor(ctx: RewriteContext, test: cst.BaseExpression) -> cst.BaseExpression:
    """The tensor of one element that a condition asks, also inside ``bool(t)`` and ``t.item()``."""
    inner = test
    while isinstance(inner, cst.Call):
        if isinstance(inner.func, cst.Name) and inner.func.value == "bool" and len(inner.args) == 1:
            ctx.builtin("bool")
            inner = inner.args[0].value
        elif isinstance(inner.func, cst.Attribute) and inner.func.attr.value == "item" and not inner.args:
            inner = inner.func.value
        else:
            break
    facts = ctx.tensors(inner)
    if any(f.numel != 1 for f in facts):
        skip(f"the condition is {facts[0].describe()}")
    return inner
