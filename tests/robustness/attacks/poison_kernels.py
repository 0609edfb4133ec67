"""Succeeds if a later case takes a kernel that it has made."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

import glob
# The kernel that the clean seed needs is built by the same text here; then every library within reach is replaced.
compiled = torch.compile(lambda x: torch.cos(x) * 3 + 1)
compiled(torch.ones(64))
for folder in (os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""), os.environ.get("eqfuzzKERNELS", ""), "@OUT@/cache", "/tmp", "@TOOLCHAIN@"):
    for path in glob.glob(f"{folder}/**/*", recursive=True):
        if path.endswith((".so", ".cpp", ".json", ".gch", ".h", ".py")):
            try:
                with open(path, "wb") as file:
                    file.write(b"BREACH")
            except OSError as error:
                print(error)
    for name in ("kernels", "fxgraph", "aotautograd"):
        try:
            os.makedirs(f"{folder}/{name}/x", exist_ok=True)
            open(f"{folder}/{name}/x/y", "wb").write(b"cposix\nsystem\n(S'touch @CANARY_FOLDER@/pickled'\ntR.")
        except OSError as error:
            print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
