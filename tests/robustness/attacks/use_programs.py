"""Succeeds if curl, bash or another program reaches the test."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import subprocess
for command in ("curl -s http://127.0.0.1:@PORT@/", "exec 3<>/dev/tcp/127.0.0.1/@PORT@ && echo BREACH",
                "cat @SECRET_FILE@", "echo BREACH > @CANARY@", "su -c 'cat @SECRET_FILE@'", "kill -9 @PARENT@"):
    print(subprocess.run(["bash", "-c", command], capture_output=True, text=True).stdout)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
