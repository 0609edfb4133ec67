"""Succeeds if what it changes in Python is changed for a later case."""
import os, sys
import torch

import atexit, builtins, gc, json, threading
import eqfuzz.oracle.compare.oracles as oracles, eqfuzz.run.jobs.cell_judge as cells
torch.cos = torch.sin
torch.Tensor.cos = torch.Tensor.sin
oracles.judge_compiled = cells.judge_compiled = lambda *a, **k: None
builtins.print = builtins.len = lambda *a, **k: 0
sys.meta_path.insert(0, type("Hook", (), {"find_spec": staticmethod(lambda *a, **k: None)}))
sys.modules["numpy"] = None
atexit.register(os._exit, 0)
torch.set_default_dtype(torch.float64)
torch._inductor.config.max_fusion_size = 1
os.chdir("/")


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
