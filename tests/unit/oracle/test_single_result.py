"""One result of a program apart from the others."""

import torch

from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.single_result import ResultPlaces, result_alone
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observation import Observation
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call

ARGUMENTS = [ResultPlaces(arguments) for arguments in ((0,), (1, 2), (), (3,))]


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


def test_state_of_a_submodule_belongs_to_the_result_that_calls_it():
    class Program(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm_1, self.norm_2 = torch.nn.BatchNorm1d(4), torch.nn.BatchNorm1d(4)

        def forward(self, a, b):
            return self.norm_1(a), self.norm_2(b)

    whole = observe(Program, [Call((torch.randn(3, 4), torch.randn(3, 4)), {})])
    parts = [
        result_alone(whole, item, ResultPlaces((item,), name)).calls[0]
        for item, name in enumerate(("norm_1", "norm_2"))
    ]
    for item, part in enumerate(parts):
        paths = [path for group in (part.state_after, part.gradients) for path, _ in group if "model." in path]
        assert len(paths) == 7  # weight, bias, three buffers, two gradients
        assert all(f"model.norm_{item + 1}." in path for path in paths)
