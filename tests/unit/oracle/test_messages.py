"""Messages of verdicts are sentences with the names of both sides and the numbers of the worst element."""

import pytest
import torch

from eqfuzz.oracle.compare.leaf_comparison import Difference
from eqfuzz.oracle.compare.oracles import NAMES, judge_compiled
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.program.call import Call

X = torch.arange(6).reshape(2, 3)


def printing(*lines):
    def program(x):
        for line in lines:
            print(line)
        return x + 1

    return program


def raising(x):
    raise ValueError("no")


MESSAGES = {
    "values": (
        lambda x: x + 1,
        lambda x: x + 1 + (x == 4),
        "output[1, 1]: eager gives 5 and compiled gives 6; reference 5, allowed distance 0; 1 of 6 elements is wrong",
    ),
    "several values": (
        lambda x: x + 1,
        lambda x: x + 1 + (x > 4) + 2 * (x < 1),
        "output[0, 0]: eager gives 1 and compiled gives 3; reference 1, allowed distance 0; 2 of 6 elements are wrong",
    ),
    "one value": (
        lambda x: x.sum(),
        lambda x: x.sum() + 1,
        "output: eager gives 15 and compiled gives 16; reference 15, allowed distance 0; its only element is wrong",
    ),
    "text": (lambda x: "a", lambda x: "b", "output: eager gives a and compiled gives b"),
    "type": (lambda x: [x], lambda x: (x,), "eager returns list[Tensor] and compiled returns tuple[Tensor]"),
    "dtype": (
        lambda x: x + 1,
        lambda x: x + 1.0,
        "output: dtype is torch.int64 in eager and torch.float32 in compiled",
    ),
    "aliasing": (lambda x: x.view(-1), lambda x: x.clone().view(-1), "only eager has shared(output, args[0])"),
    "printed": (printing("a", "b"), printing("a"), "printed line 1 is 'b' in eager and missing in compiled"),
    "exception in eager": (raising, lambda x: x, "eager raises ValueError: no; compiled raises nothing"),
    "exception in compiled": (lambda x: x, raising, "only compiled raises ValueError: no"),
}


@pytest.mark.parametrize(("eager", "compiled", "message"), MESSAGES.values(), ids=list(MESSAGES))
def test_verdict_has_a_sentence(eager, compiled, message):
    calls = [Call((X,), {})]
    runs = [observe(lambda function=function: function, calls) for function in (eager, compiled)]
    verdict = judge_compiled(*runs, reference(lambda: eager, calls))
    assert verdict.message == f"call 0: {message}"


def test_structure_of_a_changed_argument_is_described():
    def appends(rows):
        rows.append(1)

    calls = [Call(([2],), {})]
    runs = [observe(lambda function=function: function, calls) for function in (appends, lambda rows: None)]
    message = "call 0: args[0]: after the call it is list[int, int] in eager and list[int] in compiled"
    assert judge_compiled(*runs, None).message == message


def test_inconclusive_difference_has_its_reason():
    difference = Difference((3,), 1.0, 2.0, inconclusive="there is no reference")
    assert difference.describe(NAMES) == "eager gives 1 and compiled gives 2, but there is no reference"
