"""Dynamo traces the method ``amax`` as ``amin``."""

from torch._dynamo.variables.tensor import TensorVariable

MET_BY = r"\.amax\("


def plant():
    original = TensorVariable.call_method

    def call_method(self, tx, name, args, kwargs):
        return original(self, tx, "amin" if name == "amax" else name, args, kwargs)

    TensorVariable.call_method = call_method


plant()
