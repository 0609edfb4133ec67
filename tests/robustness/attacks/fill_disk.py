"""Succeeds if more is written than a case may write."""
import os, sys
import torch
if os.path.exists("@HOME@"):
    raise SystemExit("BREACH it is not even shut in; what comes now would harm the machine")

total = 0
for folder in ("/tmp", "/dev/shm", os.getcwd(), "/var/tmp", "@OUT@"):
    for number in range(100):
        try:
            with open(f"{folder}/fill{number}", "wb", buffering=0) as file:
                while True:
                    total += file.write(bytes(2**22))
        except OSError as error:
            print(folder, number, error)
            break
print(total, "bytes")
if total > @DISK@ + 2**28 + 2**24:
    print("BREACH")


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
