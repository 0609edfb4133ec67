"""No false alarm on ordinary programs compiled by Inductor."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.program.call import Call

pytestmark = pytest.mark.slow


def draw(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape)).float()


class Convolution(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.out = torch.nn.Linear(8, 5)

    def forward(self, x, y):
        x = F.max_pool2d(F.gelu(self.norm(self.conv(x.reshape(1, 3, 8, 8)))), 2)
        return F.log_softmax(self.out(x.mean((2, 3))), -1), x.amax()


def exponentials(x, y):
    return torch.log1p((x.exp() * y).abs() + torch.sigmoid(y)).tanh() / (1 + x * x), torch.erf(x), F.softplus(y)


def reductions(x, y):
    return x.cumsum(1), y.var(0), torch.logsumexp(x * y, 1), x.prod(1), torch.linalg.vector_norm(x, dim=1), x.mean()


def matmuls(x, y):
    return ((x @ y.t()) @ x).relu().sum(1) * 0.1 + (y @ x.t()).softmax(0).diagonal()


def normalised(x, y):
    z = F.layer_norm(x.exp().cumsum(0), (x.shape[1],))
    return z, z.var(1), F.softmax(y * 5, -1), F.gelu(z)


def written(x, y):
    x = x.clone()
    x[1:3].mul_(2.5).add_(y[0])
    flat = x.view(-1)
    flat[::3] = flat[::3].sin()
    return x, flat.cumsum(0), x.argmax(1), x[y > 0]


def losses(x, y):
    return F.cross_entropy(x, y.argmax(1)), F.huber_loss(x, y), F.cosine_similarity(x, y), torch.cdist(x, y)


def dropped(x, y):
    return F.dropout(x, 0.3) * y.exp()


def items(x, y):
    return x * y.exp().sum().item(), x.exp().numpy()


CASES = {
    "convolution": (Convolution, (12, 16), torch.float32, False),
    "exponentials": (lambda: exponentials, (12, 17), torch.float32, True),
    "reductions": (lambda: reductions, (12, 17), torch.float32, True),
    "reductions-bf16": (lambda: reductions, (12, 17), torch.bfloat16, False),
    "exponentials-f16": (lambda: exponentials, (12, 17), torch.float16, False),
    "matmuls": (lambda: matmuls, (12, 17), torch.float32, True),
    "matmuls-bf16": (lambda: matmuls, (12, 17), torch.bfloat16, False),
    "normalised": (lambda: normalised, (12, 17), torch.float32, True),
    "written": (lambda: written, (12, 17), torch.float32, False),
    "losses": (lambda: losses, (12, 17), torch.float32, True),
    "dropped": (lambda: dropped, (12, 17), torch.float32, False),
    "items": (lambda: items, (12, 17), torch.float32, False),
}


@pytest.mark.parametrize("name", CASES)
def test_no_false_alarm(name):
    import torch._inductor.config as inductor

    torch._dynamo.reset()
    make, shape, dtype, wants_gradient = CASES[name]
    calls = [
        Call(tuple(draw(*shape, seed=seed + k).to(dtype).requires_grad_(wants_gradient) for k in (0, 1)), {})
        for seed in (0, 7)
    ]
    eager, measured = observe(make, calls), reference(make, calls)
    with inductor.patch(fallback_random=True):
        compiled = observe(make, calls, transform=torch.compile)
    verdict = judge_compiled(eager, compiled, measured)
    assert verdict.kind is VerdictKind.AGREE, verdict.message


def test_planted_compiler_bug_is_detected():
    import torch._inductor.config as inductor

    torch._dynamo.reset()
    calls = [Call((draw(20).abs(),), {})]
    program = lambda: lambda x: torch.log1p(x) * 2 + x  # noqa: E731
    with inductor.patch({"cpp.inject_log1p_bug_TESTING_ONLY": "accuracy"}):
        compiled = observe(program, calls, transform=torch.compile)
    verdict = judge_compiled(observe(program, calls), compiled, reference(program, calls))
    assert verdict.kind is VerdictKind.WRONG_RESULT, verdict.message
