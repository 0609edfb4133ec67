"""One result of a program apart from the others."""

import torch

from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.single_result import result_alone
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call

ARGUMENTS = [(0,), (1, 2), (), (3,)]


def observed(wrong: bool = False) -> Observation:
    def program(a, b, c, d):
        second = (b * c + 1) if wrong else b * c
        return a.sin(), second, torch.ones(2), (d[1:], {"sum": d.sum() * (3 if wrong else 2)})

    tensors = tuple(torch.linspace(0.1, 1.0, 4, requires_grad=True) for _ in range(4))
    return observe(lambda: program, [Call(tensors, {})])


def test_result_has_its_leaves_and_those_of_its_arguments():
    (alone,) = result_alone(observed(), 3, ARGUMENTS[3]).calls
    assert [path for path, _ in alone.outputs] == ["output[3][0]", "output[3][1]['sum']"]
    assert [path for path, _ in alone.inputs_after] == ["args[3]"]
    assert [path for path, _ in alone.gradients] == ["gradient of args[3]"]
    assert [path for path, _ in alone.shared] == ["shared(output[3][0], args[3])"]


def test_every_leaf_is_in_one_result():
    whole = observed()
    parts = [result_alone(whole, item, arguments).calls[0] for item, arguments in enumerate(ARGUMENTS)]
    for group in ("outputs", "traits", "shared", "inputs_after", "gradients"):
        leaves = [path for part in parts for path, _ in getattr(part, group)]
        assert sorted(leaves) == sorted(path for path, _ in getattr(whole.calls[0], group))


def test_random_numbers_and_printed_lines_are_of_no_single_result():
    whole = observed()
    whole.calls[0].printed.append("a line")
    (alone,) = result_alone(whole, 0, ARGUMENTS[0]).calls
    assert (alone.generators, alone.printed) == ([], [])
    assert whole.calls[0].generators


def test_differences_are_those_of_the_result():
    eager, compiled = observed(), observed(wrong=True)
    kinds = [
        judge_compiled(result_alone(eager, item, own), result_alone(compiled, item, own), None).kind
        for item, own in enumerate(ARGUMENTS)
    ]
    differs = VerdictKind.INCONCLUSIVE  # for want of a reference
    assert kinds == [VerdictKind.AGREE, differs, VerdictKind.AGREE, differs]
