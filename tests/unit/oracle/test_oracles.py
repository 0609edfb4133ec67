"""Oracles: each aspect is compared, and can be excluded."""

import random
import warnings
from unittest import mock

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
from eqfuzz.triage.reproducer import helpers

X = torch.arange(6.0).reshape(2, 3)


def observed(function, *calls):
    return observe(lambda: function, [Call(call, {}) for call in calls or [(X,)]])


def judged(eager, compiled, *calls, without=()):
    chosen = [name for name in checks.ORACLES if name not in without]
    measured = reference(lambda: eager, [Call((X,), {})])
    return judge_compiled(observed(eager, *calls), observed(compiled, *calls), measured, chosen)


def test_oracles_have_the_names_of_the_options():
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
def test_each_aspect_is_compared_and_can_be_excluded(what):
    eager, compiled, kind = PAIRS[what]
    name = next(check for check in checks.ORACLES if what.startswith(check))
    verdict = judged(eager, compiled, without=() if name == "aliasing" else ("aliasing",))
    assert verdict.kind is kind, verdict.message
    assert judged(eager, eager).kind is VerdictKind.AGREE
    excluded = judged(eager, compiled, without=(name, "aliasing"))
    assert excluded.kind is VerdictKind.AGREE, excluded.message


def test_metadata_is_compared_where_values_cannot_be():
    assert judge_metadata(observed(lambda x: x + 1), observed(lambda x: x + 2)).kind is VerdictKind.AGREE
    assert judge_metadata(observed(lambda x: str(x.sum())), observed(lambda x: str(x.prod()))).kind is VerdictKind.AGREE
    for what, eager, compiled in (
        ("dtype", lambda x: x + 1, lambda x: x.double()),
        ("shape", lambda x: x.add_(1), lambda x: x.resize_(3)),
        ("raises", lambda x: x + 1, lambda x: x.nothing),
        ("dict", lambda x: x, lambda x: {"x": x}),
        ("shared", lambda x: x, lambda x: x.clone()),
    ):
        assert what in judge_metadata(observed(eager), observed(compiled)).message


def test_wrong_number_is_reported_before_strides():
    verdict = judged(lambda x: x.t() + 1, lambda x: (x.t() + 2).contiguous())
    assert verdict.kind is VerdictKind.WRONG_RESULT
    strides_only = judged(lambda x: x.t() + 1, lambda x: (x.t() + 1).contiguous())
    assert "stride is (1, 3) in eager and (2, 1) in compiled" in strides_only.message


def test_path_of_an_alias_is_an_expression():
    verdict = judged(PAIRS["aliasing"][0], PAIRS["aliasing"][1])
    assert verdict.evidence is not None
    assert verdict.evidence.path == "shared(output, args[0])"


def test_overlapping_views_of_an_array_share_memory_as_views_of_a_tensor_do():
    def of_an_array(x):
        array = np.zeros(6, np.float32)
        return torch.from_numpy(array[:4]), torch.from_numpy(array[2:])

    def of_a_tensor(x):
        zeros = torch.zeros(6)
        return zeros[:4], zeros[2:]

    assert judged(of_an_array, of_a_tensor).kind is VerdictKind.AGREE
    apart = judged(of_an_array, lambda x: (torch.zeros(4), torch.zeros(4)))
    assert "only eager has shared(output[0], output[1])" in apart.message


def test_scripts_see_memory_shared_by_views_of_an_array():
    namespace = {}
    exec(helpers.SHARED, namespace)
    array, tensor = np.zeros(6, np.float32), torch.zeros(6)
    for tensors in ([torch.from_numpy(array[:4]), torch.from_numpy(array[2:])], [tensor[:4], tensor[2:]]):
        assert namespace["shared"](*tensors) == (True, 8)
    assert namespace["shared"](tensor, torch.zeros(6)) is None


