"""The table of oracles: each aspect is seen, and can be left out."""

import random
import warnings

import numpy as np
import pytest
import torch

from eqfuzz.oracle.compare import checks
from eqfuzz.oracle.compare.eager_judge import judge_rewrite
from eqfuzz.oracle.compare.oracles import ORACLES, Comparison, judge_compiled, judge_metadata, oracle
from eqfuzz.oracle.compare.verdict import Verdict, VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded

X = torch.arange(6.0).reshape(2, 3)


def seen(function, *calls):
    return observe(lambda: function, [Call(call, {}) for call in calls or [(X,)]])


def judged(eager, compiled, *calls, without=()):
    chosen = [name for name in checks.ORACLES if name not in without]
    known = reference(lambda: eager, [Call((X,), {})])
    return judge_compiled(seen(eager, *calls), seen(compiled, *calls), known, chosen)


def test_the_names_are_those_that_the_options_know():
    assert tuple(ORACLES) == checks.ORACLES
    assert all(function.__doc__ for function in ORACLES.values())


def printing(*lines):
    def f(x):
        for line in lines:
            print(line)
        return x + 1

    return f


def drawing(source):
    def f(x):
        {"torch": lambda: torch.rand(1), "numpy": lambda: np.random.rand(), "random": random.random}[source]()
        return x + 1

    return f


PAIRS = {
    "aliasing": (lambda x: x.view(-1), lambda x: x.clone().view(-1), VerdictKind.WRONG_METADATA),
    "aliasing of outputs": (lambda x: [x + 1] * 2, lambda x: [x + 1, x + 1], VerdictKind.WRONG_METADATA),
    "aliasing at a distance": (lambda x: x[0], lambda x: x.as_strided((3,), (1,), 3) - 3, VerdictKind.WRONG_METADATA),
    "prints": (printing("a", "b"), printing("b", "a"), VerdictKind.WRONG_SIDE_EFFECT),
    "prints less": (printing("a", "b"), printing("a"), VerdictKind.WRONG_SIDE_EFFECT),
    "generators": (drawing("torch"), lambda x: x + 1, VerdictKind.WRONG_SIDE_EFFECT),
    "generators of numpy": (drawing("numpy"), lambda x: x + 1, VerdictKind.WRONG_SIDE_EFFECT),
    "generators of python": (drawing("random"), lambda x: x + 1, VerdictKind.WRONG_SIDE_EFFECT),
    "metadata": (lambda x: x + 1, lambda x: (x + 1).requires_grad_(), VerdictKind.WRONG_METADATA),
    "strides": (lambda x: x.t() + 1, lambda x: (x.t() + 1).contiguous(), VerdictKind.WRONG_METADATA),
    "side-effects": (lambda x: x.add_(1), lambda x: x + 1, VerdictKind.WRONG_SIDE_EFFECT),
    "results": (lambda x: x.int(), lambda x: x.int() + 1, VerdictKind.WRONG_RESULT),
}


@pytest.mark.parametrize("what", PAIRS)
def test_each_aspect_is_seen_and_can_be_left_out(what):
    eager, compiled, kind = PAIRS[what]
    name = next(known for known in checks.ORACLES if what.startswith(known))
    found = judged(eager, compiled, without=() if name == "aliasing" else ("aliasing",))
    assert found.kind is kind, found.message
    assert judged(eager, eager).kind is VerdictKind.AGREE
    left_out = judged(eager, compiled, without=(name, "aliasing"))
    assert left_out.kind is VerdictKind.AGREE, left_out.message


def test_metadata_is_judged_where_values_cannot_be():
    assert judge_metadata(seen(lambda x: x + 1), seen(lambda x: x + 2)).kind is VerdictKind.AGREE
    assert judge_metadata(seen(lambda x: str(x.sum())), seen(lambda x: str(x.prod()))).kind is VerdictKind.AGREE
    for what, eager, compiled in (
        ("dtype", lambda x: x + 1, lambda x: x.double()),
        ("shape", lambda x: x.add_(1), lambda x: x.resize_(3)),
        ("raises", lambda x: x + 1, lambda x: x.nothing),
        ("dict", lambda x: x, lambda x: {"x": x}),
        ("shared", lambda x: x, lambda x: x.clone()),
    ):
        assert what in judge_metadata(seen(eager), seen(compiled)).message


def test_strides_do_not_stand_for_a_wrong_number():
    found = judged(lambda x: x.t() + 1, lambda x: (x.t() + 2).contiguous())
    assert found.kind is VerdictKind.WRONG_RESULT
    alone = judged(lambda x: x.t() + 1, lambda x: (x.t() + 1).contiguous())
    assert "stride is (1, 3) in eager and (2, 1) in compiled" in alone.message


def test_the_place_of_an_alias_is_an_expression():
    found = judged(PAIRS["aliasing"][0], PAIRS["aliasing"][1])
    assert found.evidence is not None
    assert found.evidence.path == "shared(output, args[0])"


def test_leaves_and_non_leaves():
    w = torch.ones(3, requires_grad=True)
    found = judged(lambda x: w, lambda x: w.view_as(w), without=("aliasing",))
    assert found.kind is VerdictKind.WRONG_METADATA
    assert "is_leaf" in found.message


