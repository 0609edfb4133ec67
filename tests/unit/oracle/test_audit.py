"""Local audit: real defects of Inductor are traced to their operator, correct programs have no suspect."""

import json

import numpy as np
import pytest
import torch
import torch._inductor.config as inductor_config
import torch.nn.functional as F

from eqfuzz.oracle.audit.local_audit import audit
from eqfuzz.oracle.audit.single_operator import judge_operator
from eqfuzz.oracle.audit.source_location import location_in
from eqfuzz.oracle.audit.suspect import Audit, SourceLocation
from eqfuzz.program.call import Call
from eqfuzz.torch_internals.options import without_graph_caches
from tests.live_defects import AMIN, only_with

aten = torch.ops.aten


def draw(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape)).float()


def audit_of(function, *calls, **arguments):
    return audit(lambda: function, [Call(args, {}) for args in calls], **arguments)


def reciprocal_of_elu(x):
    small = F.elu(x)
    return 1 / (small + torch.exp(small))


def judge(func, args, compiled, **kwargs):
    return judge_operator(func, args, kwargs, dict(enumerate(compiled)), 0)


def test_operator_is_judged_by_its_own_error():
    x = draw(40) * 1e-4
    result = judge(aten.expm1.default, (x,), [x.exp() - 1])
    assert result.wrong is not None
    assert result.wrong.evidence.wrong_elements > 20
    assert abs(result.wrong.evidence.compiled - result.wrong.evidence.reference) > 100 * result.wrong.evidence.allowed
    assert judge(aten.expm1.default, (x,), [x.double().expm1().float()]).wrong is None
    assert judge(aten.sum.default, (x,), [x.flip(0).cumsum(0)[-1]]).wrong is None


def test_integers_and_moved_data_are_exact():
    x = torch.arange(40)
    assert judge(aten.mul.Tensor, (x, x), [x * x]).wrong is None
    evidence = judge(aten.mul.Tensor, (x, x), [x * x + (x == 7)]).wrong.evidence
    assert evidence.index == (7,)
    assert (evidence.eager, evidence.compiled) == (49, 50)
    assert evidence.wrong_elements == 1
    moved = draw(4, 5)
    assert judge(aten.flip.default, (moved, [0]), [moved.flip(0)]).wrong is None
    assert judge(aten.flip.default, (moved, [0]), [moved.flip(0) * (1 + 2e-7)]).wrong is not None


def test_each_of_several_results_is_judged():
    x = draw(6, 7)
    values, indices = x.max(1)
    assert judge(aten.max.dim, (x, 1), [values, indices]).wrong is None
    wrong = judge(aten.max.dim, (x, 1), [values, indices.roll(1)]).wrong
    assert wrong is not None
    assert wrong.part == 1


def test_dtype_and_shape_are_judged():
    x = draw(4)
    assert "dtype is torch.float32 in eager and torch.float64 in compiled" in (
        judge(aten.sin.default, (x,), [x.sin().double()]).wrong.message
    )
    assert "shape" in judge(aten.sin.default, (x,), [x.sin()[:3]]).wrong.message


def test_unjudged_operators_have_a_reason():
    x = draw(4)
    assert judge(aten.rand_like.default, (x,), [x]).unjudged == "it draws random numbers"
    assert judge(aten.empty_like.default, (x,), [x]).unjudged == "its memory is not initialised"
    failing = judge(aten.mm.default, (x, x), [x])
    assert failing.unjudged == "aten.mm.default raises RuntimeError when run in isolation in eager"


def test_location_is_the_innermost_frame_outside_torch():
    trace = (
        '  File "<seed.py>", line 3, in forward\n    return self.act(x)\n  File "<seed.py>", line 9, in act\n'
        f'    return F.elu(x)\n  File "{F.__file__}", line 1, in elu\n    result = torch._C._nn.elu(input, alpha)\n'
    )
    assert location_in(trace) == SourceLocation("<seed.py>", 9, "act", "return F.elu(x)")
    assert location_in("") == SourceLocation()