def test_leaf_instead_of_non_leaf_is_wrong_metadata():
    w = torch.ones(3, requires_grad=True)
    verdict = judged(lambda x: w, lambda x: w.view_as(w), without=("aliasing",))
    assert verdict.kind is VerdictKind.WRONG_METADATA
    assert "is_leaf" in verdict.message


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
    verdict = compared(loud, once)
    assert verdict.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert "warning 1 is" in verdict.message
    assert not recwarn.list
    with warnings.catch_warnings(record=True) as passed:
        warnings.simplefilter("always")
        quiet = observed(lambda x: (warnings.warn("from here", stacklevel=1), x)[1])
    assert [str(w.message) for w in passed] == ["from here"]
    assert not quiet.calls[0].warned


def test_warnings_of_numpy_arithmetic_are_ignored():
    loud = program(
        "return torch.from_numpy(x.numpy() - 1) / 1 if (np.float64(0) / np.zeros(1)).size else x", "import numpy as np"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert compared(loud, program("return x - 1")).kind is VerdictKind.AGREE


def test_wrong_global_is_a_side_effect():
    adds = program("global N\nN += 1\nreturn x", "N = 0")
    verdict = compared(adds, program("global N\nN += 2\nreturn x", "N = 0"))
    assert verdict.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert verdict.evidence.path == "globals()['N']"
    assert compared(adds, adds).kind is VerdictKind.AGREE


def test_verdict_names_the_call():
    calls = [Call((X,), {}), Call((X,), {}, "the same inputs again")]
    numbers = iter(range(9))
    unstable = observe(lambda: lambda x: x.int() + next(numbers), calls)
    verdict = judge_compiled(observe(lambda: lambda x: x.int(), calls), unstable, None)
    assert verdict.message.startswith("call 1 (the same inputs again): ")


def test_registered_oracle_runs():
    def total(comparison: Comparison) -> Verdict | None:
        """Nothing may sum to 15."""
        total = comparison.compiled.calls[0].outputs[0][1].sum()
        return Verdict(VerdictKind.WRONG_RESULT, "it is 15") if total == 15 else None

    with mock.patch.dict(ORACLES):
        oracle("sum")(total)
        assert judged(lambda x: x + 0, lambda x: x + 0).message == "it is 15"
        with pytest.raises(ValueError, match="already"):
            oracle("sum")(total)


def test_rewrite_may_add_globals_and_must_keep_the_others():
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
def test_value_on_one_side_only_is_reported_with_both_structures(body, less, evidence):
    verdict = compared(program(body, "N = []"), program(less, "N = []"))
    assert verdict.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert verdict.evidence is not None
    assert (verdict.evidence.path, verdict.evidence.eager, verdict.evidence.compiled) == evidence


def test_list_argument_is_compared_as_a_whole():
    def appends(x, rows):
        rows.append(x)

    verdict = judged(appends, lambda x, rows: None, (X, [X]))
    assert verdict.kind is VerdictKind.WRONG_SIDE_EFFECT
    assert verdict.evidence.path == "structure(args[1])"


def test_error_while_reading_results_is_not_raised_by_the_program(monkeypatch):
    class Odd:
        def __repr__(self):
            raise ValueError("no words")

    call = observe(lambda: lambda x: Odd(), [Call((X,), {})]).calls[0]
    assert call.raised is None
    assert call.outputs == [("output", "Odd whose repr raises ValueError")]

    def broken(*_):
        raise RuntimeError("cannot access the storage")

    plain = observed(lambda x: x + 1)
    monkeypatch.setattr("eqfuzz.oracle.observe.observer.shared_memory", broken)
    unread = observed(lambda x: x + 1)
    assert unread.calls[0].raised is None
    assert unread.calls[0].unread
    verdict = judge_compiled(plain, unread, None)
    assert verdict.kind is VerdictKind.WRONG_METADATA
    assert "cannot be read: RuntimeError: cannot access the" in verdict.message
    assert judge_compiled(unread, unread, None).kind is VerdictKind.AGREE
