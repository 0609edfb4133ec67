"""Numbers put together from integer mantissas and exponents of half precision."""

# /// defect
# cause = "The lowering of ldexp keeps the dtype of the mantissa or takes float32 instead of promoting both"
# url = "https://github.com/pytorch/pytorch/issues/197091"
# torch = ">=2.13"
# kinds = ["wrong-metadata", "wrong-result"]
# regex = 'ldexp'
# ///

import torch


def program(mantissas, exponents):
    numbers = torch.ldexp(mantissas, exponents)
    return numbers, (numbers - numbers.mean()).abs()


def inputs(rng):
    yield rng.integers(-8, 9, 12), rng.integers(-2, 3, 12, dtype=torch.float16)