@pytest.mark.slow
def test_wrong_expm1_inside_a_division_is_suspected(monkeypatch):
    """As in pytorch issue #189803 ``expm1`` is lowered to ``exp - 1``; what follows hides most of the error."""
    difference = staticmethod(lambda x: f"({x}.exp() - decltype({x})(1))")
    monkeypatch.setattr("torch._inductor.codegen.cpp.CppVecOverrides.expm1", difference)
    with without_graph_caches():  # they do not know what is replaced
        report = audit_of(reciprocal_of_elu, (draw(64, 64),))
    (suspect,) = report.suspects
    assert suspect.operator == "aten.expm1.default"
    assert suspect.kind == "inference"
    assert suspect.place.text == "small = F.elu(x)"
    assert suspect.place.function == "reciprocal_of_elu"
    assert "expm1" in suspect.expression
    assert suspect.disagreement.evidence.wrong_elements > 10
    assert Audit.from_json(json.loads(json.dumps(report.to_json()))) == report


@pytest.mark.slow
def test_the_backward_graph_is_audited():
    def squashed(x):
        return F.relu(x * 1.5).sin()

    x = draw(32, 8).requires_grad_()
    assert audit_of(squashed, (x,)).suspects == ()
    with inductor_config.patch({"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}):
        report = audit_of(squashed, (x,))
    assert {suspect.place.text for suspect in report.suspects} == {"return F.relu(x * 1.5).sin()"}
    assert report.graphs == 2
    assert {s.operator for s in report.suspects} == {"aten.relu.default"}


@pytest.mark.slow
@only_with(AMIN)
def test_wrong_int8_amin_is_suspected():
    report = audit_of(lambda x: (x + 1).amin() * 2, (torch.full((64,), 5, dtype=torch.int8),))
    (suspect,) = report.suspects
    assert suspect.operator == "aten.amin.default"
    assert suspect.disagreement.evidence.eager == 6


@pytest.mark.slow
def test_right_programs_have_no_suspect():
    def written(x, y, n):
        x = x.clone()
        x[1:3].mul_(2.5).add_(y[0])
        flat = x.view(-1)
        flat[::3] = flat[::3].sin()
        y.add_(1)
        torch._dynamo.graph_break()
        parts = torch.split(x, [3, x.shape[0] - 3])
        values, indices = parts[1].topk(2, dim=1)
        return F.softmax(x @ y.t(), -1), values, indices, parts[0][y[:3] > 0], x.var(0), F.dropout(x, 0.5), n * x.sum()

    report = audit_of(written, (draw(9, 5), draw(9, 5), 3), (draw(11, 5), draw(11, 5), 4), dynamic=True)
    assert report.suspects == ()
    assert not report.raised
    assert report.graphs >= 2
    assert report.audited > 20
    assert "it draws random numbers" in report.skipped


@pytest.mark.slow
def test_half_types_may_keep_float32_between_operators():
    def rounded(x, y):
        return ((x * y + y) / 3).round(), (x * 1.7 > y * 1.3), (x.exp() - y.exp()).sum(1)

    for dtype in (torch.float16, torch.bfloat16):
        report = audit_of(rounded, (draw(64, 64).to(dtype), draw(64, 64, seed=1).to(dtype)))
        assert report.suspects == ()
        assert report.audited >= 10


@pytest.mark.slow
def test_activations_keep_their_strides_for_the_backward_graph():
    """AOTAutograd takes the strides of all further outputs for those of saved activations."""

    def laid_out(x):
        first, second = (x * 0.1).unbind(-1)
        return torch.atan2(first.sin().sqrt(), second.cos()), torch.hypot(first, second).mean()

    report = audit_of(laid_out, (draw(30, 2).abs().requires_grad_(),))
    assert report.suspects == ()
    assert not report.raised
    assert report.graphs == 2
    assert report.skipped == {}
