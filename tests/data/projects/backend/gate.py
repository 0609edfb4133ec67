import torch


def gate(x, y):
    return torch.sigmoid(x) * y
