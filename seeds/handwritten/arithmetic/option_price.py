"""Black-Scholes call and put prices with the error function, and their deltas as gradients."""

import math

import torch


def normal_cdf(x):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2.0)))


def program(spot, strike, years, volatility, rate):
    root = volatility * years**0.5
    d1 = (torch.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / root
    d2 = d1 - root
    discounted = strike * torch.exp(-rate * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)
    return {"call": call, "put": put, "in the money": spot > strike}


def inputs(rng):
    n = 256
    yield (
        rng.uniform(n, low=90, high=110, requires_grad=True),
        rng.uniform(n, low=60, high=80),
        rng.uniform(n, low=0.5, high=2.0),
        rng.uniform(n, low=0.2, high=0.4),
        0.03,
    )
