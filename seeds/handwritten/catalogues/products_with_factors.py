"""Matrix products with factors, in batches, transposed, and those that a compiler recognises."""

import torch
import torch.nn.functional as F


def program(a, b, c, batch, v):
    weighted = (
        torch.addmm(c, a, b, alpha=0.5),
        torch.addmm(c, a, b, beta=-2),
        torch.addmv(v, a, b[:, 0], alpha=3),
        torch.addr(c, v, v, beta=0.5),
    )
    batched = (
        torch.bmm(batch, batch.mT),
        torch.baddbmm(c, batch[:, :5], batch.mT[..., :5], beta=2, alpha=-1),
        batch @ b[:4],
    )
    summed = c + a @ b, a @ b - c, (a @ b) * 0.5 + c, F.linear(a, b.t(), v), F.linear(a, b.t()), torch.relu(a @ b + v)
    turned = b.t() @ a.t(), a.t().contiguous().t() @ b, (a @ b).t() + c, torch.mm(a[:, ::2], b[::2])
    contracted = (
        torch.einsum("ij,jk->ki", a, b),
        torch.tensordot(batch, b[:4], 1),
        torch.outer(v, v),
        torch.einsum("bij,bkj->bik", batch, batch),
    )
    small = (
        a @ b[:, 0],
        torch.dot(v, v),
        torch.linalg.multi_dot([a, b, c]),
        torch.linalg.cross(c[:, :3], c[:, 1:4]),
        torch.vdot(v, a[:, 0]),
    )
    solved = (
        torch.linalg.solve_triangular(c.tril() + 9 * torch.eye(5), a, upper=False),
        torch.trace(c),
        c.diagonal().sum(),
    )
    heads = batch.unsqueeze(0)
    attended = (
        F.scaled_dot_product_attention(heads, heads, heads, is_causal=True),
        torch.softmax(batch @ batch.mT / 2, -1) @ batch,
    )
    return weighted, batched, summed, turned, contracted, small, solved, attended


def inputs(rng):
    yield rng.normal(5, 6), rng.normal(6, 5), rng.normal(5, 5), rng.normal(3, 6, 4), rng.normal(5)
