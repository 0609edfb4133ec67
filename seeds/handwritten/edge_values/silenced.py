"""Special values through products with 0.0, differences with themselves and quotients: what stays NaN, what does not."""

import torch


def program(x, y):
    silent = x * 0.0 + 1.0, 0.0 * x - y, (x * 0.0).isnan(), (x * 0.5 * 0.0).sum(1)
    gone = x - x, x / x, (x - x).nan_to_num(), x * -0.0, torch.where(x == x, x * 0.0, y)
    powers = x**0.0, x**1.0, x.pow(2.0) * 0.0, torch.sqrt(x) * 0.0, 1.0**x
    kept = torch.lerp(x, y, 0.0), torch.addcmul(y, x, y, value=0.0), torch.nansum(x * 0.0, 0), x.clamp(0.0, 0.0)
    return silent, gone, powers, kept


def inputs(rng):
    yield rng.choice([1.0, -2.0, float("inf"), float("-inf"), float("nan"), 0.5], 5, 12), rng.normal(5, 12)