def program(body, head=""):
    text = (
        f"import warnings\nimport torch\n{head}\n\ndef inputs(rng):\n    return (torch.ones(2),)\n\n\ndef program(x):\n"
    )
    return Loaded(recognise(text + "".join(f"    {line}\n" for line in body.splitlines()), "seed.py"))


def compared(first, second):
    one, other = (observe(loaded.instance, loaded.calls(0)) for loaded in (first, second))
    return judge_compiled(one, other, None)


def test_own_warnings_count_each_time_and_others_do_not(recwarn):
    loud = program('warnings.warn("careful")\nwarnings.warn("careful")\nreturn x')
    once = program('warnings.warn("careful")\nreturn x')
    found = compared(loud, once)
    assert found.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert "warning 1 is" in found.message
    assert not recwarn.list
    with warnings.catch_warnings(record=True) as passed:
        warnings.simplefilter("always")
        quiet = seen(lambda x: (warnings.warn("from here", stacklevel=1), x)[1])
    assert [str(w.message) for w in passed] == ["from here"]
    assert not quiet.calls[0].warned


def test_what_numpy_says_of_its_arithmetic_does_not_count():
    loud = program(
        "return torch.from_numpy(x.numpy() - 1) / 1 if (np.float64(0) / np.zeros(1)).size else x", "import numpy as np"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert compared(loud, program("return x - 1")).kind is VerdictKind.AGREE


def test_globals_count():
    adds = program("global N\nN += 1\nreturn x", "N = 0")
    found = compared(adds, program("global N\nN += 2\nreturn x", "N = 0"))
    assert found.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert found.evidence.path == "globals()['N']"
    assert compared(adds, adds).kind is VerdictKind.AGREE


def test_the_call_is_named():
    calls = [Call((X,), {}), Call((X,), {}, "the same inputs again")]
    numbers = iter(range(9))
    unstable = observe(lambda: lambda x: x.int() + next(numbers), calls)
    found = judge_compiled(observe(lambda: lambda x: x.int(), calls), unstable, None)
    assert found.message.startswith("call 1 (the same inputs again): ")


def test_own_oracles_are_asked_too():
    @oracle("sum")
    def total(comparison: Comparison) -> Verdict | None:
        """Nothing may sum to 15."""
        total = comparison.compiled.calls[0].outputs[0][1].sum()
        return Verdict(VerdictKind.WRONG_RESULT, "it is 15") if total == 15 else None

    try:
        assert judged(lambda x: x + 0, lambda x: x + 0).message == "it is 15"
        with pytest.raises(ValueError, match="already"):
            oracle("sum")(total)
    finally:
        del ORACLES["sum"]


def test_a_rewrite_may_bring_globals_of_its_own_and_must_keep_the_others():
    first = observe((one := program("global N\nN += 1\nreturn x", "N = 0")).instance, one.calls(0))
    second = observe((two := program("global N\nN += 1\nreturn x", "N = 0\nG1 = [3]")).instance, two.calls(0))
    third = observe((three := program("global N\nN += 2\nreturn x", "N = 0")).instance, three.calls(0))
    assert judge_rewrite(first, second, None, None, "bitwise").kind is VerdictKind.AGREE
    assert judge_rewrite(first, third, None, None, "bitwise").kind is VerdictKind.SUSPECT_RULE


@pytest.mark.parametrize(
    ("body", "less", "evidence"),
    [
        ("global LAST\nLAST = x\nreturn x", "return x", ("structure(globals()['LAST'])", "a value", "nothing")),
        ("N.append([1])\nreturn x", "return x", ("structure(globals()['N'])", "list[list[int]]", "list[]")),
    ],
)
def test_what_is_on_one_side_only_is_named_with_both_structures(body, less, evidence):
    found = compared(program(body, "N = []"), program(less, "N = []"))
    assert found.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert found.evidence is not None
    assert (found.evidence.path, found.evidence.eager, found.evidence.compiled) == evidence


def test_a_list_that_is_an_argument_is_compared_as_a_whole():
    def appends(x, rows):
        rows.append(x)

    found = judged(appends, lambda x, rows: None, (X, [X]))
    assert found.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert found.evidence.path == "structure(args[1])"


def test_what_breaks_down_while_it_is_read_is_not_raised_by_the_program(monkeypatch):
    class Odd:
        def __repr__(self):
            raise ValueError("no words")

    found = observe(lambda: lambda x: Odd(), [Call((X,), {})]).calls[0]
    assert found.raised is None
    assert found.outputs == [("output", "Odd whose repr raises ValueError")]

    def broken(*_):
        raise RuntimeError("cannot access the storage")

    plain = seen(lambda x: x + 1)
    monkeypatch.setattr("eqfuzz.oracle.observe.observer.shared_memory", broken)
    unread = seen(lambda x: x + 1)
    assert unread.calls[0].raised is None
    assert unread.calls[0].unread
    found = judge_compiled(plain, unread, None)
    assert found.kind is VerdictKind.WRONG_METADATA
    assert "cannot be read: RuntimeError: cannot access the" in found.message
    assert judge_compiled(unread, unread, None).kind is VerdictKind.AGREE
