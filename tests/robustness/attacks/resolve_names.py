"""Succeeds if a name is resolved, or a packet sent to a name server."""
import os, sys
import torch

import socket
for what in (lambda: socket.getaddrinfo("example.com", 80), lambda: socket.gethostbyname("localhost.localdomain")):
    try:
        print("BREACH", what())
    except OSError as error:
        print(error)
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", @UDP_PORT@))
    print("BREACH")
except OSError as error:
    print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
