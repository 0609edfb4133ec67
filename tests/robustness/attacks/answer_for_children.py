"""Succeeds if code that a cell's process would run answers in its place."""
import os, sys
import torch

import eqfuzz.run.jobs.cell_judge as cells
from eqfuzz.oracle.compare.verdict import VerdictKind, Verdict
cells.CellJudge.cell = lambda self, subject, device, config: cells.CellReport(variant=subject.number, device=device, config=config.name, verdict=Verdict(VerdictKind.WRONG_RESULT, "BREACH"), seconds=1.0)
os.waitpid = lambda *a: (0, 0)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
