"""Views, flips, rolls and windows of one tensor, each with arithmetic after it."""

import torch


def doubled(value):
    return value * 2 if isinstance(value, torch.Tensor) else [doubled(part) for part in value]


def program(x):
    diagonals = (
        x.diagonal(1),
        x.diagonal(-2, 0, 2),
        torch.diag_embed(x[0], 1),
        x[:, :, 0].diag(-1),
        torch.tril(x, 1),
        x.triu(-1),
    )
    turned = (
        x.flip(0),
        x.flip(1, 2),
        x.flip(0, 2),
        x.flip(0, 1, 2),
        torch.rot90(x, 1, (1, 2)),
        x.roll((1, -2), (0, 2)),
        x.roll(3),
    )
    moved = x.permute(2, 0, 1), x.movedim(0, -1), x.mT, x.transpose(0, 2).contiguous(), x.swapaxes(0, 1) + 1
    repeated = x.repeat(2, 1, 1), x.tile(2), x.repeat_interleave(2, 1), x[:1].expand(5, 6, 6), x[0].expand_as(x)
    windows = x.unfold(1, 3, 2), x.narrow(2, 2, 4), x.select(1, -2), x.as_strided((3, 4), (2, 5), 3), x[:, ::2, 1::3]
    shaped = (
        x.reshape(6, -1),
        x.flatten(1),
        x.unflatten(2, (2, 3)),
        x.ravel()[5:],
        x.unsqueeze(1).squeeze(1),
        x.view(3, 48),
    )
    padded = (
        torch.nn.functional.pad(x, (1, -2, 0, 3)),
        torch.nn.functional.pad(x, (2, 1), value=1.5),
        torch.nn.functional.pad(x, (1, -1)),
        torch.nn.functional.pad(x, (2, 2), "circular"),
    )
    return [doubled(group) for group in (diagonals, turned, moved, repeated, windows, shaped, padded)]


def inputs(rng):
    yield rng.normal(4, 6, 6)
