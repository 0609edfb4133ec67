"""Say whether the model of this project may be compiled."""

import sys

import torch
from pictures.model import Pictures

import eqfuzz

torch.manual_seed(0)
report = eqfuzz.check(Pictures(), torch.randn(2, 3, 16, 16), variants=1, time="13m", preload=(sys.argv[1:] or [None])[0])
print(report)
for use in report.differences:
    print(f"-- {use.title} --", use.submodule, use.program, sep="\n")
sys.exit(report.differs)
