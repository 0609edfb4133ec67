"""Settings read through stand-ins that claim the class of what they stand for."""

# /// defect
# cause = "Dynamo's isinstance does not ask an object's __class__ property"
# url = "https://github.com/pytorch/pytorch/issues/174050"
# torch = ">=2.15"
# kinds = ["wrong-result"]
# regex = 'isinstance'
# ///

import torch


class StandIn:
    """Passes for the number that it will give."""

    def __init__(self, value):
        self.value = value

    @property
    def __class__(self):
        return type(self.value)

    def __mul__(self, other):
        return self.value * other


def scaled(x, setting):
    if isinstance(setting, float):
        return x * (setting * 2.0)
    return x + 1


def program(x, level):
    return torch.cos(scaled(x, StandIn(level))), scaled(x, 3)


def inputs(rng):
    yield rng.normal(4, 6), 0.5
