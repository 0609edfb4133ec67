"""Each row is treated by a different function, chosen by flags, shape and a conditional expression."""

import torch
import torch.nn.functional as F

TREATMENTS = {"relu": F.relu, "tanh": torch.tanh, "square": lambda t: t**2}


def rescaled(table, name):
    if name == "relu":
        table = table * 2
    elif name == "tanh":
        table = table - 1
    else:
        table = table + 1
    match table.dim():
        case 1:
            return table
        case 2 | 3:
            table = table / 2
    return table


def program(x, names, normalise=False):
    rows = []
    for name, row in zip(names, x):
        row = TREATMENTS[name](row)
        rows.append(row / row.norm() if normalise else row - row.mean())
    table = torch.stack(rows)
    match table.shape:
        case (3, _):
            table = torch.cat([table, table.sum(0, keepdim=True)])
        case _:
            table = table * 2
    return rescaled(table, names[0]), not normalise


def inputs(rng):
    yield {"x": rng.normal(3, 65), "names": ["relu", "tanh", "square"]}
    yield {"x": rng.normal(2, 65), "names": ["square", "relu"], "normalise": True}
