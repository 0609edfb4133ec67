"""Succeeds if a connection to the abstract socket of the test is made."""
import os, sys
import torch

import socket
for name in ("\0@ABSTRACT@", "@SOCKET_FILE@"):
    try:
        end = socket.socket(socket.AF_UNIX)
        end.connect(name)
        end.sendall(b"BREACH")
        print("BREACH")
    except OSError as error:
        print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
