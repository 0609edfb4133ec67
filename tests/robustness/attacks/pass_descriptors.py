"""Succeeds if a pair of sockets is turned into one that reaches outside."""
import os, sys
import torch

import socket
ours, theirs = socket.socketpair()
for address in ("\0@ABSTRACT@", "@SOCKET_FILE@"):
    try:
        ours.connect(address)
        print("BREACH")
    except OSError as error:
        print(error)
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        pair[0].sendto(b"BREACH", address)
        print("BREACH")
    except OSError as error:
        print(error)


def program(x):
    return torch.sin(x) * 2 + 1


def inputs(rng):
    yield rng.normal(5),
