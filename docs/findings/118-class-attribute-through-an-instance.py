"""An attribute that a call sets on a class is stale when it is read through an instance.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


class Meter:
    calls = 0


METER = Meter()


def f(x):
    Meter.calls += 1
    return x * METER.calls


def run(f):
    Meter.calls = 0
    return [f(torch.ones(())).item() for _ in range(3)]


eager, compiled = run(f), run(torch.compile(f, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
raise SystemExit(eager != compiled)
