"""Succeeds if a connection to the listening socket of the test is made."""
import os, sys
import torch

import socket
try:
    socket.create_connection(("127.0.0.1", @PORT@), timeout=2).sendall(b"BREACH")
    print("BREACH")
except OSError as error:
    print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
